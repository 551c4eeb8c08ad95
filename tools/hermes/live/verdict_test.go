package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// statuses are the steps of a run that ended in some way.
func statuses(r *Result, want Status) (list []string) {
	for _, o := range r.Outcomes {
		if o.Status == want {
			list = append(list, o.Step)
		}
	}
	return list
}

// An agent that hangs is never found to conform, whatever it hangs in.
func TestAnAgentThatHangsNeverConforms(t *testing.T) {
	t.Parallel()
	var later atomic.Int32 // session/new after the first ones
	for name, c := range map[string]struct {
		hangs func(f *fake, m *heard) bool
		want  Decision
	}{
		"initialize": {func(_ *fake, m *heard) bool { return m.Method == "initialize" }, Undecided},
		"initialize, of all processes but the first": {func(f *fake, m *heard) bool { return m.Method == "initialize" && f.starts.Load() > 1 }, NotConformant},
		"session/new": {func(_ *fake, m *heard) bool { return m.Method == "session/new" }, NotConformant},
		"session/new, later on": {func(_ *fake, m *heard) bool {
			return m.Method == "session/new" && later.Add(1) > 6
		}, NotConformant},
		"a turn that allows a cancel": {func(_ *fake, m *heard) bool {
			if m.prompt() == "ask" {
				m.Params.Prompt[0].Text = "busy"
			}
			return false
		}, Undecided},
		"a turn, and the cancel of it":   {func(_ *fake, m *heard) bool { return m.prompt() == "hello" }, NotConformant},
		"everything after the handshake": {func(_ *fake, m *heard) bool { return m.Method != "initialize" }, NotConformant},
	} {
		r := drive(t, fake{changed: c.hangs}, func(o *Options) { o.Timeout = 700 * time.Millisecond })
		if r.Decision != c.want || strings.HasPrefix(name, "initialize,") && !slices.ContainsFunc(r.Outcomes, func(o Outcome) bool {
			return o.Text == "there is no connection: initialize is not answered: 700ms have passed; --timeout gives it more time"
		}) {
			t.Errorf("%s: %s %q, not played: %q", name, r.Decision, r.Why, statuses(r, NotPlayed))
		}
		for _, o := range r.Outcomes {
			if o.Status == NotPlayed && o.Text == "" {
				t.Errorf("%s: %s does not say why", name, o.Step)
			}
		}
	}
}

// Nor does one that hangs in a single request. The methods are those that a conforming agent
// is asked, so a new step brings its own. Requests of informational steps are only noted.
func TestAnAgentThatHangsInAnyMethodNeverConforms(t *testing.T) {
	t.Parallel()
	everything := func(o *Options) {
		o.AuthMethod, o.Logout, o.Timeout = "key", true, 700*time.Millisecond
		for _, step := range (&stage{Options: *o}).steps() {
			if step.tier != Informational {
				o.Steps = append(o.Steps, step.id)
			}
		}
	}
	var mu sync.Mutex
	asked := map[string]int{} // requests, by method
	r := drive(t, fake{changed: func(_ *fake, m *heard) bool {
		mu.Lock()
		defer mu.Unlock()
		if m.Method != "" && m.ID != nil {
			asked[m.Method]++
		}
		return false
	}}, everything)
	if r.Decision != Conformant || len(asked) < 13 {
		t.Fatalf("%s %q: it was asked %v", r.Decision, r.Why, asked)
	}
	for method, times := range asked {
		for _, nth := range slices.Compact([]int{1, min(2, times), times}) {
			n := 0
			r := drive(t, fake{changed: func(_ *fake, m *heard) bool {
				mu.Lock()
				defer mu.Unlock()
				if m.Method == method {
					n++
				}
				return m.Method == method && n >= nth
			}}, everything)
			if r.Decision == Conformant {
				t.Errorf("it hangs from request %d of %d of %s, and is %s; failed: %q", nth, times, method, r.Decision, statuses(r, Failed))
			}
		}
	}
}

