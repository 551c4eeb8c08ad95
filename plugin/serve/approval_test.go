package serve

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/turns"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/terminal"
)

// oneSession is a session of an agent whose commands need the user's word.
func oneSession(t *testing.T, agent string, id acp.SessionID, cwd string) *Session {
	t.Helper()
	k := NewClient(Options{
		Agent: agent, RunAccess: func() setup.RunAccess { return setup.RunAsked },
		Permissions: func() *setup.Permissions { return new(setup.Permissions) }, Rules: new(ask.Rules),
	})
	t.Cleanup(k.Close)
	return k.NewSession(nil, id, []string{cwd})
}

// spends reports whether the approvals of s cover the command of p, and whether
// p is a command at all.
func spends(t *testing.T, s *Session, p *acp.CreateTerminalRequest) (covered, runs bool) {
	t.Helper()
	c := s.wouldRun(t, *p)
	return c != nil && s.spend(c), c != nil
}

// wouldRun is what the host would run for p, nil for nothing.
func (s *Session) wouldRun(t *testing.T, p acp.CreateTerminalRequest) *terminal.Command {
	t.Helper()
	if err := s.openRoots(); err != nil {
		t.Fatal(err)
	}
	p.SessionID = s.ID()
	c, err := s.client.services.Command(t.Context(), &p)
	if err != nil {
		return nil
	}
	return c
}

func execute(rawInput string) acp.ToolCallUpdate {
	return acp.ToolCallUpdate{ToolCallID: "t", Kind: acp.Some(acp.ToolKindExecute), RawInput: json.RawMessage(rawInput)}
}

// folder is a real folder with a folder sub in it.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// mutants of a command: what differs in one thing from p.
func mutants(p acp.CreateTerminalRequest, dir string) map[string]acp.CreateTerminalRequest {
	out := map[string]acp.CreateTerminalRequest{}
	add := func(what string, change func(*acp.CreateTerminalRequest)) {
		m := p
		m.Args = append([]string(nil), p.Args...)
		change(&m)
		out[what] = m
	}
	words := func(word string) map[string]string {
		w := map[string]string{"gets a blank": word + " ", "gets a leading blank": " " + word, "gets a line": word + "\ntrue", "gets a zero-width space": word + "\u200b"}
		for i := range len(word) {
			w[fmt.Sprintf("loses byte %d", i)] = word[:i] + word[i+1:]
			w[fmt.Sprintf("gets byte %d twice", i)] = word[:i+1] + word[i:]
			w[fmt.Sprintf("changes byte %d", i)] = word[:i] + string(word[i]^1) + word[i+1:]
		}
		for how, other := range w { // twice the last of two equal bytes is twice the first
			if other == word {
				delete(w, how)
			}
		}
		return w
	}
	for how, w := range words(p.Command) {
		add("the command "+how, func(m *acp.CreateTerminalRequest) { m.Command = w })
	}
	for i, arg := range p.Args {
		for how, w := range words(arg) {
			add(fmt.Sprintf("argument %d %s", i, how), func(m *acp.CreateTerminalRequest) { m.Args[i] = w })
		}
		add(fmt.Sprintf("argument %d is gone", i), func(m *acp.CreateTerminalRequest) { m.Args = append(m.Args[:i], m.Args[i+1:]...) })
		add(fmt.Sprintf("argument %d comes twice", i), func(m *acp.CreateTerminalRequest) {
			m.Args = append(m.Args[:i:i], append([]string{arg}, m.Args[i:]...)...)
		})
	}
	add("an empty argument more", func(m *acp.CreateTerminalRequest) { m.Args = append(m.Args, "") })
	add("an argument more", func(m *acp.CreateTerminalRequest) { m.Args = append(m.Args, "x") })
	if len(p.Args) > 1 {
		add("arguments in one", func(m *acp.CreateTerminalRequest) { m.Args = []string{strings.Join(p.Args, " ")} })
	}
	line := strings.Join(append([]string{p.Command}, p.Args...), " ")
	add("through a shell of the agent's", func(m *acp.CreateTerminalRequest) { m.Command, m.Args = "sh", []string{"-c", line} })
	if len(p.Args) > 0 {
		add("through a shell", func(m *acp.CreateTerminalRequest) { m.Command, m.Args = line, nil })
	} else {
		fields := strings.Fields(line)
		add("without a shell", func(m *acp.CreateTerminalRequest) { m.Command, m.Args = fields[0], append(fields[1:], "") })
	}
	add("in another folder", func(m *acp.CreateTerminalRequest) { m.Cwd = acp.Some(filepath.Join(dir, "sub")) })
	for what, v := range map[string]acp.EnvVariable{
		"a variable": {Name: "HERMES_A", Value: "1"}, "an empty variable": {Name: "HERMES_A"},
		"a variable like the mark": {Name: "CLAUDECODE", Value: "2"}, "another like the mark": {Name: "CLAUDECODE_X", Value: "1"},
	} {
		add("with "+what, func(m *acp.CreateTerminalRequest) { m.Env = append([]acp.EnvVariable{v}, m.Env...) })
	}
	return out
}

