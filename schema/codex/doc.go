// Package codex holds the pinned schema of the Codex app-server, reduced to the
// structure of the methods that Hermes uses, in the form of the schemas of ACP,
// so that one generator serves both protocols.
//
// SOURCES.json says which version it comes from. Command codexschema writes both
// files from an installed codex:
//
//	go run ./tools/codexschema path/to/codex
package codex

import _ "embed"

// Schema is the reduced schema. It must not be changed.
//
//go:embed schema.json
var Schema []byte

// Sources is the record of where Schema comes from.
//
//go:embed SOURCES.json
var Sources []byte
