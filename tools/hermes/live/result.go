package live

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/lint/report"
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
	NotPlayed    Status = "not played" // what the step needs first did not work
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
	Same         string         `json:"same,omitempty"`  // the step that failed with the same error
	Known        bool           `json:"known,omitempty"` // it failed, and does not count because that was known
	Again        []string       `json:"again,omitempty"` // rules of faults that are about another step, or that another step has shown before
	// Message is the message that shows why the step failed: the message of the first
	// finding of severity error, otherwise the last message. Zero: there was none.
	Message int `json:"message,omitempty"`

	shown bool // Message is the message of a finding
	open  bool // it leaves the verdict open, unless something failed
	hung  bool // a request was left without an answer, which leaves the verdict open whatever the step is worth
}

// found attaches a finding. One of severity error fails the step, unless the protocol is
// silent about it.
func (o *Outcome) found(f lint.Finding) {
	o.Findings = append(o.Findings, f)
	note(&o.Rules, f.Rule.ID)
	if f.Severity != lint.Error || o.Tier == Informational {
		return
	}
	if o.Status == Passed {
		o.Status = Failed
	}
	if o.Status == Failed && f.Message > 0 && !o.shown {
		o.Message, o.shown = f.Message, true
	}
}

// note adds a name that a list does not have.
func note(list *[]string, name string) {
	if !slices.Contains(*list, name) {
		*list = append(*list, name)
	}
}

// String is one line for people, and one for each rule that was broken badly.
func (o *Outcome) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-13s  %-13s  %-20s %s", o.Status, o.Tier, o.Step, o.Title)
	if len(o.Requirements) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(o.Requirements, ", "))
	}
	if o.Known {
		fmt.Fprintf(&b, "\n%33sit was known", "")
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

// The decisions. Undecided: a step that every agent has to pass was not exercised, or that of
// something that it offers could not be played, or the agent hung in something else.
const (
	Conformant    Decision = "CONFORMANT"
	NotConformant Decision = "NOT CONFORMANT"
	Undecided     Decision = "UNDECIDED"
)

// Result is what a run found out.
type Result struct {
	Name     string    `json:"-"`              // of the other side, as it says
	Peer     string    `json:"peer,omitempty"` // with its version
	Outcomes []Outcome `json:"-"`
	Decision Decision  `json:"decision"`
	Why      []string  `json:"why,omitempty"`
	// Without are the steps that the user has left out, and Only those that were played if the
	// user has chosen some.
	Without []string `json:"without,omitempty"`
	Only    []string `json:"only,omitempty"`
	Tiers   map[Tier]map[Status]int
	Report  *lint.Report `json:"-"` // of the messages of the other side

	broken []report.Broken // rules that the verdict is about
}

// decide sums up. Steps that were not exercised leave the verdict open if they are essential, or
// if all that are mandatory are.
func (r *Result) decide(o *lint.Options, mandatory bool, essential ...string) {
	r.Tiers = map[Tier]map[Status]int{}
	for _, t := range tiers {
		r.Tiers[t] = map[Status]int{}
	}
	var failed, rules []string
	var unknown reasons
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		r.Tiers[o.Tier][o.Status]++
		switch {
		case o.Known, o.Same != "": // the other step counts
		case o.Status == Failed && (o.Tier == Mandatory || o.Tier == Capability):
			failed = append(failed, o.Step)
		case o.Status == NotPlayed && (o.Tier == Mandatory || o.Tier == Capability):
			o.open = true
		case o.hung, o.Status == NotExercised && (mandatory && o.Tier == Mandatory || slices.Contains(essential, o.Step)):
			o.open = true
		}
		if o.open {
			unknown.add(o.Step, o.Text)
		}
	}
	for _, v := range r.Report.Verdicts {
		if v.Failed > 0 && o.RuleSet.Has(lint.Spec, v.Rule) && v.Counts[lint.Error] > 0 {
			rules = append(rules, v.Rule.ID)
			broken := report.Broken{Rule: v.Rule.ID}
			if i := slices.IndexFunc(v.Findings, func(f lint.Finding) bool { return f.Severity == lint.Error }); i >= 0 {
				broken.Message = v.Findings[i].Message
			}
			r.broken = append(r.broken, broken)
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
		r.Decision, r.Why = Undecided, unknown.list()
	default:
		r.Decision = Conformant
	}
}

// reasons are why steps were left open. An agent that hangs leaves many for one reason.
type reasons []struct {
	why   string
	steps []string
}

func (r *reasons) add(step, why string) {
	for i := range *r {
		if known := &(*r)[i]; known.why == why {
			known.steps = append(known.steps, step)
			return
		}
	}
	*r = append(*r, struct {
		why   string
		steps []string
	}{why, []string{step}})
}

// list says each reason once, after its steps.
func (r reasons) list() (text []string) {
	for _, known := range r {
		text = append(text, strings.Join(known.steps, ", ")+": "+known.why)
	}
	return text
}

// Run is the result for a report.
func (r *Result) Run() *report.Run {
	run := &report.Run{Peer: r.Peer, Decision: string(r.Decision), Why: r.Why, Without: r.Without, Only: r.Only, Broken: r.broken}
	for _, o := range r.Outcomes {
		counts := o.Tier == Mandatory || o.Tier == Capability
		run.Steps = append(run.Steps, report.Step{
			ID: o.Step, Title: o.Title, Tier: string(o.Tier), Status: string(o.Status), Text: o.Text, Requirements: o.Requirements, Rules: o.Rules, Message: o.Message,
			Failed: counts && o.Status == Failed && !o.Known,
			Open:   r.Decision == Undecided && o.open,
		})
	}
	return run
}

// Summary writes the tiers and the verdict for people.
func (r *Result) Summary(w io.Writer) error {
	for _, t := range tiers {
		n := r.Tiers[t]
		unplayed := ""
		if n[NotPlayed] > 0 {
			unplayed = fmt.Sprintf(", %d not played", n[NotPlayed])
		}
		if _, err := fmt.Fprintf(w, "%-13s  %d passed, %d failed, %d not exercised%s\n", t, n[Passed], n[Failed], n[NotExercised], unplayed); err != nil {
			return err
		}
	}
	why := ""
	if len(r.Why) > 0 {
		why = " (" + strings.Join(r.Why, "; ") + ")"
	}
	_, err := fmt.Fprintf(w, "VERDICT: %s%s\n", r.Run().Verdict(), why)
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
	return e.Encode(map[string]any{"verdict": map[string]any{"peer": r.Peer, "decision": r.Decision, "without": r.Without, "only": r.Only, "why": r.Why, "tiers": r.Tiers}})
}