// An agent that hangs once, in what a step needs, is asked again: one hang is no end.
func TestAStepThatCouldNotBePlayedLeavesTheVerdictOpen(t *testing.T) {
	t.Parallel()
	var asked atomic.Bool
	r := drive(t, fake{changed: func(_ *fake, m *heard) bool {
		return m.Method == "session/new" && !asked.Swap(true)
	}}, func(o *Options) { o.Steps, o.Timeout = []string{"initialize", "session-two", "prompt"}, time.Second })
	if got := statuses(r, NotPlayed); r.Decision != Undecided || len(got) != 1 || got[0] != "session-two" || !strings.Contains(r.Why[0], "session-two: there is no session: session/new is not answered: 1s have passed") {
		t.Errorf("%s %q, not played: %q", r.Decision, r.Why, got)
	}
}

// A reason that leaves many steps open is given once.
func TestAVerdictThatIsOpenSaysEachReasonOnce(t *testing.T) {
	t.Parallel()
	r := &Result{Report: &lint.Report{}, Outcomes: []Outcome{
		{Step: "prompt", Tier: Mandatory, Status: NotPlayed, Text: "no session"},
		{Step: "cancel", Tier: Mandatory, Status: NotPlayed, Text: "no turn"},
		{Step: "prompt-link", Tier: Advisory, Status: NotPlayed, Text: "no session"},
		{Step: "session-load", Tier: Capability, Status: NotPlayed, Text: "no session"},
		{Step: "login", Tier: Advisory, Status: NotExercised, Text: "no session"},
	}}
	r.decide(&lint.Options{}, false, "login")
	if want := []string{"prompt, session-load, login: no session", "cancel: no turn"}; r.Decision != Undecided || !slices.Equal(r.Why, want) {
		t.Errorf("%s %q, want %q", r.Decision, r.Why, want)
	}
}

// An agent that hangs does not cost the time of each step.
func TestARunGivesUpOnAnAgentThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"initialize", "session/new"} {
		r, took := timed(t, fake{changed: func(f *fake, m *heard) bool {
			return m.Method == method && (method != "initialize" || f.starts.Load() > 1)
		}}, func(o *Options) {
			o.Timeout = 2 * time.Second
			o.Steps = []string{"initialize", "session-new", "session-two", "session-mode", "prompt", "permission-allow", "cancel", "close-busy", "session-load", "restart"}
			if method == "initialize" { // each begins a connection
				o.Steps = []string{"initialize", "initialize-version", "prompt-bare", "session-new", "session-two", "prompt", "string-id", "custom-method", "shutdown"}
			}
		})
		if took > 12*time.Second || r.Decision == Conformant {
			t.Errorf("%s: %s after %v; not played: %q", method, r.Decision, took, statuses(r, NotPlayed))
		}
	}
	r, took := timed(t, fake{}, func(o *Options) { o.Total = 2 * time.Second })
	if took > 20*time.Second || r.Decision != Undecided || !strings.Contains(strings.Join(r.Why, " "), "the run has taken 2s") {
		t.Errorf("a run of 2s took %v: %s %q", took, r.Decision, r.Why)
	}
}

