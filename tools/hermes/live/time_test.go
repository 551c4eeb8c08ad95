package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// fates are the steps of a run with how each ended. What was only noted is left out.
func fates(r *Result) (list []string) {
	for _, o := range r.Outcomes {
		if o.Tier != Informational {
			list = append(list, string(o.Status)+" "+o.Step+" "+o.Text)
		}
	}
	return list
}

// What a step needs first, and a turn that is over only later, have their own time. So a slow
// agent, each of whose answers is in time, is judged like a quick one.
func TestASlowAgentIsJudgedLikeAQuickOne(t *testing.T) {
	t.Parallel()
	slow := func(f *fake, m *heard) bool {
		f.work(map[string]time.Duration{
			"initialize": 4 * time.Second, "session/new": 2 * time.Second, "session/prompt": 3 * time.Second, "session/cancel": 3 * time.Second, "session/close": 3 * time.Second,
		}[m.Method])
		return false
	}
	for _, rules := range []string{"latest", "2026-11"} {
		var all [][]string
		for _, changed := range []func(*fake, *heard) bool{nil, slow} {
			r := drive(t, fake{changed: changed}, func(o *Options) { o.Timeout, o.Lint.RuleSet = 5*time.Second, ruleSet(t, rules) })
			if r.Decision != Conformant {
				t.Errorf("%s: %s %q", rules, r.Decision, r.Why)
			}
			all = append(all, fates(r))
		}
		for i, quick := range all[0] {
			if all[1][i] != quick {
				t.Errorf("%s: quick: %s, slow: %s", rules, quick, all[1][i])
			}
		}
	}
}

// A second process that does not answer initialize either proves nothing if the first has needed
// much of the time: the machine is slow.
func TestALateInitializeOfASlowMachineIsNoFault(t *testing.T) {
	t.Parallel()
	for first, want := range map[time.Duration]Status{time.Second: Failed, 6 * time.Second: NotPlayed} {
		r := drive(t, fake{changed: func(f *fake, m *heard) bool {
			if m.Method != "initialize" {
				return false
			}
			if f.starts.Load() == 1 {
				f.work(first)
				return false
			}
			return true
		}}, func(o *Options) { o.Steps = []string{"initialize", "initialize-bare"} })
		if o := r.Outcomes[1]; o.Status != want || want == NotPlayed && !strings.Contains(o.Text, "20s have passed, and the first was answered in 6s; --timeout gives it more time") {
			t.Errorf("the first took %v: %s", first, o.String())
		}
	}
}

// What an agent says when it has opened a session is not taken for work on the turn, so it is not
// cancelled before it has begun.
func TestATurnIsCancelledOnlyWhenTheAgentWorks(t *testing.T) {
	t.Parallel()
	r := drive(t, fake{changed: func(f *fake, m *heard) bool {
		switch m.Method {
		case "session/new":
			f.handle(m)
			f.mu.Lock()
			opened := fmt.Sprintf("s%d", f.opened)
			f.mu.Unlock()
			f.say(opened, "Welcome.")
			return true
		case "session/prompt":
			go func() {
				f.work(time.Second) // until then a cancel is lost
				f.handle(m)
			}()
			return true
		}
		return false
	}}, func(o *Options) { o.Steps = []string{"cancel", "close-busy", "shutdown-busy"} })
	if passed := statuses(r, Passed); len(passed) != 3 {
		t.Errorf("passed: %q", passed)
	}
}

// An agent whose session takes no prompt after a cancel fails the step that is about it. The
// others are played.
func TestASessionThatIsBrokenByACancelFailsOneStep(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]string{"a cancel of a question": "ask", "a cancel of a turn": "busy"} {
		for rules, failed := range map[string][]string{"latest": {"cancel-then-prompt"}, "2026-11": nil} {
			broken := map[string]bool{}
			at := map[string]string{} // what a session was asked last
			r := drive(t, fake{changed: func(f *fake, m *heard) bool {
				id := m.Params.SessionID
				switch {
				case m.Method == "session/prompt" && broken[id]:
					f.refuse(m, -32603)
					return true
				case m.Method == "session/prompt":
					at[id] = m.prompt()
				case m.Method == "session/cancel" && at[id] == breaks:
					broken[id] = true
				}
				return false
			}}, func(o *Options) { o.Lint.RuleSet = ruleSet(t, rules) })
			if got := statuses(r, Failed); !slices.Equal(got, failed) {
				t.Errorf("%s, %s: failed: %q", name, rules, got)
			}
			if left := statuses(r, NotPlayed); rules == "latest" && len(left) > 0 {
				t.Errorf("%s: not played: %q", name, left)
			}
		}
	}
}
