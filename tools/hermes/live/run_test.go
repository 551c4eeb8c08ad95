package live

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

func failed(r *Result) (list []string) {
	for _, o := range r.Outcomes {
		if o.Status == Failed {
			list = append(list, o.Step+": "+o.Text)
			for _, f := range o.Findings {
				list = append(list, f.Rule.ID+" "+f.Text)
			}
		}
	}
	return list
}

func TestAConformingAgentPassesEveryStep(t *testing.T) {
	t.Parallel()
	r := drive(t, fake{}, func(o *Options) {
		o.Prompts = append(o.Prompts, "a prompt of the user")
		o.Lint.Profile, o.AuthMethod, o.Logout = lint.Spec, "key", true
	})
	if r.Decision != Conformant || r.Report.Errors > 0 {
		t.Errorf("%s %q\n%s", r.Decision, r.Why, strings.Join(failed(r), "\n"))
	}
	for _, o := range r.Outcomes {
		if o.Status != Passed && o.Step != "login" {
			t.Errorf("%s", o.String())
		}
	}
	var out strings.Builder
	r.Summary(&out)
	if !strings.Contains(out.String(), "VERDICT: CONFORMANT\n") || r.Peer != "fake 1" {
		t.Errorf("%s: %s", r.Peer, out.String())
	}
}

// A feature that is not offered is not exercised, and never a fault.
func TestAnAgentThatOffersNothingConforms(t *testing.T) {
	t.Parallel()
	r := drive(t, fake{bare: true, changed: func(f *fake, m *heard) bool {
		if m.Method == "session/new" && m.Params.Cwd != nil {
			if _, ok := m.Params.Cwd.(string); ok {
				f.mu.Lock()
				f.opened++
				id := string(rune('a' + f.opened))
				f.dirs[id] = ""
				f.mu.Unlock()
				f.answer(m, `{"sessionId":"`+id+`"}`)
				return true
			}
		}
		return false
	}}, nil)
	if list := failed(r); r.Decision != Conformant || len(list) > 0 {
		t.Errorf("%s\n%s", r.Decision, strings.Join(list, "\n"))
	}
	for _, o := range r.Outcomes {
		if o.Tier == Capability && o.Status != NotExercised {
			t.Errorf("%s", o.String())
		}
	}
}

func TestAnAgentThatNeedsALoginIsUndecided(t *testing.T) {
	t.Parallel()
	r := drive(t, fake{changed: func(f *fake, m *heard) bool {
		if m.Method == "session/new" {
			f.refuse(m, -32000)
		}
		return m.Method == "session/new"
	}}, nil)
	if list := failed(r); r.Decision != Undecided || len(list) > 0 || !strings.Contains(strings.Join(r.Why, " "), `--auth-method with one of "key"`) {
		t.Errorf("%s %q\n%s", r.Decision, r.Why, strings.Join(list, "\n"))
	}
	for _, o := range r.Outcomes {
		if strings.HasPrefix(o.Step, "prompt") && (o.Status != NotExercised || !strings.Contains(o.Text, "needs a login")) {
			t.Errorf("%s", o.String())
		}
	}
}

func TestAnAgentOfAnotherVersionIsUndecided(t *testing.T) {
	t.Parallel()
	for _, says := range []string{
		`"result":{"protocolVersion":2,"info":{"name":"fake","version":"1"},"capabilities":{}}`,
		`"error":{"code":-32022,"message":"not this one","data":{"requested":1,"supported":[2]}}`,
	} {
		r := drive(t, fake{changed: func(f *fake, m *heard) bool {
			if m.Method == "initialize" {
				if m.Params.ProtocolVersion > 1 {
					f.answer(m, `{"protocolVersion":2,"info":{"name":"fake","version":"1"},"capabilities":{}}`)
				} else {
					f.write(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, says)
				}
			}
			return m.Method == "initialize"
		}}, nil)
		list := failed(r)
		for _, o := range r.Outcomes {
			if o.Step != "initialize-version" && o.Status != NotExercised || !strings.Contains(o.Text, "version") {
				t.Errorf("%s", o.String())
			}
		}
		if strings.Contains(says, "error") && (r.Decision != Undecided || len(list) > 0 || !strings.Contains(r.Why[0], "speaks other versions than 1")) {
			t.Errorf("%s %q\n%s", r.Decision, r.Why, strings.Join(list, "\n"))
		}
	}
}

