// Package report writes the outcome of a linter for people and programs. Each format
// is a file of its own.
package report

import (
	"cmp"
	"slices"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// File is the outcome of one capture, or of a file that says how to judge captures.
type File struct {
	Name string
	*lint.Report
	Conversation *Conversation // nil if nobody recorded it
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
func worst(v *lint.Verdict) lint.Severity {
	w := lint.Severity(0)
	for _, f := range v.Findings {
		w = max(w, f.Severity)
	}
	return w
}

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
