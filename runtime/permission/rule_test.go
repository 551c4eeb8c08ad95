package permission

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

func TestPathPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/w/a.go", "/w/a.go", true}, {"/w/a.go", "/w/b.go", false}, {"/w/*.go", "/w/a.go", true}, {"/w/*.go", "/w/x/a.go", false},
		{"/w/**", "/w/a/b/c", true}, {"/w/**", "/w", true}, {"/w/**", "/wx/a", false}, {"/w/**/c", "/w/c", true}, {"/w/**/c", "/w/a/b/c", true},
		{"/w/**/c", "/w/a/b/d", false}, {"/w/**/b/*", "/w/b/b/x", true}, {"**/a/**/b", "/x/a/y/a/z/b", true}, {"*.md", "/w/x/README.md", true},
		{"*.md", "/w/README.md/x", false}, {"docs/**", "/w/docs/a/b", true}, {"docs/**", "/w/docsx/a", false}, {"/**", "/anything/at/all", true},
		{"/w/?.c", "/w/a.c", true}, {"/w/[ab].c", "/w/c.c", false}, {"/w/**/**/x", "/w/x", true}, {"", "/w", false},
	} {
		if got := matchPath(c.pattern, c.path); got != c.want {
			t.Errorf("%s, %s: %v", c.pattern, c.path, got)
		}
	}
}

