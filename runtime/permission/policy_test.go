package permission

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state", "rules.json")
	p, err := Open(path)
	must(t, err)
	must(t, p.Add(t.Context(), Rule{Action: Allow, Scope: Once, Kind: acp.ToolKindRead}))
	must(t, p.Add(t.Context(), Rule{Action: Allow, Scope: Session, Session: "s", Kind: acp.ToolKindEdit}))
	must(t, p.Add(t.Context(), Rule{Action: Allow, Scope: Always, Kind: acp.ToolKindSearch}))
	try := func(p *Policy, s acp.SessionID, k acp.ToolKind, want Outcome) {
		t.Helper()
		if got, _ := p.Decide(Request{Session: s, Kind: k, Paths: []string{"/w/a"}}); got != want {
			t.Errorf("%s in %s: %v, want %v", k, s, got, want)
		}
	}
	try(p, "s", acp.ToolKindRead, Allowed)
	try(p, "s", acp.ToolKindRead, Ask)
	try(p, "s", acp.ToolKindEdit, Allowed)
	try(p, "other", acp.ToolKindEdit, Ask)
	p.EndSession("s")
	try(p, "s", acp.ToolKindEdit, Ask)

	again, err := Open(path)
	must(t, err)
	try(again, "x", acp.ToolKindSearch, Allowed)
	if n := len(again.Rules()); n != 1 {
		t.Errorf("%d rules kept", n)
	}
	must(t, again.Remove(t.Context(), Rule{Action: Allow, Scope: Always, Kind: acp.ToolKindSearch}))
	try(again, "x", acp.ToolKindSearch, Ask)
	info, err := os.Stat(path)
	must(t, err)
	dir, err := os.Stat(filepath.Dir(path))
	must(t, err)
	if info.Mode().Perm() != 0o600 || dir.Mode().Perm() != 0o700 { // T44
		t.Errorf("modes %v, %v", info.Mode(), dir.Mode())
	}
}

func TestProcessesShareTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "rules.json")
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			p, err := Open(path)
			if err == nil {
				err = p.Add(t.Context(), Rule{Action: Allow, Scope: Always, Command: []string{"cmd", string(rune('a' + i))}})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	p, err := Open(path)
	must(t, err)
	if n := len(p.Rules()); n != 10 {
		t.Errorf("%d of 10 rules", n)
	}
}