// One fault fails the step that it is about, and no other.
func TestOneFaultFailsOneStep(t *testing.T) {
	t.Parallel()
	login := func(f *fake, m *heard) bool { // a login in a terminal for a client that has none
		if m.Method == "initialize" {
			f.answer(m, `{"protocolVersion":1,"agentInfo":{"name":"fake","version":"1"},"authMethods":[{"id":"x","name":"X","type":"terminal"}]}`)
		}
		return m.Method == "initialize"
	}
	r := drive(t, fake{changed: login}, func(o *Options) { o.Lint.Profile = lint.Spec })
	if got := statuses(r, Failed); len(got) != 1 || got[0] != "initialize" || r.Decision != NotConformant || !strings.Contains(strings.Join(r.Why, "; "), "rules broken: AUT03") {
		t.Errorf("%s %q, failed: %q", r.Decision, r.Why, got)
	}
	// Played alone, a step that only needs the connection passes, and the verdict
	// names the rule.
	r = drive(t, fake{changed: login}, func(o *Options) { o.Steps = []string{"session-new"} })
	if o := r.Outcomes[0]; o.Status != Passed || !slices.Contains(o.Again, "AUT03") || r.Decision != NotConformant {
		t.Errorf("%s: %s %q, again: %q", o.String(), r.Decision, r.Why, o.Again)
	}
	// Two methods that the specification does not have are two faults, if the rules know that.
	// A method with another number in it is the same.
	for rules, want := range map[string][]string{"latest": {"prompt", "prompt-3"}, "2026-11": {"prompt"}} {
		r = drive(t, fake{changed: func(f *fake, m *heard) bool {
			if method := map[string]string{"hello": "craft/step1", "two": "craft/step2", "three": "craft/queue"}[m.prompt()]; method != "" {
				f.write(`{"jsonrpc":"2.0","method":%q,"params":{}}`, method)
			}
			return false
		}}, func(o *Options) {
			o.Steps, o.Prompts, o.Lint.RuleSet = []string{"prompt", "prompt-2", "prompt-3"}, []string{"hello", "two", "three"}, ruleSet(t, rules)
		})
		if got := statuses(r, Failed); !slices.Equal(got, want) {
			t.Errorf("%s: failed: %q", rules, got)
		}
	}
	// The same fault is the same, however often it was found.
	r = drive(t, fake{changed: func(f *fake, m *heard) bool {
		for range map[string]int{"hello": 100, "two": 1}[m.prompt()] {
			f.write(`{"jsonrpc":"2.0","method":"craft/step","params":{}}`)
		}
		return false
	}}, func(o *Options) { o.Steps, o.Prompts = []string{"prompt", "prompt-2"}, []string{"hello", "two"} })
	if got := statuses(r, Failed); !slices.Equal(got, []string{"prompt"}) {
		t.Errorf("failed: %q", got)
	}
	// A fault that only a later step shows fails that step.
	r = drive(t, fake{changed: func(f *fake, m *heard) bool {
		if m.Method == "session/list" {
			f.answer(m, `{"sessions":[{"sessionId":"s1","cwd":"relative"}]}`)
		}
		return m.Method == "session/list"
	}}, func(o *Options) { o.Steps = []string{"initialize", "session-list"} })
	if got := statuses(r, Failed); len(got) != 1 || got[0] != "session-list" {
		t.Errorf("failed: %q", got)
	}
}

// A fault that is provoked where the protocol is silent is noted and changes
// nothing. A request that could not reach the agent is no remark.
func TestWhatIsProvokedOnPurposeDoesNotCount(t *testing.T) {
	t.Parallel()
	noisy := false
	for name, c := range map[string]struct {
		leaves func(f *fake, m *heard) bool
		infos  int
	}{
		"at once": {func(f *fake, m *heard) bool {
			if m.Method == "not JSON" {
				f.out.Close()
			}
			return m.Method == "not JSON"
		}, 0},
		"long after it has read what follows": {func(f *fake, m *heard) bool {
			if m.Method == "not JSON" {
				noisy = true
				time.AfterFunc(2*time.Second, func() { f.out.Close() })
			}
			return noisy
		}, 1},
	} {
		r := drive(t, fake{changed: c.leaves}, func(o *Options) { o.Steps = []string{"initialize", "session-new", "prompt", "line-noise"} })
		if r.Decision != Conformant || r.Report.Errors+r.Report.Warnings > 0 || min(r.Report.Infos, 1) != c.infos {
			t.Errorf("%s: %s %q with %d errors, %d warnings, %d remarks", name, r.Decision, r.Why, r.Report.Errors, r.Report.Warnings, r.Report.Infos)
		}
	}
}

// A rule that is broken in any informational step is noted, and changes nothing.
func TestARuleThatIsBrokenInAnInformationalStepDoesNotCount(t *testing.T) {
	t.Parallel()
	nobody := func(_ *fake, m *heard) bool { return m.Params.SessionID == "hermes-lint-nobody" }
	provoked := map[string]func(f *fake, m *heard) bool{
		"initialize-late":      func(f *fake, m *heard) bool { return m.Method == "session/new" && f.open == nil },
		"initialize-twice":     func(f *fake, m *heard) bool { return m.Method == "initialize" && f.open != nil },
		"prompt-session":       nobody,
		"session-load-unknown": nobody,
		"line-blank":           func(_ *fake, m *heard) bool { return m.Method == customMethod }, // which follows it
		"line-noise":           func(_ *fake, m *heard) bool { return m.Method == "not JSON" },
		"line-other":           func(_ *fake, m *heard) bool { return m.Method == "" && len(m.ID) == 0 },
	}
	s := &stage{Options: Options{Prompts: []string{"a"}}}
	for _, step := range s.steps() {
		if step.tier != Informational {
			continue
		}
		when := provoked[step.id]
		if when == nil {
			t.Errorf("%s is not in the test", step.id)
			continue
		}
		r := drive(t, fake{changed: func(f *fake, m *heard) bool {
			if when(f, m) {
				f.write(`{"jsonrpc":"1.0","method":"_note"}`) // breaks RPC01
			}
			return false
		}}, func(o *Options) {
			o.Steps, o.Lint.Profile = []string{"initialize", "session-new", "prompt", step.id}, lint.Spec
		})
		i := slices.IndexFunc(r.Outcomes, func(o Outcome) bool { return o.Step == step.id })
		if o := r.Outcomes[i]; o.Status != Passed || !slices.Contains(o.Rules, "RPC01") {
			t.Errorf("%s with %q", o.String(), o.Rules)
		}
		if r.Decision != Conformant || r.Report.Errors > 0 || r.Report.Infos == 0 {
			t.Errorf("%s: %s %q with %d errors and %d remarks", step.id, r.Decision, r.Why, r.Report.Errors, r.Report.Infos)
		}
	}
}

