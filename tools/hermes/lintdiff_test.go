package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// Two runs have other ids, times and folders, but both sides say the same.
func TestTwoRunsOfOneScriptAreEqual(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, run := range []struct{ name, prompt string }{{"one", "hello"}, {"two", "hello"}, {"other", "goodbye"}} {
		if out, errs, status := end(t, hermes(t, t.TempDir(), "run", "--env", asHermes, "--approve", "all", "--record", filepath.Join(dir, run.name+".jsonl"), "demo", run.prompt)); status != 0 {
			t.Fatal(out, errs)
		}
	}
	out, errs, status := end(t, hermes(t, dir, "lint", "diff", "--profile", "strict", "one.jsonl", "two.jsonl"))
	if status != 0 || !strings.HasPrefix(out, "No differences in ") {
		t.Errorf("status %d:\n%s%s", status, out, errs)
	}
	out, errs, status = end(t, hermes(t, dir, "lint", "diff", "one.jsonl", "other.jsonl"))
	if status != 1 || !strings.Contains(out, "  ~ client: session/prompt (message ") || !strings.Contains(out, `        + "goodbye"`) {
		t.Errorf("status %d:\n%s%s", status, out, errs)
	}
}

func TestDiffSaysWhatIsDifferentAndExitsAccordingly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, bad := string(lint.Example("FS03", true)), string(lint.Example("FS03", false))
	write(t, filepath.Join(dir, "good.jsonl"), good)
	write(t, filepath.Join(dir, "bad.jsonl"), bad)
	write(t, filepath.Join(dir, "text"), "one\ntwo\n")
	for _, c := range []struct {
		args, stdin string
		status      int
		want        []string // in the output, in this order
	}{
		{"good.jsonl good.jsonl", "", 0, []string{"No differences in "}},
		{"good.jsonl -", good, 0, []string{"No differences in "}},
		{"- bad.jsonl", good, 1, []string{"/params/path", `+ "a.go"`, "+ error FS03", "1 new finding."}},
		{"bad.jsonl good.jsonl", "", 1, []string{"- error FS03", "1 gone finding."}},
		{"--max 1 --profile strict bad.jsonl good.jsonl", "", 1, []string{"- error FS03"}},
		{"--format json good.jsonl bad.jsonl", "", 1, []string{`{"change":"changed",`, `"pointer":"/params/path"`, `{"change":"new","count":1,"finding":{"rule":"FS03"`, `{"summary":{"messages":{"equal":`}},
		{"good.jsonl", "", 2, []string{"want two captures"}},
		{"- -", "", 2, []string{"only one of the captures"}},
		{"text good.jsonl", "", 2, []string{"text: text:1: not a line of a capture"}},
		{"good.jsonl none.jsonl", "", 2, []string{"none.jsonl: no such file"}},
		{"--format xml good.jsonl good.jsonl", "", 2, []string{`format "xml"`}},
		{"--profile loose good.jsonl good.jsonl", "", 2, []string{`profile "loose"`}},
		{"--ignore path good.jsonl bad.jsonl", "", 2, []string{"a pointer begins with /"}},
	} {
		cmd := hermes(t, dir, append([]string{"lint", "diff"}, strings.Fields(c.args)...)...)
		cmd.Stdin = strings.NewReader(c.stdin)
		out, errs, status := end(t, cmd)
		rest := out + errs
		for _, want := range c.want {
			at := strings.Index(rest, want)
			if at < 0 {
				t.Errorf("diff %s: no %q in\n%s%s", c.args, want, out, errs)
				break
			}
			rest = rest[at+len(want):]
		}
		if status != c.status {
			t.Errorf("diff %s: exit status %d, want %d\n%s%s", c.args, status, c.status, out, errs)
		}
		for line := range strings.Lines(out) {
			if strings.HasPrefix(c.args, "--format json") && !json.Valid([]byte(line)) {
				t.Errorf("diff %s: not JSON: %s", c.args, line)
			}
		}
	}
	// Without the value, only what the linter says about it is left.
	out, _, status := end(t, hermes(t, dir, "lint", "diff", "--ignore", "/params/path", "--ignore", "/result", "--ignore", "/error", "good.jsonl", "bad.jsonl"))
	if status != 1 || strings.Contains(out, "a.go") || !strings.Contains(out, "+ error FS03") {
		t.Errorf("status %d:\n%s", status, out)
	}
}
