// Package schema holds the pinned ACP schemas, reduced to their structure, and
// reads them for the generator.
//
// A schema is read twice. The first pass is the typed model of go-jsonschema,
// which knows the standard keywords; it loses the extensions (x-*,
// discriminator, contentEncoding, unevaluatedProperties), the order of members
// and the precision of large integers. The second pass is an ordered raw tree
// that keeps everything. Loading fails when the passes disagree, and when the
// schema uses a keyword or a format that is not in [Keywords] or [Formats], so
// that a new version of the protocol is never half understood.
//
// The overlay/ folder holds what a schema cannot say: our documentation,
// members with three states, locked names, event names, quirks.
package schema
