package lint

import (
	"fmt"
	"strings"
)

// Severity says how bad a finding is.
type Severity uint8

// The severities.
const (
	Info Severity = iota + 1
	Warn
	Error
)

// String returns info, warn or error.
func (s Severity) String() string { return [...]string{"", "info", "warn", "error"}[s] }

// ParseSeverity reads the name of a severity.
func ParseSeverity(name string) (Severity, error) {
	for _, s := range []Severity{Info, Warn, Error} {
		if s.String() == name {
			return s, nil
		}
	}
	return 0, fmt.Errorf("severity %q: want info, warn or error", name)
}

// Side is who can break a rule.
type Side string

// The sides. A server is the remote end of an HTTP or WebSocket connection.
const (
	BySender Side = "both"
	ByAgent  Side = "agent"
	ByClient Side = "client"
	ByServer Side = "server"
)

// Versions is a set of versions of the protocol.
type Versions uint8

// The versions.
const (
	V1  Versions = 1 << iota // version 1
	V2a                      // version 2 as drafted in August 2026
	V2b                      // version 2 as published with the schema of SDK 2.4.0

	V2  = V2a | V2b
	All = V1 | V2
)

// String returns the versions as in the catalogue: 1,2a,2b.
func (v Versions) String() string {
	var names []string
	for i, name := range []string{"1", "2a", "2b"} {
		if v&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// Strength is how binding a rule is: the word of the specification, or where else
// the rule comes from.
type Strength string

// The strengths.
const (
	Must      Strength = "MUST"
	MustNot   Strength = "MUST NOT"
	Should    Strength = "SHOULD"
	ShouldNot Strength = "SHOULD NOT"
	Schema    Strength = "SCHEMA"  // typed by the schema, not worded
	RPC       Strength = "RPC"     // JSON-RPC 2.0
	Infer     Strength = "INFER"   // follows from the text
	Security  Strength = "SEC"     // ours: security
	Hygiene   Strength = "HYGIENE" // ours: what works with more peers
	RFD       Strength = "RFD"     // of a proposal
)

// Profile is a selection of rules by strength.
type Profile string

// The profiles.
const (
	Spec        Profile = "spec"        // what the protocol demands
	Recommended Profile = "recommended" // and what it recommends, security, and every other error
	Strict      Profile = "strict"      // all rules
)

// ParseProfile reads the name of a profile.
func ParseProfile(name string) (Profile, error) {
	switch p := Profile(name); p {
	case Spec, Recommended, Strict:
		return p, nil
	}
	return "", fmt.Errorf("profile %q: want spec, recommended or strict", name)
}

// Has reports whether a profile includes a rule.
func (p Profile) Has(r *Rule) bool {
	switch r.Strength {
	case Must, MustNot, Schema, RPC:
		return true
	case Security:
		return p == Strict || p == Recommended && r.Severity > Info // infos only report a policy
	case Should, ShouldNot:
		return p != Spec
	}
	return p == Strict || p == Recommended && r.Severity == Error // a default run fails by what is wrong
}

// Rule is one thing that a client or an agent should or should not do. Rules are
// immutable and shared; what a check has to remember is in the closures that it
// subscribes.
type Rule struct {
	ID       string // area and number, such as CAN02
	Severity Severity
	Side     Side
	Versions Versions
	Page     string // of the specification: "v1+v2/transports"; empty if it is our own
	Strength Strength
	Summary  string // what the rule demands, in one sentence
	Why      string // what happens otherwise, in one sentence
	// Requirements are the ids of the official test kit (acp-tck) that it covers.
	Requirements []string
	// Check subscribes to the events that the rule is about. It is called once for
	// each connection.
	Check func(*Checker)
}

// covers reports whether a rule holds in all versions that a connection may speak.
func (r *Rule) covers(v Versions) bool { return r.Versions&v == v }

// Area is the part of the id before the number: CAN.
func (r *Rule) Area() string { return strings.TrimRight(r.ID, "0123456789") }

const pages = "https://agentclientprotocol.com/protocol/"

// URL is the address of the page of the specification for a version, empty if there is
// none. Without a version it is the page for the first version that the rule holds in.
func (r *Rule) URL(v Versions) string {
	if v &= r.Versions; v == 0 {
		v = r.Versions
	}
	version := "v2"
	if v&V1 != 0 {
		version = "v1"
	}
	where, page, ok := strings.Cut(r.Page, "/")
	switch {
	case r.Page == "json-rpc-2.0":
		return "https://www.jsonrpc.org/specification"
	case where == "rfd":
		return "https://agentclientprotocol.com/rfds/" + page
	case where == "schema" || strings.HasPrefix(where, "schema-"), strings.HasPrefix(where, "sdk-"):
		return pages + version + "/schema"
	case !ok:
		return ""
	case where == "v1+v2":
		return pages + version + "/" + page
	}
	return pages + where + "/" + page
}

// Catalogue is the address of the rule in the catalogue, which explains it.
func (r *Rule) Catalogue() string {
	return "https://github.com/hermes-nvim/hermes/blob/main/docs/lint-rules.md#" + strings.ToLower(r.ID)
}
