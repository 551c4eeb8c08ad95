package main

import (
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// guide is what docs/go.md says about names of the SDK.
type guide struct {
	rows     map[string]replacement // by name, Type.Member, or .Member of any type
	prefixes map[string]replacement // by the beginning of names
	packages []hermesPackage
}

// hermesPackage is a package of this module that has the types of messages.
type hermesPackage struct {
	name  string
	scope *types.Scope
}

// replacement is a row of the guide.
type replacement struct {
	with    string // what replaces the name
	differs string // what to know, may be empty
}

func (r replacement) String() string {
	if r.differs == "" {
		return r.with
	}
	return r.with + " (" + r.differs + ")"
}

// readGuide reads the tables of the guide, and the names that this module has.
func readGuide() (*guide, error) {
	dir, err := root()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "docs", "go.md"))
	if err != nil {
		return nil, err
	}
	_, section, ok := strings.Cut(string(text), "\n## Coming from coder/acp-go-sdk")
	if !ok {
		return nil, fmt.Errorf("%s: the section about coder/acp-go-sdk is missing", filepath.Join(dir, "docs", "go.md"))
	}
	g := &guide{rows: map[string]replacement{}, prefixes: map[string]replacement{}}
	names := false // the table is about names
	for line := range strings.Lines(section) {
		columns := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(columns) != 3 {
			continue
		}
		left := strings.TrimSpace(columns[0])
		if left == "coder" || left == "situation" {
			names = left == "coder"
		} else if names {
			g.row(left, strings.TrimSpace(columns[1]), strings.TrimSpace(columns[2]))
		}
	}
	g.packages, err = hermesPackages(dir)
	return g, err
}

var code = regexp.MustCompile("`[^`]*`")

// row adds a line of a table. Lists of names on both sides are pairs.
func (g *guide) row(left, middle, right string) {
	names, with := code.FindAllString(left, -1), code.FindAllString(middle, -1)
	if len(names) == 0 { // what the SDK does not have
		return
	}
	where := ""
	if rest, ok := strings.CutPrefix(middle, "`unstable`: "); ok {
		with, where = code.FindAllString(rest, -1), "unstable."
	}
	if right == "the same" {
		right = ""
	}
	whole := replacement{with: strings.ReplaceAll(middle, "`", ""), differs: strings.ReplaceAll(right, "`", "")}
	if whole.with == "none" {
		whole.with = "nothing"
	}
	if first, _, both := strings.Cut(left, " and "); both { // one thing replaces both
		names = code.FindAllString(first, -1)
	}
	if strings.HasPrefix(strings.TrimPrefix(left, names[0]), ": ") { // the type of what follows
		g.add(strings.Trim(names[0], "`"), "", whole)
		names = names[1:]
	}
	pairs := len(names) > 1 && len(with) == len(names) && !slices.ContainsFunc(names, func(n string) bool { return strings.ContainsAny(n, "{ ") })
	owner := ""
	for i, name := range names {
		r := whole
		if pairs {
			r.with = where + strings.Trim(with[i], "`")
		}
		owner = g.add(strings.Trim(name, "`"), owner, r)
	}
}

var (
	literal = regexp.MustCompile(`^([A-Z]\w*)\{([A-Z]\w*):`) // ContentBlock{Text: ...}
	member  = regexp.MustCompile(`^([A-Z]\w*)\.([A-Z]\w*)`)  // ClientCapabilities.Fs
	ofAny   = regexp.MustCompile(`^(?:x)?\.([A-Z]\w*)`)      // x.Validate(), .Auth
	typed   = regexp.MustCompile(`^([A-Z]\w*) \S`)           // Meta map[string]any
	start   = regexp.MustCompile(`^([A-Z]\w*)\.\.\.`)        // UnstableNes...
	plain   = regexp.MustCompile(`^([A-Z]\w*)`)
)

