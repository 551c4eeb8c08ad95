package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// A user who pins an agent wants to see the new faults of the next version, and not
// again the faults of this one.
func TestABaselineLeavesWhatIsNew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad := string(lint.Example("FS03", false)) // a read of a relative path
	write(t, filepath.Join(dir, "old.jsonl"), bad)
	write(t, filepath.Join(dir, "new.jsonl"), bad+`{"dir":"a2c","t":9000,"raw":"noise"}`+"\n")
	write(t, filepath.Join(dir, "good.jsonl"), string(lint.Example("FS03", true)))
	write(t, filepath.Join(dir, "half"), `{"rule":"FS03","by":"agent"}`+"\nnoise\n")
	for _, c := range []struct {
		args   string
		status int
		want   []string
	}{
		{"--profile spec --output old.report.jsonl old.jsonl", 1, []string{"error FS03"}},
		{"baseline -o old.baseline old.report.jsonl", 0, nil},
		{"--profile spec --baseline old.baseline old.jsonl", 0, []string{"no findings in 1 capture, 1 accepted", "Result: passed"}},
		{"--profile spec --baseline old.baseline new.jsonl", 1, []string{"!FS03", "error TR02", "1 error in 1 capture, 1 accepted"}},
		{"--profile spec --baseline old.baseline good.jsonl", 0, []string{"no findings", "1 of the findings in old.baseline are gone"}},
		{"--baseline half old.jsonl", 2, []string{"half:2: not a line of a baseline"}},
		{"--baseline none old.jsonl", 2, []string{"open none: no such file"}},
		{"baseline", 2, []string{"no report"}},
		{"baseline old.jsonl", 2, []string{"old.jsonl: not a report of hermes lint"}},
		{"baseline half", 2, []string{"half: invalid character"}},
	} {
		out, errs, status := end(t, hermes(t, dir, append([]string{"lint"}, strings.Fields(c.args)...)...))
		if status != c.status {
			t.Errorf("lint %s: exit status %d, want %d\n%s%s", c.args, status, c.status, out, errs)
		}
		for _, want := range c.want {
			if not, ok := strings.CutPrefix(want, "!"); ok == strings.Contains(out+errs, not) {
				t.Errorf("lint %s: %q in\n%s%s", c.args, want, out, errs)
			}
		}
	}
}

// A step that failed before does not fail the agent's next version.
func TestABaselineOfARunKnowsItsSteps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(want int, more ...string) string {
		t.Helper()
		args := append([]string{"lint", "run", "--prompt", "SAY hi", "--timeout", "20s", "--step", "initialize", "--step", "session-new", "--step", "session-list-folder"}, more...)
		out, errs, status := end(t, hermes(t, dir, append(append(args, "--"), scenario(t, "SERVE")...)...))
		if status != want {
			t.Errorf("%q: exit status %d, want %d\n%s%s", more, status, want, out, errs)
		}
		return out
	}
	run(1, "--report", "x.jsonl")
	if _, errs, status := end(t, hermes(t, dir, "lint", "baseline", "-o", "b", "x.jsonl")); status != 0 {
		t.Fatal(status, errs)
	}
	if out := run(0, "--baseline", "b"); !strings.Contains(out, "it was known") || !strings.HasSuffix(out, "VERDICT: CONFORMANT\n") {
		t.Error(out)
	}
}
