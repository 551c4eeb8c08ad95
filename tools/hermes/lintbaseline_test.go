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

// A method that the specification does not have is a fault of its own. Baselines that an
// older Hermes wrote do not name it, and hold for every method, as they did.
func TestABaselineKnowsWhichMethodIsUnknown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	notes := func(methods ...string) string {
		text := string(lint.Example("FS03", true))
		for _, m := range methods {
			text += `{"dir":"a2c","t":9000,"msg":{"jsonrpc":"2.0","method":"` + m + `","params":{}}}` + "\n"
		}
		return text
	}
	write(t, filepath.Join(dir, "one.jsonl"), notes("craft/step1"))
	write(t, filepath.Join(dir, "same.jsonl"), notes("craft/step2", "craft/step3"))
	write(t, filepath.Join(dir, "two.jsonl"), notes("craft/step1", "craft/queue"))
	write(t, filepath.Join(dir, "older"), `{"rule":"RPC18","by":"agent","pointer":"/method","text":"no version has this method"}`+"\n")
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"--output one.report.jsonl one.jsonl", 1, "error RPC18"},
		{"baseline -o newer one.report.jsonl", 0, ""},
		{"--baseline newer one.jsonl", 0, "Result: passed"},
		{"--baseline newer same.jsonl", 0, "Result: passed"},
		{"--baseline newer two.jsonl", 1, "1 error in 1 capture, 1 accepted"},
		{"--baseline older one.jsonl", 0, "Result: passed"},
		{"--baseline older two.jsonl", 0, "no findings in 1 capture, 2 accepted"},
	} {
		out, errs, status := end(t, hermes(t, dir, append([]string{"lint"}, strings.Fields(c.args)...)...))
		if status != c.status || !strings.Contains(out, c.want) {
			t.Errorf("lint %s: exit status %d, want %d and %q\n%s%s", c.args, status, c.status, c.want, out, errs)
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
	if out := run(0, "--baseline", "b"); !strings.Contains(out, "it was known") || !strings.HasSuffix(out, "VERDICT: CONFORMANT with only initialize, session-new, session-list-folder\n") {
		t.Error(out)
	}
}

// The same of a client.
func TestABaselineOfAClientKnowsItsSteps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "read.script"), "READ none.txt\n")
	write(t, filepath.Join(dir, "other.script"), "# a comment\nREAD none.txt\n")
	play := func(want int, args ...string) string {
		t.Helper()
		out, status := endForReader(t, hermes(t, dir, append([]string{"lint", "agent"}, args...)...))
		if status != want {
			t.Errorf("%q: exit status %d, want %d\n%s", args, status, want, out)
		}
		return out
	}
	play(1, "--out", "x.jsonl", "read.script")
	if _, errs, status := end(t, hermes(t, dir, "lint", "baseline", "-o", "b", "x.jsonl")); status != 0 {
		t.Fatal(status, errs)
	}
	if out := play(0, "--baseline", "b", "read.script"); !strings.Contains(out, "it was known") || !strings.HasSuffix(out, "VERDICT: CONFORMANT\n") {
		t.Error(out)
	}
	play(1, "--baseline", "b", "other.script") // the step has another name
}
