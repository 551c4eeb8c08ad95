package permission

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
)

// Action is what a rule does.
type Action string

// The actions.
const (
	Allow Action = "allow"
	Deny  Action = "deny"
)

// Scope is how long a rule holds.
type Scope string

// The scopes.
const (
	Once    Scope = "once"    // for the next request it matches
	Session Scope = "session" // until the session ends
	Always  Scope = "always"  // for good; kept in the file of the Policy
)

// Rule decides the requests that match all of its members; an empty member
// matches everything, with two exceptions for rules that allow: the kinds other
// and switch_mode, which say nothing about what would happen, are only matched
// by a rule that names them, and unknown kinds by none.
//
// What a request does not tell never matches a rule that allows: a rule for a
// path needs to know every path, a rule for a command the plain words of it.
type Rule struct {
	Action  Action        `json:"action"`
	Scope   Scope         `json:"scope"`
	Agent   string        `json:"agent,omitempty"`
	Session acp.SessionID `json:"session,omitempty"` // needed when Scope is Session
	Kind    acp.ToolKind  `json:"kind,omitempty"`
	// Path is a pattern for all paths of the request: * and ? within a name,
	// ** for any number of names. A pattern that does not begin with a slash
	// matches at any depth.
	Path string `json:"path,omitempty"`
	// Command are the first words of the command, such as git status.
	Command []string `json:"command,omitempty"`
}

// ErrRule is what Check reports.
var ErrRule = errors.New("not a valid permission rule")

// Check reports what is wrong with the rule.
func (r *Rule) Check() error {
	var why string
	switch {
	case r.Action != Allow && r.Action != Deny:
		why = fmt.Sprintf("action %q is neither allow nor deny", r.Action)
	case r.Scope != Once && r.Scope != Session && r.Scope != Always:
		why = fmt.Sprintf("scope %q is none of once, session, always", r.Scope)
	case r.Scope == Session && r.Session == "":
		why = "scope session without a session"
	case r.Scope == Always && r.Session != "":
		why = "scope always with a session"
	case r.Kind != "" && !known(r.Kind):
		why = fmt.Sprintf("unknown tool kind %q", r.Kind)
	case slices.Contains(r.Command, ""):
		why = "empty word in the command"
	case strings.Contains(r.Path, "**") && slices.ContainsFunc(strings.Split(r.Path, "/"), func(n string) bool {
		return n != "**" && strings.Contains(n, "**")
	}):
		why = fmt.Sprintf("path pattern %q: ** must stand alone between slashes", r.Path)
	case len(r.Command) > 0 && r.Kind != "" && r.Kind != acp.ToolKindExecute:
		why = fmt.Sprintf("a command is not of kind %s", r.Kind)
	}
	if _, err := path.Match(r.Path, ""); err != nil {
		why = fmt.Sprintf("path pattern %q: %v", r.Path, err)
	}
	if why != "" {
		return fmt.Errorf("%w: %s", ErrRule, why)
	}
	return nil
}

func known(k acp.ToolKind) bool {
	switch k {
	case acp.ToolKindRead, acp.ToolKindEdit, acp.ToolKindDelete, acp.ToolKindMove, acp.ToolKindSearch,
		acp.ToolKindExecute, acp.ToolKindThink, acp.ToolKindFetch, acp.ToolKindSwitchMode, acp.ToolKindOther:
		return true
	}
	return false
}

type match int

const (
	no match = iota
	yes
	maybe // the request does not tell
)

// matches errs on the side of denial: a rule that allows has to match what is
// known for certain, a rule that denies what might be.
func (r *Rule) matches(q *Request) match {
	switch {
	case r.Agent != "" && r.Agent != q.Agent, r.Session != "" && r.Session != q.Session, r.Kind != "" && r.Kind != q.Kind:
		return no
	case r.Action == Deny:
		return r.denies(q)
	case r.allows(q):
		return yes
	}
	return no
}

func (r *Rule) denies(q *Request) match {
	result := yes
	if r.Path != "" && !slices.ContainsFunc(q.Paths, func(p string) bool {
		return matchPath(strings.ToLower(r.Path), strings.ToLower(filepath.Clean(p)))
	}) {
		if len(q.Paths) > 0 || !aboutFiles(q.Kind) {
			return no
		}
		result = maybe
	}
	if len(r.Command) > 0 && !contains(q.words, r.Command) {
		if len(q.words) > 0 || q.Kind != acp.ToolKindExecute {
			return no
		}
		result = maybe
	}
	return result
}

func aboutFiles(k acp.ToolKind) bool {
	switch k {
	case acp.ToolKindRead, acp.ToolKindEdit, acp.ToolKindDelete, acp.ToolKindMove:
		return true
	}
	return false
}

func (r *Rule) allows(q *Request) bool {
	if !known(q.Kind) || r.Kind == "" && (q.Kind == acp.ToolKindOther || q.Kind == acp.ToolKindSwitchMode) {
		return false
	}
	if r.Path != "" && (len(q.Paths) == 0 || slices.ContainsFunc(q.Paths, func(p string) bool {
		return !certain(p) || !matchPath(r.Path, filepath.Clean(p))
	})) {
		return false
	}
	return len(r.Command) == 0 || len(q.Command) >= len(r.Command) && slices.Equal(q.Command[:len(r.Command)], r.Command)
}

func certain(p string) bool {
	return filepath.IsAbs(p) && !slices.Contains(strings.Split(filepath.ToSlash(p), "/"), "..")
}

func contains(words, part []string) bool {
	for i := 0; i+len(part) <= len(words); i++ {
		if slices.Equal(words[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

func matchPath(pattern, p string) bool {
	names := strings.Split(strings.TrimPrefix(filepath.ToSlash(p), "/"), "/")
	if rest, ok := strings.CutPrefix(pattern, "/"); ok {
		pattern = rest
	} else {
		pattern = "**/" + pattern
	}
	return matchNames(strings.Split(pattern, "/"), names)
}

// matchNames takes a step for each name at most, because only the last ** that
// was passed can help.
func matchNames(patterns, names []string) bool {
	p, n := 0, 0
	starP, starN := -1, 0
	for n < len(names) {
		switch {
		case p < len(patterns) && patterns[p] == "**":
			starP, starN = p, n
			p++
			continue
		case p < len(patterns):
			if ok, _ := path.Match(patterns[p], names[n]); ok {
				p, n = p+1, n+1
				continue
			}
		}
		if starP < 0 {
			return false
		}
		starN++
		p, n = starP+1, starN
	}
	for p < len(patterns) && patterns[p] == "**" {
		p++
	}
	return p == len(patterns)
}