// Nor does it fail the step, however bad the finding is: a step of a script that waits has no
// silence of its own.
func TestAnInformationalStepNeverFails(t *testing.T) {
	t.Parallel()
	for tier, want := range map[Tier]Status{Informational: Passed, Advisory: Failed} {
		o := Outcome{Tier: tier, Status: Passed}
		if o.found(lint.Finding{Rule: lint.Find("RPC01"), Severity: lint.Error}); o.Status != want || len(o.Rules) != 1 {
			t.Errorf("%s: %s with %q", tier, o.Status, o.Rules)
		}
	}
}

// A finding that only the end of a connection shows belongs to the step of its message,
// which is reported again.
func TestALateFindingBelongsToItsStep(t *testing.T) {
	t.Parallel()
	var told []string
	drive(t, fake{changed: func(f *fake, m *heard) bool {
		if m.prompt() != "hello" {
			return false
		}
		go func() { // the terminal is never released
			id := m.Params.SessionID
			made := f.ask("terminal/create", fmt.Sprintf(`{"sessionId":%q,"command":"true"}`, id))
			var r struct{ TerminalID string }
			json.Unmarshal(made.Result, &r)
			f.ask("terminal/wait_for_exit", fmt.Sprintf(`{"sessionId":%q,"terminalId":%q}`, id, r.TerminalID))
			f.answer(m, `{"stopReason":"end_turn"}`)
		}()
		return true
	}}, func(o *Options) {
		o.Prompts = []string{"hello", "two"}
		o.Steps = []string{"prompt", "prompt-2", "shutdown"}
		o.Done = func(o Outcome) {
			told = append(told, strings.Join(append([]string{o.Step, string(o.Status)}, o.Rules...), " "))
		}
	})
	if want := []string{"prompt PASS", "prompt-2 PASS", "shutdown PASS", "prompt FAIL TER05"}; !slices.Equal(told, want) {
		t.Errorf("%q", told)
	}
}