// T44.
func TestABadFileIsSetAside(t *testing.T) {
	t.Parallel()
	rule := `{"action":"allow","scope":"always"}`
	for name, text := range map[string]string{
		"cut": `{"version":1,"rules":[{"act`, "empty": "", "other": "[]", "version": `{"version":2,"rules":[]}`, "no version": `{"rules":[]}`,
		"unknown member": `{"version":1,"rules":[{"action":"allow","scope":"always","host":"x"}]}`, "two values": `{"version":1,"rules":[]} {}`,
		"bad rule": `{"version":1,"rules":[{"action":"allow"}]}`, "bad scope": `{"version":1,"rules":[{"action":"allow","scope":"once"}]}`,
		"member twice":        `{"version":1,"rules":[{"action":"deny","action":"allow","scope":"always"}]}`,
		"rules twice":         `{"version":1,"rules":[],"rules":[` + rule + `]}`,
		"other letter case":   `{"version":1,"rules":[{"Action":"allow","scope":"always"}]}`,
		"rules in upper case": `{"version":1,"rules":[],"Rules":[` + rule + `]}`,
		"letters that fold":   `{"version":1,"ruleſ":[` + rule + `]}`,
		"escaped twice":       `{"version":1,"rules":[{"action":"deny","\u0061ction":"allow","scope":"always"}]}`,
		"not UTF-8":           `{"version":1,"rules":[{"action":"deny","scope":"always","path":"` + "\xff" + `"}]}`,
		"deep":                strings.Repeat("[", 100_000),
		"writable by others":  `{"version":1,"rules":[` + rule + `]}`,
	} {
		dir := t.TempDir()
		path := dir + "/rules.json"
		must(t, os.WriteFile(path, []byte(text), 0o600))
		if name == "writable by others" {
			must(t, os.Chmod(path, 0o666))
		}
		p, err := Open(path)
		var aside *SetAsideError
		if !errors.As(err, &aside) || p == nil || len(p.Rules()) != 0 || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if data, err := os.ReadFile(aside.To); err != nil || string(data) != text {
			t.Errorf("%s: what was set aside is %q, %v", name, data, err)
		}
		must(t, p.Add(t.Context(), Rule{Action: Deny, Scope: Always}))
		if again, err := Open(path); err != nil || len(again.Rules()) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	good := t.TempDir() + "/rules.json"
	must(t, os.WriteFile(good, []byte(`{"version":1,"rules":[`+rule+`]}`), 0o600))
	if p, err := Open(good); err != nil || len(p.Rules()) != 1 {
		t.Error(err)
	}
}

func TestConfiguredRulesApplyAndAreNotKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "rules.json")
	p, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	read := Request{Kind: acp.ToolKindRead, Paths: []string{"/w/a"}}
	edit := Request{Kind: acp.ToolKindEdit, Paths: []string{"/w/a"}}
	expect := func(q Request, want Outcome) {
		t.Helper()
		if got, _ := p.Decide(q); got != want {
			t.Errorf("%s: %v, want %v", q.Kind, got, want)
		}
	}
	if err := p.Configure([]Rule{{Action: Allow, Kind: acp.ToolKindRead}}); err != nil {
		t.Fatal(err)
	}
	for _, r := range []Rule{
		{Action: Allow, Scope: Once, Kind: acp.ToolKindEdit},
		{Action: Deny, Scope: Always, Kind: acp.ToolKindDelete},
	} {
		if err := p.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	expect(read, Allowed)
	expect(edit, Allowed)
	expect(edit, Ask) // once is over
	expect(read, Allowed)
	if again, err := Open(path); err != nil || len(again.Rules()) != 1 {
		t.Errorf("kept %v, %v", again.Rules(), err)
	}
	if err := p.Configure([]Rule{{Action: "perhaps"}}); !errors.Is(err, ErrRule) {
		t.Errorf("a bad rule: %v", err)
	}
	expect(read, Allowed) // what was there stays
	if err := p.Configure(nil); err != nil {
		t.Fatal(err)
	}
	expect(read, Ask)
	expect(Request{Kind: acp.ToolKindDelete, Paths: []string{"/w/a"}}, Denied)
}

// A rule that allows once answers one question. A question that it cannot answer,
// because no option says just that, leaves it for the next.
func TestARuleOfScopeOnceIsUsedUpByItsAnswerAlone(t *testing.T) {
	t.Parallel()
	p, err := Open("")
	must(t, err)
	must(t, p.Add(t.Context(), Rule{Action: Allow, Scope: Once, Kind: acp.ToolKindRead}))
	q := Request{Kind: acp.ToolKindRead}
	for name, unfit := range map[string][]acp.PermissionOption{
		"none":               nil,
		"always alone":       {option("aa", "Always allow", allowAlways), option("r", "Reject", rejectOnce)},
		"two that allow":     {option("a", "Yes", allowOnce), option("b", "Yes, and more", allowOnce)},
		"the label denies":   {option("a", "Do not run", allowOnce)},
		"two of the same id": {option("a", "Yes", allowOnce), option("a", "No", rejectOnce)},
	} {
		if o, r, ok := p.Answer(q, unfit); ok || len(p.Rules()) != 1 {
			t.Fatalf("%s: %v, %v, %v; rules %v", name, o, r, ok, p.Rules())
		}
	}
	for i, want := range []bool{true, false} {
		o, r, ok := p.Answer(q, []acp.PermissionOption{option("a", "Yes", allowOnce), option("r", "No", rejectOnce)})
		if ok != want || want && (o == nil || o.OptionID != "a" || r == nil) || len(p.Rules()) != 0 {
			t.Errorf("answer %d: %v, %v, %v", i, o, r, ok)
		}
	}
}
