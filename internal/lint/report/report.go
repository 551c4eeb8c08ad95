// Package report writes the outcome of a linter for people and programs. Each format
// is a file of its own.
package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// Outcome is what a command found out, and how it ends. All formats say the same.
type Outcome struct {
	Files []File
	// Fails is the severity from which findings fail; above lint.Error none does.
	Fails lint.Severity
	// Status is the exit status: 0 for passed, 1 for failed, and otherwise something could
	// not be judged. Why says so in a few words.
	Status int
	Why    string
}

// File is the outcome of one capture, or of a file that says how to judge captures.
type File struct {
	Name string
	*lint.Report
	Conversation *Conversation // nil if nobody recorded it
	Run          *Run          // nil unless one side was driven step by step
	Problem      string        // why it could not be judged, or not to its end
}

// Run is what the steps of a live judgement say.
type Run struct {
	Peer     string   `json:"peer,omitempty"` // name and version of the side that was judged
	Decision string   `json:"decision"`       // CONFORMANT, NOT CONFORMANT or UNDECIDED
	Why      []string `json:"why,omitempty"`
	Without  []string `json:"without,omitempty"` // steps that the user has left out
	Only     []string `json:"only,omitempty"`    // steps that were played, if the user has chosen some
	Steps    []Step   `json:"steps"`
	Broken   []Broken `json:"broken,omitempty"` // rules for which it does not conform
}

// Broken is a rule that was broken in a run, whatever step it was in.
type Broken struct {
	Rule    string `json:"rule"`
	Message int    `json:"message,omitempty"` // the first that breaks it; zero: none
}

// Step is a step of a run.
type Step struct {
	ID           string   `json:"id"`
	Title        string   `json:"title"`
	Tier         string   `json:"tier"`
	Status       string   `json:"status"`
	Text         string   `json:"text,omitempty"`
	Requirements []string `json:"requirements,omitempty"`
	Rules        []string `json:"rules,omitempty"`
	Failed       bool     `json:"failed,omitempty"`  // it makes the run fail
	Open         bool     `json:"open,omitempty"`    // it leaves the verdict open
	Message      int      `json:"message,omitempty"` // that shows why it failed; zero: none
}

// The exit statuses.
const (
	passed  = 0
	failed  = 1
	unknown = 2
)

// Sum says how a command ends that found this out about some files.
func Sum(files []File, fails lint.Severity) Outcome {
	o := Outcome{Files: files, Fails: fails}
	var problems, runs, open, parts []string
	var errors, warnings, infos int
	for i := range files {
		f := &files[i]
		if f.Problem == "" && f.Run == nil && f.isCapture() && f.isEmpty() {
			f.Problem = "there is nothing to judge in it"
		}
		if f.Problem != "" {
			problems = append(problems, clean(f.Name)+": "+clean(f.Problem))
		}
		errors, warnings, infos = errors+f.Errors, warnings+f.Warnings, infos+f.Infos
		if r := f.Run; r != nil {
			switch {
			case r.Decision == "CONFORMANT" && len(r.Only)+len(r.Without) > 0:
				parts = append(parts, r.String())
			case r.Decision == "NOT CONFORMANT" && fails <= lint.Error:
				runs = append(runs, r.String())
			case r.Decision == "UNDECIDED" && fails <= lint.Error:
				open = append(open, r.String())
			}
		}
	}
	found := map[lint.Severity]int{lint.Error: errors, lint.Warn: errors + warnings, lint.Info: errors + warnings + infos}[fails] > 0
	switch {
	case len(problems) > 0:
		o.Status, o.Why = unknown, strings.Join(problems, "; ")
	case len(runs) > 0:
		o.Status, o.Why = failed, strings.Join(runs, "; ")
	case found:
		o.Status, o.Why = failed, findings(errors, warnings, infos)
	case len(open) > 0:
		o.Status, o.Why = unknown, strings.Join(open, "; ")
	default:
		o.Why = strings.Join(parts, "; ")
	}
	return o
}

// String is one line for people.
func (o *Outcome) String() string {
	word := "not judged"
	switch o.Status {
	case passed:
		word = "passed"
	case failed:
		word = "failed"
	}
	if o.Why == "" {
		return word
	}
	return word + ": " + o.Why
}

// Verdict is the decision, and what it is not about.
func (r *Run) Verdict() string {
	text := r.Decision
	if len(r.Only) > 0 {
		text += " with only " + strings.Join(r.Only, ", ")
	}
	if len(r.Without) > 0 {
		text += " without " + strings.Join(r.Without, ", ")
	}
	return clean(text)
}

// String is the verdict and its reasons.
func (r *Run) String() string {
	if len(r.Why) == 0 {
		return r.Verdict()
	}
	return r.Verdict() + " (" + clean(strings.Join(r.Why, "; ")) + ")"
}

// says is what a step says about itself.
func (s *Step) says() string {
	parts := []string{}
	if s.Text != "" {
		parts = append(parts, clean(s.Text))
	}
	if len(s.Rules) > 0 {
		parts = append(parts, "rules: "+strings.Join(s.Rules, ", "))
	}
	return strings.Join(parts, "; ")
}

// isEmpty reports whether nothing in a capture could be judged.
func (f *File) isEmpty() bool {
	return f.Messages == f.Skipped && !slices.ContainsFunc(f.Verdicts, func(v *lint.Verdict) bool { return v.Exercised+v.Failed > 0 })
}

// isCapture reports whether a file has traffic.
func (f *File) isCapture() bool { return f.Connections > 0 }

// failures are the verdicts with findings, the worst first.
func (f *File) failures() []*lint.Verdict {
	var list []*lint.Verdict
	for _, v := range f.Verdicts {
		if v.Failed > 0 {
			list = append(list, v)
		}
	}
	slices.SortStableFunc(list, func(a, b *lint.Verdict) int { return cmp.Compare(worst(b), worst(a)) })
	return list
}

// worst is the highest severity among the findings of a rule.
func worst(v *lint.Verdict) lint.Severity { return v.Counts.Worst() }

// count says how many of the rules passed, failed and were not exercised.
func count(files []File) (passed, failed, unexercised int) {
	type state struct{ exercised, failed bool }
	rules := map[string]state{}
	for _, f := range files {
		if !f.isCapture() {
			continue
		}
		for _, v := range f.Verdicts {
			s := rules[v.Rule.ID]
			rules[v.Rule.ID] = state{s.exercised || v.Exercised > 0, s.failed || v.Failed > 0}
		}
	}
	for _, s := range rules {
		switch {
		case s.failed:
			failed++
		case s.exercised:
			passed++
		default:
			unexercised++
		}
	}
	return passed, failed, unexercised
}