// add enters what the guide writes as text. It returns the type that later members of
// the same row belong to.
func (g *guide) add(text, owner string, r replacement) string {
	if m := literal.FindStringSubmatch(text); m != nil {
		g.rows[m[1]+"."+m[2]] = r
	} else if m := member.FindStringSubmatch(text); m != nil {
		g.rows[m[1]+"."+m[2]] = r
		return m[1]
	} else if m := ofAny.FindStringSubmatch(text); m != nil {
		g.rows[map[bool]string{true: owner}[strings.HasPrefix(text, ".")]+"."+m[1]] = r
		return owner
	} else if m := start.FindStringSubmatch(text); m != nil {
		g.prefixes[m[1]] = r
	} else if m := typed.FindStringSubmatch(text); m != nil {
		g.rows["."+m[1]] = r
	} else if m := plain.FindStringSubmatch(text); m != nil {
		if _, known := g.rows[m[1]]; !known { // the first table with a name is about the name itself
			g.rows[m[1]] = r
		}
	}
	return ""
}

// replacement returns what replaces a use, false if nothing does.
func (g *guide) replacement(u use) (replacement, bool) {
	if u.owner != "" {
		for _, key := range []string{u.owner + "." + u.member, "." + u.member} {
			if r, ok := g.rows[key]; ok {
				return r, r.with != "nothing"
			}
		}
		if u.method {
			if r, ok := g.rows[u.member]; ok {
				if caller := callers[u.owner]; caller != "" && identifier.MatchString(r.with) {
					r.with = caller + r.with
				}
				return r, r.with != "nothing"
			}
			return g.named(u.member)
		}
		return g.field(u)
	}
	if r, ok := g.rows[u.member]; ok {
		return r, r.with != "nothing"
	}
	return g.named(u.member)
}

// callers are what calls the peer here instead of the connections of the SDK.
var callers = map[string]string{"AgentSideConnection": "acp.Client.", "ClientSideConnection": "acp.Agent."}

var identifier = regexp.MustCompile(`^[A-Z]\w*$`)

// named finds a name that is not in the tables: it is written as Go wants it, without
// the prefix of drafts.
func (g *guide) named(name string) (replacement, bool) {
	same := initialisms(strings.TrimPrefix(name, "Unstable"))
	for _, side := range []string{"AgentMethod", "ClientMethod"} {
		if rest, ok := strings.CutPrefix(same, side); ok {
			same = "Method" + rest
		}
	}
	for _, p := range g.packages {
		if p.scope.Lookup(same) != nil {
			return replacement{with: p.name + "." + same}, true
		}
	}
	for prefix, r := range g.prefixes {
		if strings.HasPrefix(name, prefix) {
			return r, r.with != "nothing"
		}
	}
	return replacement{}, false
}

// field finds a member of a message, with its type here.
func (g *guide) field(u use) (replacement, bool) {
	typ, name := initialisms(strings.TrimPrefix(u.owner, "Unstable")), initialisms(u.member)
	for _, p := range g.packages {
		o := p.scope.Lookup(typ)
		if o == nil {
			continue
		}
		if s, ok := o.Type().Underlying().(*types.Struct); ok {
			for f := range s.Fields() {
				if f.Name() == name {
					return replacement{with: fmt.Sprintf("%s.%s.%s %s", p.name, typ, name, types.TypeString(f.Type(), (*types.Package).Name))}, true
				}
			}
		}
	}
	if r, ok := g.rows[u.owner]; ok { // the guide says something about the type
		return r, r.with != "nothing"
	}
	return g.named(u.owner)
}

var words = regexp.MustCompile(`(Id|Http|Mcp|Url|Llm|Acp|Sse)(s?)([A-Z]|$)`)

// initialisms writes a name as Go does: SessionId is SessionID.
func initialisms(name string) string {
	for { // matches may touch
		next := words.ReplaceAllStringFunc(name, func(s string) string {
			m := words.FindStringSubmatch(s)
			return strings.ToUpper(m[1]) + m[2] + m[3]
		})
		if next == name {
			return name
		}
		name = next
	}
}
