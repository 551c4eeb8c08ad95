package live

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// Tier says what a step is worth, with the names of the official test kit.
type Tier string

// The tiers.
const (
	Mandatory     Tier = "MANDATORY"     // every agent has to pass
	Capability    Tier = "CAPABILITY"    // who offers it has to pass
	Advisory      Tier = "ADVISORY"      // recommended
	Informational Tier = "INFORMATIONAL" // the protocol is silent; what happened is noted
)

var tiers = []Tier{Mandatory, Capability, Advisory, Informational}

// Status is how a step ended.
type Status string

// The statuses.
const (
	Passed       Status = "PASS"
	Failed       Status = "FAIL"
	NotExercised Status = "not exercised"
)

// Outcome is how a step ended.
type Outcome struct {
	Step         string         `json:"id"`
	Title        string         `json:"title"`
	Tier         Tier           `json:"tier"`
	Requirements []string       `json:"requirements,omitempty"` // of the official test kit
	Status       Status         `json:"status"`
	Text         string         `json:"text,omitempty"`  // why, or what was seen
	Findings     []lint.Finding `json:"-"`               // by the side that is tested
	Rules        []string       `json:"rules,omitempty"` // of the findings
}

// found attaches findings.
func (o *Outcome) found(list []lint.Finding) {
	o.Findings = list
	for _, f := range list {
		if !slices.Contains(o.Rules, f.Rule.ID) {
			o.Rules = append(o.Rules, f.Rule.ID)
		}
	}
}

// String is one line for people, and one for each rule that was broken badly.
func (o *Outcome) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-13s  %-13s  %-20s %s", o.Status, o.Tier, o.Step, o.Title)
	if len(o.Requirements) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(o.Requirements, ", "))
	}
	if o.Text != "" {
		fmt.Fprintf(&b, "\n%33s%s", "", o.Text)
	}
	seen := map[*lint.Rule]bool{}
	for _, f := range o.Findings {
		if f.Severity == lint.Error && !seen[f.Rule] {
			seen[f.Rule] = true
			fmt.Fprintf(&b, "\n%33s%s %s: %s (message %d)", "", f.Severity, f.Rule.ID, f.Text, f.Message)
		}
	}
	return b.String()
}

// Decision is what all steps say together.
type Decision string

// The decisions. Undecided: what every agent has to do could not be exercised.
const (
	Conformant    Decision = "CONFORMANT"
	NotConformant Decision = "NOT CONFORMANT"
	Undecided     Decision = "UNDECIDED"
)

// Result is what a run found out.
type Result struct {
	Peer     string    `json:"peer,omitempty"` // name and version of the other side, as it says
	Outcomes []Outcome `json:"-"`
	Decision Decision  `json:"decision"`
	Why      []string  `json:"why,omitempty"`
	Tiers    map[Tier]map[Status]int
	Report   *lint.Report `json:"-"` // of what the other side said
}

// decide sums up. Undecided are those whose essential steps were not exercised.
func (r *Result) decide(essential ...string) {
	r.Tiers = map[Tier]map[Status]int{}
	for _, t := range tiers {
		r.Tiers[t] = map[Status]int{}
	}
	var failed, rules, unknown []string
	for _, o := range r.Outcomes {
		r.Tiers[o.Tier][o.Status]++
		switch {
		case o.Status == Failed && (o.Tier == Mandatory || o.Tier == Capability):
			failed = append(failed, o.Step)
		case o.Status == NotExercised:
			for _, id := range essential {
				if o.Step == id {
					unknown = append(unknown, o.Step+": "+o.Text)
				}
			}
		}
	}
	for _, v := range r.Report.Verdicts {
		if v.Failed > 0 && lint.Spec.Has(v.Rule) && hasError(v.Findings) {
			rules = append(rules, v.Rule.ID)
		}
	}
	if len(failed) > 0 {
		r.Why = append(r.Why, "failed: "+strings.Join(failed, ", "))
	}
	if len(rules) > 0 {
		r.Why = append(r.Why, "rules broken: "+strings.Join(rules, ", "))
	}
	switch {
	case len(r.Why) > 0:
		r.Decision = NotConformant
	case len(unknown) > 0:
		r.Decision, r.Why = Undecided, unknown
	default:
		r.Decision = Conformant
	}
}

func hasError(list []lint.Finding) bool {
	for _, f := range list {
		if f.Severity == lint.Error {
			return true
		}
	}
	return false
}

// Summary writes the tiers and the verdict for people.
func (r *Result) Summary(w io.Writer) error {
	for _, t := range tiers {
		n := r.Tiers[t]
		if _, err := fmt.Fprintf(w, "%-13s  %d passed, %d failed, %d not exercised\n", t, n[Passed], n[Failed], n[NotExercised]); err != nil {
			return err
		}
	}
	why := ""
	if len(r.Why) > 0 {
		why = " (" + strings.Join(r.Why, "; ") + ")"
	}
	_, err := fmt.Fprintf(w, "VERDICT: %s%s\n", r.Decision, why)
	return err
}

// JSON writes the outcomes and the verdict for programs, one object a line.
func (r *Result) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, o := range r.Outcomes {
		if err := e.Encode(map[string]Outcome{"step": o}); err != nil {
			return err
		}
	}
	return e.Encode(map[string]any{"verdict": map[string]any{"peer": r.Peer, "decision": r.Decision, "why": r.Why, "tiers": r.Tiers}})
}
