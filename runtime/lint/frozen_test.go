package lint_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

var freeze = flag.String("freeze", "", "write the rules of today, and what they find, as the set of this `MONTH`")

// foundBy is what a set of rules finds at worst in the captures of testdata, in near
// misses, in ways to break a rule, and in recordings: the rules and their severities.
func foundBy(t *testing.T, set *lint.RuleSet) map[string]map[string]lint.Severity {
	t.Helper()
	all := map[string]map[string]lint.Severity{}
	add := func(name string, r *lint.Report) {
		found := map[string]lint.Severity{}
		for _, v := range r.Verdicts {
			if s := v.Counts.Worst(); s > 0 {
				found[v.Rule.ID] = s
			}
		}
		name = strings.ReplaceAll(name, " ", "_")
		for all[name] != nil { // two ways to the same finding
			name += "_again"
		}
		all[name] = found
	}
	o := lint.Options{Profile: lint.Strict, RuleSet: set}
	for _, rule := range lint.Rules() {
		for _, name := range []string{"pass", "fail"} {
			add(rule.ID+"/"+name, judge(t, lint.Example(rule.ID, name == "pass"), o))
		}
	}
	for _, c := range nearMisses {
		add("near-miss/"+c.name, judgeScript(t, true, c.text, o))
	}
	for _, c := range ways {
		add("way/"+c.rule+"/"+c.finding, judgeScript(t, true, c.text, o))
	}
	recordings, err := filepath.Glob("../trace/testdata/*.jsonl")
	if err != nil || len(recordings) == 0 {
		t.Fatal("there are no recordings", err)
	}
	for _, name := range recordings {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		add("recording/"+filepath.Base(name), judge(t, text, o))
	}
	return all
}

// A frozen set of rules never finds more than when it was frozen: with it, a new
// version of this program turns nobody red. Checks that became stricter ask
// Checker.Since.
func TestAFrozenSetOfRulesFindsNothingNew(t *testing.T) {
	if *freeze != "" {
		if err := os.WriteFile("rulesets/"+*freeze+".tsv", ruleSet(), 0o644); err != nil {
			t.Fatal(err)
		}
		var b []byte
		found := foundBy(t, nil)
		for _, name := range slices.Sorted(maps.Keys(found)) {
			b = fmt.Appendf(b, "%s", name)
			for _, id := range slices.Sorted(maps.Keys(found[name])) {
				b = fmt.Appendf(b, " %s=%s", id, found[name][id])
			}
			b = append(b, '\n')
		}
		if err := os.WriteFile("rulesets/"+*freeze+".found", b, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Parallel()
	if len(lint.RuleSets()) == 0 {
		t.Fatal("there are no sets")
	}
	for _, name := range lint.RuleSets() {
		set, err := lint.FindRuleSet(name)
		if err != nil {
			t.Fatal(err)
		}
		golden, err := os.ReadFile("rulesets/" + name + ".found")
		if err != nil {
			t.Fatal(err)
		}
		found := foundBy(t, set)
		for line := range strings.Lines(string(golden)) {
			f := strings.Fields(line)
			before := map[string]lint.Severity{}
			for _, word := range f[1:] {
				id, severity, _ := strings.Cut(word, "=")
				if before[id], err = lint.ParseSeverity(severity); err != nil {
					t.Fatal(err)
				}
			}
			if found[f[0]] == nil {
				t.Errorf("%s was frozen with the capture %s, which is gone", name, f[0])
			}
			for id, s := range found[f[0]] {
				if s > before[id] {
					t.Errorf("the rules of %s find %s in %s, and did not: ask c.Since before the check that is new", name, id, f[0])
				}
			}
		}
	}
}

// ruleSet is the rules of today as a set: id, severity, and the smallest profile.
func ruleSet() (b []byte) {
	for _, r := range lint.Rules() {
		for _, p := range []lint.Profile{lint.Spec, lint.Recommended, lint.Strict} {
			if p.Has(r) {
				b = fmt.Appendf(b, "%s\t%s\t%s\n", r.ID, r.Severity, p)
				break
			}
		}
	}
	return b
}