// A mandatory step that the agent did not play leaves the verdict open, and the verdict says what
// makes the agent play it. Rules of before do not know that. The user may leave a step out.
func TestAMandatoryStepThatIsNotExercisedLeavesTheVerdictOpen(t *testing.T) {
	t.Parallel()
	asks := []string{"permission-allow", "permission-reject", "permission-cancel"}
	for name, c := range map[string]struct {
		change func(*Options)
		want   Decision
		says   string // in the verdict
	}{
		"it asks for nothing":             {func(o *Options) { o.Asking = "hello" }, Undecided, "UNDECIDED (permission-allow, permission-reject, permission-cancel: the agent did not ask for permission; a --permission-prompt for what it has to ask, or a permission setting of the agent, makes it ask"},
		"its turns are too short":         {func(o *Options) { o.Busy = "hello" }, Undecided, "UNDECIDED (cancel: the turn ended before it could be cancelled; --cancel-prompt TEXT"},
		"it asks for nothing, as it was":  {func(o *Options) { o.Asking, o.Lint.RuleSet = "hello", ruleSet(t, "2026-11") }, Conformant, "CONFORMANT\n"},
		"it never asks":                   {func(o *Options) { o.Asking, o.Without = "hello", asks }, Conformant, "CONFORMANT without permission-allow, permission-cancel, permission-reject\n"},
		"it asks, and is not to":          {func(o *Options) { o.Without = asks[:1] }, Conformant, "CONFORMANT without permission-allow\n"},
		"only some steps":                 {func(o *Options) { o.Steps = []string{"prompt", "initialize"} }, Conformant, "CONFORMANT with only initialize, prompt\n"},
		"only some steps, and one is not": {func(o *Options) { o.Steps, o.Without = []string{"prompt", "initialize"}, []string{"prompt"} }, Conformant, "CONFORMANT with only initialize without prompt\n"},
	} {
		r := drive(t, fake{}, c.change)
		var out strings.Builder
		r.Summary(&out)
		if r.Decision != c.want || !strings.Contains(out.String(), "VERDICT: "+c.says) {
			t.Errorf("%s: %s", name, out.String())
		}
		for _, s := range r.Run().Steps {
			if open := c.want == Undecided && s.Tier == string(Mandatory) && s.Status == string(NotExercised); s.Open != open {
				t.Errorf("%s: %s is %s, open %v", name, s.ID, s.Status, s.Open)
			}
		}
	}
	for _, without := range [][]string{{"nothing"}, {"initialize"}} {
		if _, err := Run(t.Context(), Options{Prompts: []string{"x"}, Steps: []string{"initialize"}, Without: without}); err == nil || !strings.Contains(err.Error(), map[string]string{"nothing": `no step "nothing"`, "initialize": "no step is left"}[without[0]]) {
			t.Errorf("without %q: %v", without, err)
		}
	}
}

// One initialize without an answer may be a busy machine's. It is a fault if the agent has
// answered one in time before, and a second process does not answer this one either.
func TestAnInitializeThatIsLateIsTriedAgain(t *testing.T) {
	t.Parallel()
	bare := func(m *heard) bool { return m.Method == "initialize" && !strings.Contains(m.text, "clientInfo") }
	for name, c := range map[string]struct {
		late   func(m *heard, nth int) bool // of those that are bare
		want   Status
		says   string
		open   Decision
		starts int32
	}{
		"never":          {func(*heard, int) bool { return false }, Passed, "", Conformant, 2},
		"once":           {func(m *heard, nth int) bool { return bare(m) && nth == 1 }, NotPlayed, "initialize is not answered: 1s have passed, and a second process has answered; --timeout gives it more time", Undecided, 3},
		"twice":          {func(m *heard, _ int) bool { return bare(m) }, Failed, "initialize is not answered: 1s have passed, and neither has a second process answered", NotConformant, 3},
		"from the first": {func(m *heard, _ int) bool { return m.Method == "initialize" }, NotPlayed, "was left without an answer", Undecided, 2},
	} {
		var nth, starts atomic.Int32
		r := drive(t, fake{changed: func(f *fake, m *heard) bool {
			starts.Store(f.starts.Load())
			if bare(m) {
				nth.Add(1)
			}
			return c.late(m, int(nth.Load()))
		}}, func(o *Options) {
			o.Steps, o.Timeout = []string{"initialize", "initialize-info", "initialize-bare"}, time.Second
		})
		o := r.Outcomes[2]
		if o.Status != c.want || !strings.Contains(o.Text, c.says) || r.Decision != c.open || starts.Load() != c.starts {
			t.Errorf("%s: %s after %d starts: %s", name, r.Decision, starts.Load(), o.String())
		}
	}
}