// Each step can fail: an agent that does this one thing otherwise fails this step.
func TestEachStepSeesWhatItIsFor(t *testing.T) {
	t.Parallel()
	// on changes the answers to a method.
	on := func(method string, do func(f *fake, m *heard) bool) fake {
		return fake{changed: func(f *fake, m *heard) bool { return m.Method == method && do(f, m) }}
	}
	refused := func(method string, when func(m *heard) bool) fake {
		return on(method, func(f *fake, m *heard) bool {
			if when(m) {
				f.refuse(m, -32602)
			}
			return when(m)
		})
	}
	always := func(*heard) bool { return true }
	with := func(kind string) func(*heard) bool { return func(m *heard) bool { return m.has(kind) } }
	// ends answers prompts of a text with a stop reason, at the end of the turn or later.
	ends := func(prompt, reason string) fake {
		return on("session/prompt", func(f *fake, m *heard) bool {
			if m.prompt() != prompt {
				return false
			}
			stop := make(chan struct{})
			f.mu.Lock()
			f.turns[m.Params.SessionID] = stop
			f.mu.Unlock()
			go func() {
				f.turn(m, stop)
				time.Sleep(2 * quiet)
				f.answer(m, `{"stopReason":"`+reason+`"}`)
			}()
			return true
		})
	}
	silent := func(is func(m *heard) bool) fake {
		return fake{changed: func(_ *fake, m *heard) bool { return is(m) }}
	}
	gone := func(f *fake, _ *heard) bool { f.out.Close(); return true }
	cases := map[string]struct {
		agent fake
		says  string // in the text of the step or in one of its rules
	}{
		"initialize":         {refused("initialize", always), "-32602"},
		"initialize-info":    {on("initialize", func(f *fake, m *heard) bool { f.answer(m, `{"protocolVersion":1}`); return true }), "no name"},
		"authenticate":       {refused("authenticate", always), ""},
		"initialize-version": {on("initialize", func(f *fake, m *heard) bool { f.answer(m, `{"protocolVersion":65535}`); return true }), "65535"},
		"initialize-bare":    {refused("initialize", func(m *heard) bool { return !strings.Contains(m.text, "clientInfo") }), "-32602"},
		"initialize-unknown": {refused("initialize", func(m *heard) bool { return strings.Contains(m.text, `"_meta"`) }), "-32602"},
		"session-new":        {on("session/new", func(f *fake, m *heard) bool { f.answer(m, `{}`); return true }), "no sessionId"},
		"login": {fake{changed: func(f *fake, m *heard) bool {
			switch m.Method {
			case "initialize":
				f.answer(m, `{"protocolVersion":1}`)
			case "session/new":
				f.refuse(m, -32000)
			}
			return m.Method == "initialize" || m.Method == "session/new"
		}}, "names none"},
		"session-two":         {on("session/new", func(f *fake, m *heard) bool { f.answer(m, `{"sessionId":"s"}`); return true }), `both are "s"`},
		"session-directories": {refused("session/new", func(m *heard) bool { return strings.Contains(m.text, "additionalDirectories") }), "-32602"},
		"session-list":        {on("session/list", func(f *fake, m *heard) bool { f.answer(m, `{}`); return true }), "no list"},
		"session-list-folder": {on("session/list", func(f *fake, m *heard) bool {
			f.answer(m, `{"sessions":[{"sessionId":"s1","cwd":"/w"}]}`)
			return true
		}), "1 sessions"},
		"session-mode":   {refused("session/set_mode", always), "-32602"},
		"session-config": {on("session/set_config_option", func(f *fake, m *heard) bool { f.answer(m, `{"configOptions":[]}`); return true }), `does not have the option "mode"`},
		"prompt":         {ends("hello", "done"), `"done"`},
		"prompt-2":       {ends("two", "done"), `"done"`},
		"prompt-bare": {on("session/prompt", func(f *fake, m *heard) bool {
			go func() {
				f.ask("fs/read_text_file", `{"sessionId":"`+m.Params.SessionID+`","path":"/x"}`)
				f.answer(m, `{"stopReason":"end_turn"}`)
			}()
			return true
		}), "fs/read_text_file"},
		"prompt-link":     {refused("session/prompt", with("resource_link")), "-32602"},
		"prompt-image":    {refused("session/prompt", with("image")), "-32602"},
		"prompt-audio":    {refused("session/prompt", with("audio")), "-32602"},
		"prompt-resource": {refused("session/prompt", with("resource")), "-32602"},
		"prompt-meta":     {refused("session/prompt", func(m *heard) bool { return strings.Contains(m.text, "traceparent") }), "-32602"},
		"permission-allow": {fake{changed: func(f *fake, m *heard) bool {
			if strings.Contains(m.text, `"optionId":"y"`) {
				f.out.Close()
			}
			return false
		}}, "ended the connection"},
		"permission-reject": {fake{changed: func(f *fake, m *heard) bool {
			if strings.Contains(m.text, `"optionId":"n"`) {
				f.out.Close()
			}
			return false
		}}, "ended the connection"},
		"permission-cancel":  {ends("ask", "end_turn"), "ended with end_turn"},
		"cancel":             {ends("busy", "end_turn"), "ended with end_turn"},
		"cancel-then-prompt": {refused("session/prompt", func(m *heard) bool { return m.prompt() == "hello" }), "-32602"},
		"cancel-idle":        {on("session/cancel", func(f *fake, _ *heard) bool { f.write(`{"jsonrpc":"2.0","id":null,"result":{}}`); return true }), "it is answered"},
		"close-busy":         {ends("busy", "end_turn"), "ended with end_turn"},
		"session-load":       {refused("session/load", always), "in a new process"},
		"session-resume":     {refused("session/resume", always), "in a new process"},
		"session-fork":       {on("session/fork", func(f *fake, m *heard) bool { f.answer(m, `{"sessionId":"s1"}`); return true }), "has the id"},
		"session-close":      {refused("session/close", always), "-32602"},
		"session-delete":     {refused("session/delete", always), "-32602"},
		"session-delete-unknown": {refused("session/delete", func(m *heard) bool {
			return m.Params.SessionID == "hermes-lint-nobody"
		}), "-32602"},
		"string-id":      {silent(func(m *heard) bool { return strings.HasPrefix(string(m.ID), `"hermes`) }), "not answered"},
		"unknown-method": {refused(unknownMethod, always), "-32602"},
		"custom-method":  {silent(func(m *heard) bool { return m.Method == customMethod }), "not answered"},
		"unknown-notification": {on("$/hermes/lint", func(f *fake, _ *heard) bool {
			f.write(`{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"x"}}`)
			return true
		}), "it is answered"},
		"stray-answer": {fake{changed: func(f *fake, m *heard) bool {
			if string(m.ID) == "987654" {
				f.write(`{"jsonrpc":"2.0","id":987654,"error":{"code":-32600,"message":"x"}}`)
			}
			return false
		}}, "it is answered"},
		"bad-params":     {on("session/new", gone), "ended the connection"},
		"message-pieces": {silent(func(m *heard) bool { return string(m.ID) == "700002" }), "not answered"},
		"message-large": {fake{changed: func(f *fake, m *heard) bool {
			if len(m.text) > 64<<10 {
				f.out.Close()
			}
			return len(m.text) > 64<<10
		}}, "ended the connection"},
		"logout":        {refused("logout", always), "-32602"},
		"shutdown":      {fake{deaf: true}, "still runs"},
		"shutdown-busy": {fake{deaf: true}, "still runs"},
		"restart": {fake{changed: func(f *fake, m *heard) bool {
			if f.starts.Load() > 1 && m.Method == "session/new" {
				f.refuse(m, -32603)
				return true
			}
			return false
		}}, "-32603"},
	}
	s := &stage{Options: Options{Prompts: []string{"a", "b"}}}
	for _, step := range s.steps() {
		if _, ok := cases[step.id]; !ok && step.tier != Informational {
			t.Errorf("nothing makes %s fail", step.id)
		}
	}
	for id, c := range cases {
		r := drive(t, c.agent, func(o *Options) {
			o.Steps, o.Prompts, o.Timeout, o.Logout = []string{id}, []string{"hello", "two"}, 4*time.Second, true
			switch id {
			case "authenticate":
				o.AuthMethod = "key"
			case "session-load", "session-resume": // there has to be a turn
				o.Steps = []string{"prompt", id}
			case "login":
				o.Steps = []string{"session-new", id}
			}
		})
		o := r.Outcomes[len(r.Outcomes)-1]
		if id == "authenticate" { // a wrong password is not a fault of the agent
			if o.Status != NotExercised || !strings.Contains(o.Text, "the login did not work") {
				t.Errorf("%s", o.String())
			}
			continue
		}
		if o.Status != Failed || !strings.Contains(o.String(), c.says) {
			t.Errorf("want FAIL with %q:\n%s", c.says, o.String())
		}
		if o.Message < 1 || o.Message > r.Report.Messages {
			t.Errorf("%s: message %d of %d shows it", id, o.Message, r.Report.Messages)
		}
		if want := o.Tier == Mandatory || o.Tier == Capability; want && r.Decision != NotConformant {
			t.Errorf("the verdict is %s", r.Decision)
		}
	}
}

