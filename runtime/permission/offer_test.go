package permission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

var yesAndNo = []acp.PermissionOption{
	{OptionID: "yes", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce},
	{OptionID: "no", Name: "No", Kind: acp.PermissionOptionKindRejectOnce},
}

// describe is a rule in a few words.
func describe(r Rule) string {
	var words []string
	if r.Exact {
		words = append(words, "exact")
	}
	if len(r.Command) > 0 {
		words = append(words, strings.Join(r.Command, " "))
	}
	if r.Kind != "" {
		words = append(words, string(r.Kind))
	}
	if r.Path != "" {
		words = append(words, r.Path)
	}
	return strings.Join(words, " ")
}

func TestOffersAreTheRulesThatWouldHaveAllowedTheRequest(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "a*"), nil, 0o600))
	star := filepath.Join(dir, `a\*`)
	for name, c := range map[string]struct {
		call *acp.ToolCallUpdate
		want string // one word for each rule; all of a kind and everything come last
	}{
		"command":             {run(t, "git status --short"), "exact git status --short|git status|execute|"},
		"no subcommand":       {run(t, "ls -l"), "exact ls -l|ls|execute|"},
		"list of words":       {run(t, []string{"go", "test", "./..."}), "exact go test ./...|go test|execute|"},
		"interpreter":         {run(t, "python3 x.py"), "exact python3 x.py|execute|"},
		"program by its path": {run(t, "./x --y"), "exact ./x --y|execute|"},
		"shell line":          {run(t, "git status; rm x"), "execute|"},
		"file":                {call(edit, `{"file_path":"`+filepath.Join(dir, "a*")+`"}`), "edit " + star + "|edit " + dir + "/**|edit|"},
		"two files":           {call(edit, "", filepath.Join(dir, "x"), filepath.Join(dir, "y")), "edit " + dir + "/**|edit|"},
		"two folders":         {call(edit, "", filepath.Join(dir, "x"), filepath.Join(dir, "b", "y")), "edit|"},
		"an unknown folder":   {call(read, "", "x"), "read|"},
		"another tool":        {call(acp.ToolKindOther, `{"x":1}`), ""},
		"no kind":             {call("", `{"x":1}`), ""},
	} {
		q := Describe("agent", "s", c.call)
		q.Roots = []string{dir}
		var got []string
		for _, r := range Offers(q, yesAndNo) {
			got = append(got, describe(r))
			if r.Agent != "agent" || r.Action != Allow || r.Scope != "" || r.Session != "" {
				t.Errorf("%s: %+v", name, r)
			}
			r.Scope = Always
			p, err := Open("")
			must(t, err)
			must(t, p.Add(t.Context(), r))
			if outcome, _ := p.Decide(q); outcome != Allowed {
				t.Errorf("%s: %+v is offered and does not allow it", name, r)
			}
		}
		if list := strings.Join(got, "|"); list != c.want {
			t.Errorf("%s: %q, want %q", name, list, c.want)
		}
	}
}

func TestNothingIsOfferedThatNoRuleCanAnswer(t *testing.T) {
	t.Parallel()
	q := Describe("agent", "s", run(t, "git status"))
	for name, options := range map[string][]acp.PermissionOption{
		"none":         nil,
		"no allowance": yesAndNo[1:],
		"always only":  {{OptionID: "a", Name: "Always", Kind: acp.PermissionOptionKindAllowAlways}, yesAndNo[1]},
		"two":          {yesAndNo[0], {OptionID: "b", Name: "Yes, but", Kind: acp.PermissionOptionKindAllowOnce}},
		"a lie":        {{OptionID: "a", Name: "Reject", Kind: acp.PermissionOptionKindAllowOnce}, yesAndNo[1]},
	} {
		if offers := Offers(q, options); len(offers) > 0 {
			t.Errorf("%s: %+v", name, offers)
		}
	}
	q.Truncated = true
	if offers := Offers(q, yesAndNo); len(offers) > 0 {
		t.Errorf("cut: %+v", offers)
	}
}

func TestAnExactCommandHasNoFurtherWords(t *testing.T) {
	t.Parallel()
	rule := Rule{Action: Allow, Command: []string{"git", "status"}, Exact: true}
	for command, want := range map[string]Outcome{
		"git status": Allowed, "'git' status": Allowed,
		"git status --short": Ask, "git": Ask, "git status; ls": Ask, "git status .": Ask,
	} {
		if got := decide(t, run(t, command), rule); got != want {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
	for _, bad := range []Rule{
		{Action: Allow, Scope: Always, Exact: true},
		{Action: Deny, Scope: Always, Command: []string{"rm"}, Exact: true},
	} {
		if bad.Check() == nil {
			t.Errorf("%+v is valid", bad)
		}
	}
}