// An error that a step has failed with fails no second step. Another request is another fault,
// unless the agent says that it does not have the method at all.
func TestOneErrorFailsOneStep(t *testing.T) {
	t.Parallel()
	refuse := func(code int, is func(m *heard) bool) fake {
		return fake{changed: func(f *fake, m *heard) bool {
			if is(m) {
				f.refuse(m, code)
			}
			return is(m)
		}}
	}
	on := func(method string) func(*heard) bool { return func(m *heard) bool { return m.Method == method } }
	for name, c := range map[string]struct {
		agent  fake
		steps  []string // none: all
		failed []string
		same   map[string]string
	}{
		"an unknown method":                {refuse(-32601, on("session/close")), nil, []string{"session-close"}, map[string]string{"close-busy": "session-close"}},
		"an unknown method, of any params": {refuse(-32601, on("session/list")), nil, []string{"session-list"}, map[string]string{"session-list-folder": "session-list"}},
		"a step of its own":                {refuse(-32601, on("session/close")), []string{"close-busy"}, []string{"close-busy"}, nil},
		"other content":                    {refuse(-32602, func(m *heard) bool { return m.has("image") || m.has("audio") }), nil, []string{"prompt-image", "prompt-audio"}, nil},
		"other params":                     {refuse(-32602, on("session/list")), nil, []string{"session-list", "session-list-folder"}, nil},
		"a worse step":                     {refuse(-32602, on("session/delete")), []string{"session-delete-unknown", "session-delete"}, []string{"session-delete"}, map[string]string{"session-delete-unknown": "session-delete"}},
		"no exit":                          {fake{deaf: true}, nil, []string{"shutdown"}, map[string]string{"shutdown-busy": "shutdown"}},
	} {
		r := drive(t, c.agent, func(o *Options) { o.Steps = c.steps })
		same := map[string]string{}
		for _, o := range r.Outcomes {
			if o.Same != "" {
				same[o.Step] = o.Same
				if o.Status != NotPlayed || !strings.HasPrefix(o.Text, "the same fault as "+o.Same+": ") {
					t.Errorf("%s: %s", name, o.String())
				}
			}
		}
		want := NotConformant
		if name == "no exit" {
			want = Conformant
		}
		if got := statuses(r, Failed); !slices.Equal(got, c.failed) || !maps.Equal(same, c.same) || r.Decision != want {
			t.Errorf("%s: %s, failed: %q, the same: %v", name, r.Decision, got, same)
		}
	}
	// A step that was known to fail is known for those that show the same fault.
	r := drive(t, refuse(-32601, on("session/close")), func(o *Options) { o.Known = func(step string) bool { return step == "session-close" } })
	if r.Decision != Conformant {
		t.Errorf("%s %q", r.Decision, r.Why)
	}
}

// The end of a turn and its cancel may cross, so a step that sees that cancels another turn, later.
func TestATurnThatEndsAtTheCancelIsTriedAgain(t *testing.T) {
	t.Parallel()
	// ends answers a busy prompt at its cancel, or a while after it has begun.
	ends := func(after time.Duration, answer func(f *fake, m *heard)) fake {
		return fake{changed: func(f *fake, m *heard) bool {
			if m.prompt() != "busy" {
				return false
			}
			stop := make(chan struct{})
			f.mu.Lock()
			f.turns[m.Params.SessionID] = stop
			f.mu.Unlock()
			go func() {
				f.say(m.Params.SessionID, "hello")
				select {
				case <-stop:
				case <-time.After(after):
					f.mu.Lock()
					delete(f.turns, m.Params.SessionID)
					f.mu.Unlock()
				}
				answer(f, m)
			}()
			return true
		}}
	}
	stops := func(f *fake, m *heard) { f.answer(m, `{"stopReason":"end_turn"}`) }
	fails := func(f *fake, m *heard) { f.refuse(m, -32603) }
	for name, c := range map[string]struct {
		agent fake
		rules string
		want  Status
		says  string
		open  Decision
	}{
		"it ends each turn wrongly":            {ends(time.Hour, stops), "latest", Failed, "the turn ended with end_turn, 0s after it was cancelled", NotConformant},
		"it ends each turn with an error":      {ends(time.Hour, fails), "latest", Failed, "-32603", NotConformant},
		"its turns are short":                  {ends(quiet, stops), "latest", NotExercised, "--cancel-prompt TEXT gives the agent more to do", Undecided},
		"its turns fail":                       {ends(time.Millisecond, fails), "latest", NotPlayed, "the agent could not do the turn: session/prompt is answered with the error -32603", Undecided},
		"its turns fail, as it was":            {ends(quiet, fails), "2026-11", NotExercised, "--cancel-prompt", Conformant},
		"it ends each turn wrongly, as it was": {ends(time.Hour, stops), "2026-11", NotExercised, "--cancel-prompt", Conformant},
	} {
		r := drive(t, c.agent, func(o *Options) { o.Steps, o.Lint.RuleSet = []string{"cancel"}, ruleSet(t, c.rules) })
		if o := r.Outcomes[0]; o.Status != c.want || !strings.Contains(o.Text, c.says) || r.Decision != c.open {
			t.Errorf("%s: %s: %s", name, r.Decision, o.String())
		}
	}
}
