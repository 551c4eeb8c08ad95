package lint

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// RuleSet is the rules as they were in one month. Judged by it, what passed then passes
// now: it has no rule that came later, a rule has the severity and the profile that it had
// then, and a check that has become stricter asks Checker.Since. The same goes for the
// steps of hermes lint run and agent. The shapes of messages are not part of it: they
// always come from today's schemas. A RuleSet is immutable.
type RuleSet struct {
	Name   string // year and month, such as 2026-11
	rows   map[string]ruleRow
	tiers  map[string]string // of steps
	script string
}

// ruleRow is what a set has of a rule.
type ruleRow struct {
	severity Severity
	profile  Profile // the smallest that it is in
}

//go:embed rulesets/*.tsv rulesets/*.steps rulesets/*.script
var ruleSetFiles embed.FS

// ruleSets are the names of all sets, the oldest first.
var ruleSets = sync.OnceValue(func() (names []string) {
	files, _ := ruleSetFiles.ReadDir("rulesets")
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".tsv"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
})

// RuleSets are the names of all sets, the oldest first. The rules of today may differ from
// the newest set.
func RuleSets() []string { return slices.Clone(ruleSets()) }

// FindRuleSet returns a set by its name.
func FindRuleSet(name string) (*RuleSet, error) {
	text, err := ruleSetFiles.ReadFile("rulesets/" + name + ".tsv")
	if err != nil {
		return nil, fmt.Errorf("there are no rules of %q: want latest or %s", name, strings.Join(ruleSets(), ", "))
	}
	steps, err := ruleSetFiles.ReadFile("rulesets/" + name + ".steps")
	if err != nil {
		return nil, err
	}
	script, err := ruleSetFiles.ReadFile("rulesets/" + name + ".script")
	if err != nil {
		return nil, err
	}
	set := &RuleSet{Name: name, rows: map[string]ruleRow{}, tiers: map[string]string{}, script: string(script)}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		severity, err := ParseSeverity(f[1])
		if err != nil {
			return nil, err
		}
		set.rows[f[0]] = ruleRow{severity, Profile(f[2])}
	}
	for line := range strings.Lines(string(steps)) {
		step, tier, _ := strings.Cut(strings.TrimSpace(line), "\t")
		set.tiers[step] = tier
	}
	return set, nil
}

// Has reports whether a profile of the set includes a rule. Without a set it is
// Profile.Has.
func (s *RuleSet) Has(p Profile, r *Rule) bool {
	if s == nil {
		return p.Has(r)
	}
	row, ok := s.rows[r.ID]
	return ok && profileOrder(row.profile) <= profileOrder(p)
}

// Severity returns the severity of a rule in the set, or the rule's own if the
// set is nil.
func (s *RuleSet) Severity(r *Rule) Severity { return s.severity(r, 0) }

// severity returns the severity of a finding of a rule; 0 means the rule's own. It is
// at most the severity that the rule has in the set.
func (s *RuleSet) severity(r *Rule, of Severity) Severity {
	if of == 0 {
		of = r.Severity
	}
	if s == nil {
		return of
	}
	return min(of, s.rows[r.ID].severity)
}

func profileOrder(p Profile) int { return slices.Index([]Profile{Spec, Recommended, Strict}, p) }

// Tier is what the set says of a step, such as "run prompt" or "agent ASK": MANDATORY,
// CAPABILITY and so on, or nothing if it does not have the step.
func (s *RuleSet) Tier(step string) string { return s.tiers[step] }

// Steps are the names of all steps of the set, sorted.
func (s *RuleSet) Steps() []string { return slices.Sorted(maps.Keys(s.tiers)) }

// Script is what hermes lint agent played then if it was given no script.
func (s *RuleSet) Script() string { return s.script }

// Since reports whether the set is at least as new as a month, such as 2026-12. A nil one
// is.
func (s *RuleSet) Since(month string) bool { return s == nil || s.Name >= month }

// Since reports whether the connection is judged by rules that are at least as new as a
// month, such as 2026-12. A check that has become stricter reports what it did not report
// before only then.
func (c *Checker) Since(month string) bool { return c.linter.options.RuleSet.Since(month) }