func TestRulesAreChecked(t *testing.T) {
	t.Parallel()
	for _, r := range []Rule{
		{}, {Action: Allow}, {Action: "maybe", Scope: Once}, {Action: Allow, Scope: "forever"}, {Action: Allow, Scope: Session},
		{Action: Allow, Scope: Always, Session: "s"}, {Action: Allow, Scope: Always, Kind: "sudo"}, {Action: Allow, Scope: Always, Path: "[a"},
		{Action: Allow, Scope: Always, Path: "/w/a**"}, {Action: Allow, Scope: Always, Command: []string{"git", ""}},
		{Action: Allow, Scope: Always, Kind: acp.ToolKindRead, Command: []string{"git"}}, {Action: Allow, Scope: Always, Path: "/w/**", Command: []string{"git"}},
		{Action: Deny, Scope: Always, Env: []string{"A"}}, {Action: Deny, Scope: Always, Cwd: "/w"}, {Action: Allow, Scope: Always, Kind: acp.ToolKindRead, Cwd: "/w"},
		{Action: Allow, Scope: Always, Path: "/w/**", Env: []string{"A"}}, {Action: Allow, Scope: Always, Env: []string{""}}, {Action: Allow, Scope: Always, Env: []string{"A=b"}},
		{Action: Allow, Scope: Always, Cwd: "/w/a**"}, {Action: Allow, Scope: Always, Cwd: "[a"},
	} {
		if err := r.Check(); !errors.Is(err, ErrRule) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestOnlyPlainCommandsHaveWords(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"git status": {"git", "status"}, "  git\t status  -s ": {"git", "status", "-s"}, `git commit -m "a b" 'c $d'`: {"git", "commit", "-m", "a b", "c $d"},
		`echo ""`: {"echo", ""}, "a'b'c": {"abc"},
		"git status; rm -rf /": nil, "git status && x": nil, "git status | x": nil, "git status & x": nil, "git status\nrm x": nil, "git $(x)": nil,
		"git `x`": nil, "git ${IFS}x": nil, `git "$(x)"`: nil, "git >x": nil, "git <x": nil, "(git status)": nil, "git *": nil, "git ~": nil,
		`git\ status`: nil, "git 'open": nil, "A=1 git status": nil, "sh -c 'git status'": nil, "/bin/bash -c x": nil, "sudo git": nil, "env git": nil,
		"{git,status}": nil, "git # x": nil, "! git": nil, "git\x00status": nil, "": nil,
	} {
		if got := plainWords(line); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func call(kind acp.ToolKind, rawInput string, paths ...string) *acp.ToolCallUpdate {
	c := &acp.ToolCallUpdate{ToolCallID: "c"}
	if kind != "" {
		c.Kind = acp.Some(kind)
	}
	if rawInput != "" {
		c.RawInput = json.RawMessage(rawInput)
	}
	for _, p := range paths {
		c.Locations = append(c.Locations, acp.ToolCallLocation{Path: p})
	}
	return c
}

func decide(t *testing.T, c *acp.ToolCallUpdate, rules ...Rule) Outcome {
	t.Helper()
	p, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		r.Scope = Always
		if err := p.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	outcome, rule := p.Decide(Describe("agent", "s", c))
	if (rule == nil) != (outcome == Ask) {
		t.Errorf("%v by %v", outcome, rule)
	}
	return outcome
}

// PER11, PER16, C119, T13.
func TestDecisions(t *testing.T) {
	t.Parallel()
	const read, edit, execute = acp.ToolKindRead, acp.ToolKindEdit, acp.ToolKindExecute
	allow, deny := Rule{Action: Allow}, Rule{Action: Deny}
	with := func(r Rule, kind acp.ToolKind, path string, command ...string) Rule {
		r.Kind, r.Path, r.Command = kind, path, command
		return r
	}
	agent := func(r Rule, name string) Rule { r.Agent = name; return r }
	for name, c := range map[string]struct {
		call  *acp.ToolCallUpdate
		rules []Rule
		want  Outcome
	}{
		"no rule":                         {call(read, "", "/w/a"), nil, Ask},
		"everything allowed":              {call(edit, "", "/w/a"), []Rule{allow}, Allowed},
		"no kind":                         {call("", "", "/w/a"), []Rule{allow}, Ask},
		"unknown kind":                    {call("_sudo", "", "/w/a"), []Rule{allow}, Ask},
		"other needs a rule that says so": {call(acp.ToolKindOther, ""), []Rule{allow}, Ask},
		"other named":                     {call(acp.ToolKindOther, ""), []Rule{with(allow, acp.ToolKindOther, "")}, Allowed},
		"switch_mode needs one too":       {call(acp.ToolKindSwitchMode, ""), []Rule{allow}, Ask},
		"unknown kind denied":             {call("_sudo", "", "/w/a"), []Rule{deny}, Denied},
		"kind":                            {call(read, "", "/w/a"), []Rule{with(allow, read, "")}, Allowed},
		"another kind":                    {call(edit, "", "/w/a"), []Rule{with(allow, read, "")}, Ask},
		"agent":                           {call(read, ""), []Rule{agent(allow, "agent")}, Allowed},
		"another agent":                   {call(read, ""), []Rule{agent(allow, "else")}, Ask},
		"path":                            {call(read, "", "/w/src/a"), []Rule{with(allow, "", "/w/src/**")}, Allowed},
		"one path outside":                {call(read, "", "/w/src/a", "/etc/passwd"), []Rule{with(allow, "", "/w/src/**")}, Ask},
		"path only in rawInput":           {call(read, `{"file_path":"/etc/passwd"}`, "/w/src/a"), []Rule{with(allow, "", "/w/src/**")}, Ask},
		"path with dot-dot":               {call(read, "", "/w/src/../../etc/passwd"), []Rule{with(allow, "", "/w/src/**")}, Ask},
		"relative path":                   {call(read, "", "src/a"), []Rule{with(allow, "", "src/**")}, Ask},
		"paths unknown":                   {call(edit, ""), []Rule{with(allow, "", "/w/**")}, Ask},
		"denied path":                     {call(edit, "", "/w/.env"), []Rule{allow, with(deny, "", ".env")}, Denied},
		"denied path in other case":       {call(edit, "", "/w/.ENV"), []Rule{allow, with(deny, "", ".env")}, Denied},
		"denied path reached by dot-dot":  {call(edit, "", "/w/x/../.env"), []Rule{allow, with(deny, "", "/w/.env")}, Denied},
		"one of the paths denied":         {call(edit, "", "/w/a", "/w/.env"), []Rule{with(deny, "", ".env"), allow}, Denied},
		"path not denied":                 {call(edit, "", "/w/a"), []Rule{allow, with(deny, "", ".env")}, Allowed},
		"perhaps a denied path":           {call(edit, ""), []Rule{allow, with(deny, "", ".env")}, Ask},
		"command":                         {call(execute, `{"command":"git status -s"}`), []Rule{with(allow, execute, "", "git", "status")}, Allowed},
		"command as vector":               {call(execute, `{"command":["git","status"]}`), []Rule{with(allow, "", "", "git", "status")}, Allowed},
		"command and args":                {call(execute, `{"command":"git","args":["status"]}`), []Rule{with(allow, "", "", "git", "status")}, Allowed},
		"longer command name":             {call(execute, `{"command":"git statusx"}`), []Rule{with(allow, "", "", "git", "status")}, Ask},
		"command too short":               {call(execute, `{"command":"git"}`), []Rule{with(allow, "", "", "git", "status")}, Ask},
		"command with a tail":             {call(execute, `{"command":"git status; rm -rf /"}`), []Rule{with(allow, "", "", "git", "status")}, Ask},
		"command with substitution":       {call(execute, `{"command":"git status $(rm x)"}`), []Rule{with(allow, "", "", "git", "status")}, Ask},
		"command in a shell":              {call(execute, `{"command":["bash","-c","git status; rm x"]}`), []Rule{with(allow, "", "", "bash")}, Ask},
		"a title is not a command":        {&acp.ToolCallUpdate{Kind: acp.Some(execute), Title: acp.Some("git status")}, []Rule{with(allow, "", "", "git", "status")}, Ask},
		"denied command":                  {call(execute, `{"command":"rm -rf /"}`), []Rule{allow, with(deny, "", "", "rm")}, Denied},
		"denied command in the middle":    {call(execute, `{"command":"true && sudo rm -rf /"}`), []Rule{allow, with(deny, "", "", "rm")}, Denied},
		"denied command in a shell":       {call(execute, `{"command":["sh","-c","rm -rf /"]}`), []Rule{allow, with(deny, "", "", "rm")}, Denied},
		"command not denied":              {call(execute, `{"command":"ls"}`), []Rule{allow, with(deny, "", "", "rm")}, Allowed},
		"perhaps a denied command":        {call(execute, ""), []Rule{allow, with(deny, "", "", "rm")}, Ask},
		"an edit of unknown files":        {call(edit, `{"reason":"please"}`), []Rule{allow, with(allow, edit, "")}, Ask},
		"a removal of unknown files":      {call(acp.ToolKindDelete, ""), []Rule{allow, with(allow, acp.ToolKindDelete, "")}, Ask},
		"a search of no files":            {call(acp.ToolKindSearch, `{"query":"x"}`), []Rule{allow}, Allowed},
		"rawInput of another shape":       {call(execute, `[1,2]`), []Rule{with(allow, "", "", "git")}, Ask},
		"command of another shape":        {call(execute, `{"command":{"a":1}}`), []Rule{with(allow, "", "", "git")}, Ask},
	} {
		if got := decide(t, c.call, c.rules...); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	diff := call(edit, "", "/w/src/a")
	diff.Content = []acp.ToolCallContent{&acp.Diff{Path: "/etc/passwd"}}
	if got := decide(t, diff, with(allow, "", "/w/src/**")); got != Ask {
		t.Errorf("diff of another path: %v", got)
	}
}
