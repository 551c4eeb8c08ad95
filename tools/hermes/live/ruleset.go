package live

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// tierIn is what a step is worth with a set of rules, and whether the set has it. A set
// does not know that a step has become worth more.
func tierIn(set *lint.RuleSet, step string, today Tier) (Tier, bool) {
	if set == nil {
		return today, true
	}
	then := Tier(set.Tier(step))
	if then == "" {
		return "", false
	}
	return tiers[max(slices.Index(tiers, today), slices.Index(tiers, then))], true
}

// stepsIn returns those of some steps of an agent that a set of rules has.
func stepsIn(set *lint.RuleSet, groups ...[]*step) (list []*step) {
	for _, one := range slices.Concat(groups...) {
		if tier, ok := tierIn(set, "run "+one.id, one.tier); ok {
			as := *one
			as.tier = tier
			list = append(list, &as)
		}
	}
	return list
}

// CheckSteps returns an error if Steps or Without has a step that there is not, or if no step
// is left.
func (o *Options) CheckSteps() error {
	all := stage{Options: *o}
	all.Steps, all.Without = nil, nil
	var names []string
	for _, one := range all.steps() {
		names = append(names, one.id)
	}
	for _, id := range slices.Concat(o.Steps, o.Without) {
		if slices.Contains(names, id) {
			continue
		}
		hint := ""
		if near := jx.Near(id, names); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		if o.Lint.RuleSet != nil {
			return fmt.Errorf("there is no step %q in the rules of %s%s", id, o.Lint.RuleSet.Name, hint)
		}
		return fmt.Errorf("there is no step %q%s", id, hint)
	}
	if chosen := (&stage{Options: *o}); len(chosen.steps()) == 0 {
		return errors.New("no step is left to play")
	}
	return nil
}

// clientStepsIn returns those of clientSteps that a set of rules has.
func clientStepsIn(set *lint.RuleSet) (list []Outcome) {
	for _, one := range clientSteps {
		tier, ok := tierIn(set, "agent "+one.Step, one.Tier)
		if one.Tier = tier; ok {
			list = append(list, one)
		}
	}
	return list
}

// verbTier is what a line of a script is worth with a set of rules. A verb that the set
// does not have is there because the user wrote it.
func verbTier(set *lint.RuleSet, name string) Tier {
	if tier, ok := tierIn(set, "agent "+name, verbs[name].tier); ok {
		return tier
	}
	return verbs[name].tier
}

// ScriptOf is what is played with a set of rules, unless another script is given.
func ScriptOf(set *lint.RuleSet) string {
	if set == nil {
		return Script
	}
	return set.Script()
}
