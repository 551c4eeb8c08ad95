package schema

import (
	"embed"

	v1 "github.com/hermes-nvim/hermes/schema/v1"
	v2 "github.com/hermes-nvim/hermes/schema/v2"
)

// Tree is this folder as it was when the program was built: SOURCES.json,
// prose.json and the overlay. The schemas themselves are in [Edition.Bytes].
//
//go:embed SOURCES.json prose.json overlay/*.json
var Tree embed.FS

// Bytes is the edition's reduced schema. The caller must not change it.
func (e Edition) Bytes() []byte {
	switch e {
	case V1:
		return v1.Stable
	case Unstable:
		return v1.Unstable
	case V2:
		return v2.Stable
	case V2Unstable:
		return v2.Unstable
	}
	return nil
}
