package schema

import (
	"fmt"
	"strings"
)

// Edition names one of the four schemas the protocol is published in. Its text
// is the name in overlay files, and, except for V1, the path of the Go package
// below acp.
type Edition string

// The editions of the protocol.
const (
	V1         Edition = "v1"
	Unstable   Edition = "unstable"
	V2         Edition = "v2"
	V2Unstable Edition = "v2/unstable"
)

// Editions lists all editions, older and more stable first.
var Editions = []Edition{V1, Unstable, V2, V2Unstable}

var editionFiles = map[Edition]string{
	V1:         "v1/schema.json",
	Unstable:   "v1/schema.unstable.json",
	V2:         "v2/schema.json",
	V2Unstable: "v2/schema.unstable.json",
}

// File is the path of the edition's schema, below this folder and below the
// schema folder of the published package alike.
func (e Edition) File() string { return editionFiles[e] }

// Unstable reports whether the edition holds features that may still change.
func (e Edition) Unstable() bool { return e == Unstable || e == V2Unstable }

// Version is the protocol version the edition speaks, 1 or 2.
func (e Edition) Version() int {
	if strings.HasPrefix(string(e), "v2") {
		return 2
	}
	return 1
}

// Title is the name for readers: "v1", "v1 unstable", "v2", "v2 unstable".
func (e Edition) Title() string {
	t := fmt.Sprintf("v%d", e.Version())
	if e.Unstable() {
		t += " unstable"
	}
	return t
}

// Layers lists the overlay layers that apply to the edition, the most specific
// first. The words for v1 apply to all editions that have no words of their own.
func (e Edition) Layers() []Edition {
	switch e {
	case Unstable:
		return []Edition{Unstable, V1}
	case V2:
		return []Edition{V2, V1}
	case V2Unstable:
		return []Edition{V2Unstable, V2, Unstable, V1}
	}
	return []Edition{V1}
}