// T13 of the threat model.
func TestAnApprovalIsForOneRunOfTheCommandThatWasShown(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	sub := filepath.Join(dir, "sub")
	for rawInput, call := range map[string]acp.CreateTerminalRequest{
		`{"command":"echo out; echo err >&2; pwd","description":"d","timeout":120000}`: {Command: "echo out; echo err >&2; pwd"},
		`{"command":"true"}`:                                           {Command: "true"},
		`{"command":"echo a","args":[],"cwd":null}`:                    {Command: "echo a"},
		`{"command":"printf","args":["%s","x y"],"cwd":"` + dir + `"}`: {Command: "printf", Args: []string{"%s", "x y"}},
		`{"command":"echo b","cd":"` + dir + `"}`:                      {Command: "echo b", Cwd: acp.Some(dir)},
		`{"command":"echo c","pwd":"` + dir + `"}`:                     {Command: "echo c", Cwd: acp.Some(dir)},
		`{"command":"echo d","dir_path":"` + dir + `"}`:                {Command: "echo d", Cwd: acp.Some(dir)},
		`{"command":["sh","-c","echo hi"],"workdir":"` + dir + `"}`:    {Command: "sh", Args: []string{"-c", "echo hi"}, Cwd: acp.Some(dir)},
		`{"command":"true","env":[{"name":"B","value":"2"}]}`:          {Command: "true", Env: []acp.EnvVariable{{Name: "B", Value: "2"}}},
	} {
		s := oneSession(t, "agent", "s", dir)
		others := []*Session{s.client.NewSession(nil, "other", []string{dir}), oneSession(t, "other agent", "s", dir)}
		a := s.shown(t.Context(), execute(rawInput))
		if a.command == nil {
			t.Errorf("%s shows no command", rawInput)
			continue
		}
		if covered, _ := spends(t, s, &call); covered {
			t.Errorf("%s: covered before the user has answered", rawInput)
		}
		s.approve(a)
		all := mutants(call, dir)
		if c := s.wouldRun(t, call); c.Shell { // the same program with the same arguments, but not the line that was shown
			all["as a vector"] = acp.CreateTerminalRequest{Command: c.Argv[0], Args: c.Argv[1:]}
		}
		tried := 0
		for what, m := range all {
			covered, runs := spends(t, s, &m)
			if covered {
				t.Errorf("%s also covers %q %q: %s", rawInput, m.Command, m.Args, what)
			}
			if runs {
				tried++
			}
		}
		if tried < 8 {
			t.Errorf("%s: only %d mutants could run", rawInput, tried)
		}
		for _, other := range others {
			if covered, _ := spends(t, other, &call); covered {
				t.Errorf("%s: covered in another session", rawInput)
			}
		}
		marked := call
		marked.Env = append([]acp.EnvVariable{{Name: "CLAUDECODE", Value: "1"}}, call.Env...)
		if covered, _ := spends(t, s, &marked); !covered {
			t.Errorf("%s is not covered with the mark of claude-code-acp", rawInput)
		}
		if covered, _ := spends(t, s, &call); covered {
			t.Errorf("%s: covered twice", rawInput)
		}
		s.approve(a)
		s.approve(s.shown(t.Context(), execute(rawInput)))
		for i, want := range []bool{true, true, false} {
			if covered, _ := spends(t, s, &call); covered != want {
				t.Errorf("%s, approved twice: run %d covered: %v", rawInput, i, covered)
			}
		}
		s.approve(a)
		s.Begin(nil)
		if covered, _ := spends(t, s, &call); covered {
			t.Errorf("%s: covered in the next turn", rawInput)
		}
		s.Begin(new(turns.Turn))
		s.approve(a) // answered too late
		if covered, _ := spends(t, s, &call); covered {
			t.Errorf("%s: the answer to a question of the turn before covers it", rawInput)
		}
	}
	s := oneSession(t, "agent", "s", dir)
	s.approve(s.shown(t.Context(), execute(`{"command":"true","cwd":"`+sub+`"}`)))
	for want, call := range map[bool]acp.CreateTerminalRequest{false: {Command: "true"}, true: {Command: "true", Cwd: acp.Some(sub)}} {
		if covered, _ := spends(t, s, &call); covered != want {
			t.Errorf("cwd %q covered: %v", call.Cwd.V, covered)
		}
	}
}