// Steps where the protocol is silent note what happens.
func TestInformationalStepsOnlyNote(t *testing.T) {
	t.Parallel()
	notes := map[string][2]string{ // of the conforming agent, and of one that leaves at once
		"initialize-late":      {"answered with", "ended the connection"},
		"initialize-twice":     {"answered with", "ended the connection"},
		"prompt-session":       {"-32002", "ended the connection"},
		"session-load-unknown": {"-32002", "ended the connection"},
		"line-blank":           {"no answer; the connection works", "no answer; the connection works"},
		"line-noise":           {"answered; the connection works", "afterwards"},
		"line-other":           {"answered; the connection works", "afterwards"},
	}
	for i, agent := range []fake{{}, {changed: func(f *fake, m *heard) bool {
		odd := m.Method == "not JSON" || m.Method == "" && len(m.ID) == 0 || m.Params.SessionID == "hermes-lint-nobody" || m.Method == "session/new" && f.open == nil || m.Method == "initialize" && f.open != nil
		if odd {
			f.out.Close()
		}
		return odd
	}}} {
		for id, want := range notes {
			r := drive(t, agent, func(o *Options) { o.Steps = []string{id} })
			if o := r.Outcomes[0]; o.Tier != Informational || o.Status != Passed || !strings.Contains(o.Text, want[i]) {
				t.Errorf("want a note with %q:\n%s", want[i], o.String())
			}
		}
	}
	s := &stage{Options: Options{Prompts: []string{"a", "b"}}}
	for _, step := range s.steps() {
		if _, noted := notes[step.id]; (step.tier == Informational) != noted {
			t.Errorf("%s is not in the tests", step.id)
		}
	}
}

