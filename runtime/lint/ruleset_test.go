package lint

import (
	"strings"
	"testing"
)

// A set knows no rule that came later, nor that a rule has become more important.
func TestAFrozenSetOfRulesStaysWhatItWas(t *testing.T) {
	t.Parallel()
	set := &RuleSet{Name: "2026-11", rows: map[string]ruleRow{"X01": {Warn, Strict}, "X02": {Error, Spec}}}
	stricter := 0
	rule := func(id string) *Rule {
		return &Rule{ID: id, Severity: Error, Strength: Must, Side: BySender, Versions: All, Check: func(c *Checker) {
			c.Message(func(m *Message) { c.Fail(m, Value{}, "wrong") })
			if c.Since("2026-12") {
				stricter++
			}
		}}
	}
	rules := []*Rule{rule("X01"), rule("X02"), rule("X03")}
	for _, c := range []struct {
		set     *RuleSet
		profile Profile
		want    string
		since   int
	}{
		{nil, Spec, "X01 error, X02 error, X03 error", 3},
		{set, Spec, "X02 error", 0},
		{set, Strict, "X01 warn, X02 error", 0},
		{&RuleSet{Name: "2027-01", rows: set.rows}, Strict, "X01 warn, X02 error", 2},
	} {
		o := Options{Profile: c.profile, RuleSet: c.set}
		stricter = 0
		for _, r := range rules {
			if o.uses(r) {
				o.Rules = append(o.Rules, r)
			}
		}
		l := New(o)
		l.Add(Record{From: Agent, Bytes: []byte(`{"jsonrpc":"2.0","method":"x"}`)})
		var got []string
		for _, v := range l.Report().Verdicts {
			got = append(got, v.Rule.ID+" "+v.Counts.Worst().String())
		}
		if strings.Join(got, ", ") != c.want || stricter != c.since {
			t.Errorf("%v %s: %q, %d checks are new", c.set, c.profile, got, stricter)
		}
	}
	if _, err := FindRuleSet("1999-01"); err == nil || !strings.Contains(err.Error(), "want latest or 2026-11") {
		t.Error(err)
	}
}
