package e2e

import (
	"os"
	"slices"
	"testing"

	"github.com/hermes-nvim/hermes/internal/lint/capture"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// lintClean fails a test if one of our sides broke a rule in the traffic, even one of
// those that only the strict profile has.
func lintClean(t *testing.T, recording string, ours ...lint.Party) {
	t.Helper()
	lintAll(t, recording, lint.Options{Profile: lint.Strict}, ours)
}

// lintHurried is lintClean where a script allows things at once. That nobody can have
// read the question is what PER12 reports.
func lintHurried(t *testing.T, recording string, ours ...lint.Party) {
	t.Helper()
	lintAll(t, recording, lint.Options{Profile: lint.Strict, Severities: map[string]lint.Severity{"PER12": 0}}, ours)
}

func lintAll(t *testing.T, recording string, o lint.Options, ours []lint.Party) {
	t.Helper()
	file, err := os.Open(recording)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := capture.NewReader(recording, file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l := lint.New(o)
	if err := capture.Each(t.Context(), r, l.Add); err != nil {
		t.Error(err)
	}
	report := l.Report()
	if report.Messages < 6 {
		t.Errorf("the recording has only %d messages", report.Messages)
	}
	for _, v := range report.Verdicts {
		for _, f := range v.Findings {
			if slices.Contains(ours, f.By) {
				t.Errorf("%s %s by the %s, line %d %s: %s\n\t%s", f.Severity, f.Rule.ID, f.By, f.Line, f.Pointer, f.Text, f.Excerpt)
			}
		}
	}
}