func TestStepsHaveDistinctNamesAndRequirementsOfTheKit(t *testing.T) {
	t.Parallel()
	s := &stage{Options: Options{Prompts: []string{"a"}}}
	var ids []string
	for _, step := range s.steps() {
		ids = append(ids, step.id)
		for _, r := range step.requirements {
			if !strings.HasPrefix(r, "ACP-") {
				t.Errorf("%s: %s", step.id, r)
			}
		}
	}
	if all := len(ids); all != len(slices.Compact(slices.Sorted(slices.Values(ids)))) {
		t.Error("two steps have the same name")
	}
}

// A turn that takes too long is cancelled, and not a fault of the agent.
func TestAStepHasItsTime(t *testing.T) {
	t.Parallel()
	r := drive(t, fake{}, func(o *Options) { o.Steps, o.Prompts, o.Timeout = []string{"prompt"}, []string{"busy"}, time.Second })
	if o := r.Outcomes[0]; o.Status != NotPlayed || !strings.Contains(o.Text, "did not end within 1s") || r.Decision != Undecided {
		t.Errorf("%s, %s", o.String(), r.Decision)
	}
	r = drive(t, fake{changed: func(_ *fake, m *heard) bool { return m.Method == "initialize" }}, func(o *Options) { o.Timeout = time.Second })
	if o := r.Outcomes[0]; o.Status != NotPlayed || !strings.Contains(o.Text, "initialize is not answered: 1s have passed; --timeout") || r.Decision != Undecided {
		t.Errorf("%s, %s", o.String(), r.Decision)
	}
	if len(failed(r)) > 0 {
		t.Errorf("an agent that does not answer fails %q", failed(r))
	}
}