func TestEverythingThatIsKnownOfACommandIsInItsDigest(t *testing.T) {
	t.Parallel()
	for _, field := range reflect.VisibleFields(reflect.TypeFor[terminal.Command]()) {
		if !field.IsExported() {
			continue
		}
		var c terminal.Command
		v := reflect.ValueOf(&c).Elem().FieldByIndex(field.Index)
		switch v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Slice:
			v.Set(reflect.ValueOf([]string{"x"}))
		case reflect.Bool:
			v.SetBool(true)
		default:
			t.Fatalf("%s: %s", field.Name, v.Kind())
		}
		if digestOf(&c) == digestOf(new(terminal.Command)) {
			t.Errorf("%s does not count", field.Name)
		}
	}
	if digestOf(&terminal.Command{Argv: []string{"a b"}}) == digestOf(&terminal.Command{Argv: []string{"a", "b"}}) {
		t.Error("two arguments are one")
	}
}

func TestAQuestionThatDoesNotTellTheCommandCoversNone(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	if err := gobuild.Write(filepath.Join(dir, "run all"), "#!/bin/sh\n"); err != nil {
		t.Fatal(err)
	}
	for _, rawInput := range []string{
		``, `null`, `[]`, `"true"`, `{}`, `{"command":null}`, `{"command":""}`, `{"command":[]}`, `{"command":{}}`, `{"cmd":"true"}`,
		`{"COMMAND":"true"}`, `{"command":["true"],"args":["x"]}`, `{"command":"true","args":"x"}`, `{"command":"true","args":[1]}`,
		`{"command":["true",1]}`, `{"command":"true","cwd":"sub"}`, `{"command":"true","cwd":"/"}`, `{"command":"true","cwd":5}`, `{"command":"true","cd":"/"}`, `{"command":"true","pwd":"/"}`,
		`{"command":"true","dir_path":"/"}`,
		`{"command":"true","cwd":"` + dir + `","workdir":"` + dir + `/sub"}`, `{"command":"true","env":{"A":"1"}}`,
		`{"command":"true","env":["A=1"]}`, `{"command":"true","env":[{"name":"LD_PRELOAD","value":"x"}]}`, `{"command":"no-such-program"}`,
		`{"command":"./run all"}`, // a program of that name, not a line
	} {
		s := oneSession(t, "agent", "s", dir)
		if a := s.shown(t.Context(), execute(rawInput)); a.command != nil {
			t.Errorf("%s shows a command", rawInput)
		}
	}
	s := oneSession(t, "agent", "s", dir)
	for _, kind := range []acp.ToolKind{acp.ToolKindRead, acp.ToolKindEdit, acp.ToolKindOther, "dance"} {
		call := execute(`{"command":"true"}`)
		call.Kind = acp.Some(kind)
		if a := s.shown(t.Context(), call); a.command != nil {
			t.Errorf("a call of kind %s shows a command", kind)
		}
	}
	// Earlier updates may change the call while the user reads.
	before := execute(`{"command":"true"}`)
	s.noteCall(update{value: &before, data: new(wire.Object)})
	if a := s.shown(t.Context(), acp.ToolCallUpdate{ToolCallID: "t"}); a.command != nil {
		t.Error("an earlier update counts as shown")
	}
	if a := s.shown(t.Context(), acp.ToolCallUpdate{ToolCallID: "t", RawInput: json.RawMessage(`{"command":"true"}`)}); a.command == nil {
		t.Error("the kind is not taken from the earlier update")
	}
}
