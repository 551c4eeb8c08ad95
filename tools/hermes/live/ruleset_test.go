package live

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/lint/report"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// ruleSet finds a set of rules; nil is latest.
func ruleSet(t *testing.T, name string) *lint.RuleSet {
	t.Helper()
	if name == "latest" {
		return nil
	}
	set, err := lint.FindRuleSet(name)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// A new step turns nobody red who has pinned a set of rules. It is not parallel, because
// it changes the steps of all runs.
func TestAFrozenSetPlaysNoNewStep(t *testing.T) {
	before := ends
	defer func() { ends = before }()
	ends = append(slices.Clone(ends), &step{id: "new", title: "The agent knows what is new.", tier: Mandatory,
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			_, err = d.call(ctx, "_new", object{})
			return err
		}})
	agent := fake{changed: func(f *fake, m *heard) bool {
		if m.Method == "_new" {
			f.write(`{"jsonrpc":"1.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID) // breaks RPC01, too
		}
		return m.Method == "_new"
	}}
	for _, c := range []struct {
		rules  string
		want   Decision
		errors bool
	}{{"latest", NotConformant, true}, {"2026-11", Conformant, false}} {
		r := drive(t, agent, func(o *Options) { o.Lint.RuleSet = ruleSet(t, c.rules) })
		played := slices.ContainsFunc(r.Outcomes, func(o Outcome) bool { return o.Step == "new" })
		if played != c.errors || r.Decision != c.want || r.Report.Errors > 0 != c.errors {
			t.Errorf("%s: played %v, %s %q, %d errors", c.rules, played, r.Decision, r.Why, r.Report.Errors)
		}
		if len(r.Outcomes) < 40 {
			t.Errorf("%s only %d steps were played", c.rules, len(r.Outcomes))
		}
	}
	none := func(func([]byte)) (*Agent, error) { return nil, errors.New("no agent") }
	_, err := Run(t.Context(), Options{Start: none, Prompts: []string{"x"}, Steps: []string{"new"}, Lint: lint.Options{RuleSet: ruleSet(t, "2026-11")}})
	if err == nil || err.Error() != `there is no step "new" in the rules of 2026-11` {
		t.Error("a new step that --step names:", err)
	}
}

// Nor does the agent that a client has: what the client does by itself, and the script.
func TestAFrozenSetAsksAClientForNothingNew(t *testing.T) {
	steps, script, missing := clientSteps, Script, verbs["MISSING"]
	defer func() { clientSteps, Script, verbs["MISSING"] = steps, script, missing }()
	clientSteps = append(slices.Clone(clientSteps), Outcome{Step: "new", Title: "The client does what is new.", Tier: Mandatory})
	Script = "SAY This is new.\n" + Script
	verbs["MISSING"] = &verb{Mandatory, missing.needs, missing.do} // it was advisory
	for _, rules := range []string{"latest", "2026-11"} {
		r := played1(t, "", ableClient, &client{rules: ruleSet(t, rules)}, nil)
		for name, is := range map[string]func(Outcome) bool{
			"step":   func(o Outcome) bool { return o.Step == "new" },
			"script": func(o Outcome) bool { return o.Title == "SAY This is new." },
			"tier":   func(o Outcome) bool { return strings.HasSuffix(o.Step, "-missing") && o.Tier == Mandatory },
		} {
			if has := slices.ContainsFunc(r.Outcomes, is); has != (rules == "latest") {
				t.Errorf("%s has the new %s: %v", rules, name, has)
			}
		}
		if len(r.Outcomes) < 25 {
			t.Errorf("%s there are only %d steps", rules, len(r.Outcomes))
		}
	}
}

// A step is never worth more with a set than it was when the set was frozen, and a step that
// is worth less today is worth less with every set.
func TestAFrozenSetKnowsNoHigherTier(t *testing.T) {
	t.Parallel()
	set := ruleSet(t, "2026-11")
	for _, c := range []struct {
		step        string
		today, want Tier
		has         bool
	}{
		{"run initialize-info", Mandatory, Advisory, true},
		{"run initialize-info", Advisory, Advisory, true},
		{"run initialize-info", Informational, Informational, true},
		{"agent initialize", Advisory, Advisory, true},
		{"agent WAIT", Mandatory, Informational, true},
		{"run new", Mandatory, "", false},
	} {
		if got, has := tierIn(set, c.step, c.today); got != c.want || has != c.has {
			t.Errorf("%s, which is %s today: %s, %v", c.step, c.today, got, has)
		}
	}
	if list := stepsIn(set, []*step{{id: "initialize-info", tier: Mandatory}}); len(list) != 1 || list[0].tier != Advisory {
		t.Errorf("%v", list)
	}
}

var freeze = flag.String("freeze", "", "write the steps of today as those of the set of this `MONTH`")

// sets is where the sets of rules are.
const sets = "../../../runtime/lint/rulesets/"

// tiersOfToday are the tiers of all steps, by the names that sets have for them.
func tiersOfToday() map[string]Tier {
	all := map[string]Tier{}
	for _, one := range (&stage{Options: Options{Prompts: []string{"a"}}}).steps() {
		all["run "+one.id] = one.tier
	}
	for _, one := range clientSteps {
		all["agent "+one.Step] = one.Tier
	}
	for name, verb := range verbs {
		all["agent "+name] = verb.tier
	}
	return all
}

// A step of a set is still there, under its name. A step that is gone would no longer be
// played for projects that pinned the set.
func TestAFrozenSetHasAllItsSteps(t *testing.T) {
	today := tiersOfToday()
	if *freeze != "" {
		var b []byte
		for _, name := range slices.Sorted(maps.Keys(today)) {
			b = fmt.Appendf(b, "%s\t%s\n", name, today[name])
		}
		if err := errors.Join(os.WriteFile(sets+*freeze+".steps", b, 0o644), os.WriteFile(sets+*freeze+".script", []byte(Script), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Parallel()
	for _, name := range lint.RuleSets() {
		set := ruleSet(t, name)
		if len(set.Steps()) < 70 {
			t.Errorf("%s has only %d steps", name, len(set.Steps()))
		}
		for _, step := range set.Steps() {
			then := Tier(set.Tier(step))
			tier, ok := today[step]
			if !ok {
				t.Errorf("%s has the step %q, which is gone", name, step)
				continue
			}
			if now, ok := tierIn(set, step, tier); !ok || slices.Index(tiers, now) < slices.Index(tiers, then) || !slices.Contains(tiers, then) {
				t.Errorf("%s has %q as %s, and it is played as %s", name, step, then, now)
			}
		}
		parts, err := ParseScript(set.Script())
		if err != nil {
			t.Fatal(name, err)
		}
		for _, line := range slices.Concat(parts...) {
			verb, _, _ := strings.Cut(line.text, " ")
			if set.Tier("agent "+verb) == "" {
				t.Errorf("the script of %s says %q, and it does not have this step", name, line.text)
			}
		}
	}
}

// A hang in a step that is only recommended leaves the verdict open, which older sets do not know.
func TestAFrozenSetDoesNotCountAHangInWhatIsRecommended(t *testing.T) {
	t.Parallel()
	for rules, want := range map[string]Decision{"latest": Undecided, "2026-11": Conformant} {
		r := drive(t, fake{changed: func(_ *fake, m *heard) bool { return m.Method == unknownMethod }}, func(o *Options) {
			o.Lint.RuleSet, o.Timeout = ruleSet(t, rules), time.Second
		})
		open := slices.ContainsFunc(r.Run().Steps, func(s report.Step) bool { return s.Open && s.ID == "unknown-method" })
		if got := statuses(r, Failed); r.Decision != want || open != (want == Undecided) || len(got) != 1 || got[0] != "unknown-method" {
			t.Errorf("%s: %s %q, open %v, failed: %q", rules, r.Decision, r.Why, open, got)
		}
	}
}
