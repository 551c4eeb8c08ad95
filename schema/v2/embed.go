// Package v2 embeds the reduced schemas of protocol version 2. It imports
// nothing, so that a program can carry a schema without the generator's tools.
package v2

import _ "embed"

// Stable is the schema of what every peer of this version understands.
//
//go:embed schema.json
var Stable []byte

// Unstable is the schema that also holds features which may still change.
//
//go:embed schema.unstable.json
var Unstable []byte
