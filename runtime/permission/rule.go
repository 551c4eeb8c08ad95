package permission

import (
	"errors"
	"fmt"
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

// Scope is how long a rule applies.
type Scope string

// The scopes.
const (
	Once    Scope = "once"    // for the next request it matches
	Session Scope = "session" // until the session ends
	Always  Scope = "always"  // for good; kept in the file of the Policy
)

// Rule decides the requests that match all of its members. An empty member
// matches everything, with exceptions for rules that allow. Only a rule that
// names the kinds other and switch_mode allows them, because they say nothing
// about what would happen; no rule allows unknown kinds, nor a change of files that the
// request does not name. A command that comes with an environment, or runs in an
// unusual folder, needs a rule with Env or Cwd.
//
// A rule that allows matches only what is certain: a rule for a path has to know
// every path and where its links lead, a rule for a command the plain words of
// the command. If a rule that denies might match, the user is asked.
type Rule struct {
	Action  Action        `json:"action"`
	Scope   Scope         `json:"scope"`
	Agent   string        `json:"agent,omitempty"`
	Session acp.SessionID `json:"session,omitempty"` // required if Scope is Session
	Kind    acp.ToolKind  `json:"kind,omitempty"`
	// Path is a pattern for all paths of the request: * and ? within a name,
	// ** for any number of names. A pattern that does not begin with a slash
	// matches at any depth. A rule with a path never allows a command.
	Path string `json:"path,omitempty"`
	// Command are the first words of the command, such as git status.
	Command []string `json:"command,omitempty"`
	// Exact allows the command only with these words and no others.
	Exact bool `json:"exact,omitempty"`
	// Env are the names of variables that may come with an allowed command, with
	// any value, besides harmless ones such as CI=1.
	Env []string `json:"env,omitempty"`
	// Cwd is a pattern, like Path, for the folder of an allowed command. Without
	// it the folder must be one of the session and must not configure git.
	Cwd string `json:"cwd,omitempty"`
}

// ErrRule is the error of Check.
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
	case len(r.Command) > 0 && r.Kind != "" && r.Kind != acp.ToolKindExecute:
		why = fmt.Sprintf("a command is not of kind %s", r.Kind)
	case r.Action == Allow && len(r.Command) > 0 && r.Path != "":
		why = "a command may touch any path: allow the command or the path, or the folder it runs in by cwd"
	case r.Exact && (len(r.Command) == 0 || r.Action != Allow):
		why = "exact is for rules that allow a command"
	case (len(r.Env) > 0 || r.Cwd != "") && (r.Action != Allow || r.Path != "" || r.Kind != "" && r.Kind != acp.ToolKindExecute):
		why = "env and cwd are for rules that allow a command"
	case slices.ContainsFunc(r.Env, func(name string) bool { return name == "" || strings.ContainsAny(name, "=\x00") }):
		why = "env takes names of variables"
	}
	for _, pattern := range []string{r.Path, r.Cwd} {
		if why == "" {
			why = patternFault(pattern)
		}
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
	no     match = iota
	unseen       // a command, which may touch files that it does not name
	maybe        // the request leaves it open
	yes
)

// fits reports whether the rule is about requests of this agent, session and kind.
func (r *Rule) fits(q *Request) bool {
	return (r.Agent == "" || r.Agent == q.Agent) && (r.Session == "" || r.Session == q.Session) && (r.Kind == "" || r.Kind == q.Kind)
}

// denies errs on the side of denial: it considers everything that the request
// might mean.
func (r *Rule) denies(s *subject) match {
	if r.Action != Deny || !r.fits(s.Request) {
		return no
	}
	return min(r.deniesPath(s), r.deniesCommand(s.Request))
}

// allows requires that the meaning of the request is certain.
func (r *Rule) allows(s *subject) bool {
	switch {
	case r.Action != Allow, !r.fits(s.Request), !known(s.Kind), r.Kind == "" && (s.Kind == acp.ToolKindOther || s.Kind == acp.ToolKindSwitchMode):
		return false
	case s.runs():
		return r.Path == "" && r.allowsCommand(s)
	case s.unnamed():
		return false
	}
	return len(r.Command) == 0 && len(r.Env) == 0 && r.Cwd == "" && r.allowsPaths(s)
}
