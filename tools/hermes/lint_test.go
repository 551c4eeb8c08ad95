package main

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

func TestLintSaysWhatIsWrongWithCapturesAndExitsAccordingly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, bad := string(lint.Example("FS03", true)), string(lint.Example("FS03", false))
	write(t, filepath.Join(dir, "good.jsonl"), good)
	write(t, filepath.Join(dir, "bad.jsonl"), bad)
	write(t, filepath.Join(dir, "warning.jsonl"), string(lint.Example("INI09", false)))
	write(t, filepath.Join(dir, "text"), "one\ntwo\n")
	write(t, filepath.Join(dir, "half.jsonl"), bad+"{\"dir\":7}\n")
	_, later, _ := strings.Cut(string(lint.Example("SES02", false)), "\n")
	write(t, filepath.Join(dir, "later.jsonl"), later)
	for name, example := range map[string][]byte{"lossy": lint.Example("EXT06", false), "faithful": lint.Example("EXT06", true)} {
		var near, far strings.Builder
		for line := range strings.Lines(string(example)) {
			if own := strings.Replace(line, `"beyond":true,`, "", 1); own != line {
				far.WriteString(own)
			} else {
				near.WriteString(line)
			}
		}
		write(t, filepath.Join(dir, name+".near"), near.String())
		write(t, filepath.Join(dir, name+".far"), far.String())
	}
	zipped, err := os.Create(filepath.Join(dir, "bad.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(zipped)
	if _, err := z.Write([]byte(bad)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"broken.toml":           "profile = \"loose\"\n",
		"accepting.toml":        "[[accept]]\nrule = \"FS03\"\nreason = \"known\"\nexpires = 2999-12-31\n",
		"expired.toml":          "fail-on = \"warn\"\n[severity]\nFS03 = \"info\"\n[[accept]]\nrule = \"FS03\"\nreason = \"known\"\nexpires = 2024-12-31\n",
		"low/.hermes-lint.toml": "[severity]\nFS03 = \"warn\"\n",
		"low/bad.jsonl":         bad,
		"empty.jsonl":           "",
		"old.toml":              "rules = \"1999-01\"\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	const finding = "error FS03"
	for _, c := range []struct {
		args, stdin string
		status      int
		want        []string // in the output, in this order; with ! not in it
	}{
		{"--profile spec good.jsonl", "", 0, []string{"good.jsonl: 8 messages, no findings", "no findings in 1 capture"}},
		{"--profile spec bad.jsonl", "", 1, []string{finding, "agent, message 6, line 6, /params/path: the path is not absolute", `"a.go"`, "1 error in 1 capture"}},
		{"--profile spec good.jsonl bad.jsonl bad.gz", "", 1, []string{"good.jsonl: ", "bad.jsonl: ", finding, "bad.gz: ", finding, "2 errors in 3 captures"}},
		{"-", bad, 1, []string{"-: ", finding}},
		{"", bad, 1, []string{finding}},
		{"--fail-on never bad.jsonl", "", 0, []string{finding}},
		{"warning.jsonl", "", 0, []string{"warn  INI09"}},
		{"--fail-on warn warning.jsonl", "", 1, []string{"warn  INI09"}},
		{"--profile spec --fail-on info warning.jsonl", "", 0, []string{"!INI09"}},
		{"--format json bad.jsonl", "", 1, []string{`{"file":"bad.jsonl","finding":{"rule":"FS03","severity":"error",`, `"summary":{`}},
		{"--output out.jsonl --output out.txt --output out.sarif --output out.xml --output out.md bad.jsonl", "", 1, []string{finding}},
		{"--format sarif bad.jsonl", "", 1, []string{`"version": "2.1.0"`, `"ruleId": "FS03"`}},
		{"--format junit --fail-on never bad.jsonl", "", 0, []string{`failures="0"`}},
		{"--format github bad.jsonl", "", 1, []string{"::error file=bad.jsonl,line=6,title=FS03 "}},
		{"--output out.doc bad.jsonl", "", 2, []string{`output out.doc: the extension is ".doc", want .txt`}},
		{"--output no/out.txt bad.jsonl", "", 2, []string{"no/out.txt: no such file"}},
		{"--profile spec --config accepting.toml bad.jsonl", "", 0, []string{"bad.jsonl: 8 messages, no findings", "no findings in 1 capture, 1 accepted."}},
		{"--config accepting.toml --format json bad.jsonl", "", 0, []string{`"accepted":1`}},
		{"--profile spec --config accepting.toml good.jsonl", "", 0, []string{"accepting.toml: 1 warning", "warn  ACC01", "    line 1: the entry for FS03 accepts nothing any more: remove it", "        known", "1 warning in 1 capture."}},
		{"--config expired.toml bad.jsonl", "", 1, []string{"info  FS03", "warn  ACC02", "expired on 2024-12-31"}},
		{"--config expired.toml --fail-on error bad.jsonl", "", 0, []string{"info  FS03", "warn  ACC02"}},
		{"low/bad.jsonl", "", 0, []string{"warn  FS03"}},
		{"--config none low/bad.jsonl", "", 1, []string{"error FS03"}},
		{"--config broken.toml bad.jsonl", "", 2, []string{`hermes lint: broken.toml:1: profile: profile "loose": want`}},
		{"--config missing.toml bad.jsonl", "", 2, []string{"missing.toml: no such file"}},
		{"--list --config low/.hermes-lint.toml", "", 0, []string{"FS03   warn  agent  1 "}},
		{"--explain ACC02", "", 0, []string{"ACC02: ", "after the date they count again"}},
		{"--format html bad.jsonl", "", 1, []string{"<!DOCTYPE html>", "Content-Security-Policy", `"rule":"FS03"`, "</html>"}},
		{"--output none.xml empty.jsonl", "", 2, []string{"empty.jsonl: 0 messages", "not judged: there is nothing to judge in it", "hermes lint: empty.jsonl: there is nothing to judge in it"}},
		{"", "", 2, []string{"not judged: -: there is nothing to judge in it"}},
		{"--fail-on never empty.jsonl good.jsonl", "", 2, []string{"Result: not judged: empty.jsonl"}},
		{"none.jsonl", "", 2, []string{"hermes lint: open none.jsonl: no such file"}},
		{"text", "", 2, []string{"hermes lint: text:1: not a line of a capture"}},
		{"text bad.jsonl none.jsonl", "", 2, []string{finding, "text:1: ", "none.jsonl: no such file"}},
		{"half.jsonl", "", 2, []string{finding, "half.jsonl:9: not a line of a capture"}},
		{"later.jsonl", "", 1, []string{"version of the protocol is not known", "error SES02"}},
		{"--protocol 1 later.jsonl", "", 1, []string{"!is not known", "error SES02"}},
		{"--list", "", 0, []string{"TR02   error agent  1,2a,2b The agent writes", "FS03   error agent  1 "}},
		{"--list --profile spec", "", 0, []string{"FS03 ", "!INI09"}},
		{"--list --rules 2026-11", "", 0, []string{"TR02   error agent  1,2a,2b The agent writes"}},
		{"--rules 2026-11 bad.jsonl", "", 1, []string{finding}},
		{"--rules latest bad.jsonl", "", 1, []string{finding}},
		{"--rules 1999-01 bad.jsonl", "", 2, []string{`there are no rules of "1999-01": want latest or 2026-11`}},
		{"--config old.toml bad.jsonl", "", 2, []string{`old.toml:1: rules: there are no rules of "1999-01"`}},
		{"--explain fs03", "", 0, []string{"FS03: The path", "strength  MUST", "https://agentclientprotocol.com/protocol/v1/file-system", "catalogue https://github.com/hermes-nvim/hermes/blob/main/docs/lint-rules.md#fs03\n", "fails:", "client ← agent", `"a.go"`, "passes:"}},
		{"--explain TR08", "", 0, []string{"TR08", "AAAA…"}},
		{"--explain EXT06", "", 0, []string{"proxy ← agent", `"kind":"_acme_paint"`, "client ← agent", `"kind":"other"`}},
		{"--beyond lossy.far lossy.near", "", 0, []string{"lossy.near: 10 messages", "warn  EXT06", "agent, message 9, line 9, /params/update/kind: the proxy changes \"_acme_paint\"", "1 warning in 1 capture."}},
		{"--fail-on warn --beyond lossy.far lossy.near", "", 1, []string{"warn  EXT06"}},
		{"--format json --beyond faithful.far faithful.near", "", 0, []string{`"EXT06":"pass"`}},
		{"--format json faithful.near", "", 0, []string{`"EXT06":"not exercised"`}},
		{"--beyond none.jsonl lossy.near", "", 2, []string{"open none.jsonl: no such file"}},
		{"--beyond text lossy.near", "", 2, []string{"text:1: not a line of a capture"}},
		{"--beyond lossy.far lossy.near good.jsonl", "", 2, []string{"--beyond: name one capture"}},
		{"--explain FS99", "", 2, []string{`there is no rule "FS99"`}},
		{"--profile loose good.jsonl", "", 2, []string{`profile "loose": want spec, recommended or strict`}},
		{"--fail-on bad good.jsonl", "", 2, []string{`severity "bad"`}},
		{"--format xml good.jsonl", "", 2, []string{`format "xml"`}},
		{"--protocol 3 good.jsonl", "", 2, []string{`protocol "3"`}},
	} {
		cmd := hermes(t, dir, append([]string{"lint"}, strings.Fields(c.args)...)...)
		cmd.Stdin = strings.NewReader(c.stdin)
		out, errs, status := end(t, cmd)
		rest := out + errs
		for _, want := range c.want {
			if not, ok := strings.CutPrefix(want, "!"); ok {
				if strings.Contains(rest, not) {
					t.Errorf("lint %s: there is %q in\n%s%s", c.args, not, out, errs)
				}
			} else if at := strings.Index(rest, want); at < 0 {
				t.Errorf("lint %s: no %q in\n%s%s", c.args, want, out, errs)
			} else {
				rest = rest[at+len(want):]
			}
		}
		if status != c.status {
			t.Errorf("lint %s: exit status %d, want %d\n%s%s", c.args, status, c.status, out, errs)
		}
	}
	for name, want := range map[string]string{"out.jsonl": `{"file":"bad.jsonl",`, "out.txt": "bad.jsonl: 8 messages", "out.sarif": "{\n \"$schema\"", "out.xml": `<?xml version="1.0"`, "out.md": "### hermes lint"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.HasPrefix(string(got), want) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

func TestLintAnnotatesByItselfInGitHubActions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "bad.jsonl"), string(lint.Example("FS03", false)))
	summary := filepath.Join(dir, "summary.md")
	write(t, summary, "before\n")
	for _, c := range []struct {
		args, summary string
		commands      bool
	}{{"bad.jsonl", summary, true}, {"bad.jsonl", filepath.Join(dir, "no", "summary"), true}, {"--format json bad.jsonl", summary, false}} {
		cmd := hermes(t, dir, append([]string{"lint", "--profile", "spec"}, strings.Fields(c.args)...)...)
		cmd.Env = append(cmd.Environ(), "GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY="+c.summary)
		out, errs, status := end(t, cmd)
		if status != 1 || strings.HasPrefix(out, "::stop-commands::") != c.commands || strings.Contains(out, "\n::error file=bad.jsonl,line=6,title=FS03 ") != c.commands {
			t.Errorf("lint %s: %d\n%s%s", c.args, status, out, errs)
		}
		if (c.summary != summary) != strings.Contains(errs, "summary of the job: ") {
			t.Errorf("lint %s with the summary %s: %s", c.args, c.summary, errs)
		}
	}
	if text := readFile(t, summary); !strings.HasPrefix(text, "before\n### hermes lint") || strings.Count(text, "FS03") != 1 {
		t.Errorf("the summary is\n%s", text)
	}
}

// This program, on both sides, breaks no rule, not even of the strict profile. With
// --approve all nobody reads the questions, and that is the only finding.
func TestOurOwnTrafficHasNoFindings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, c := range []struct{ args, prompt, finds string }{
		{"--approve none", "tour", ""},
		{"--approve reads", "tour", ""},
		{"--approve reads --mode read-only --option pace=calm", "hello", ""},
		{"--approve all", "tour", "PER12"},
	} {
		file := fmt.Sprintf("demo%d.jsonl", i)
		args := slices.Concat([]string{"run", "--env", asHermes, "--record", file}, strings.Fields(c.args), []string{"demo", c.prompt})
		if out, errs, status := end(t, hermes(t, dir, args...)); status != 0 && status != statusDenied {
			t.Fatal(c.args, out, errs)
		}
		out, errs, status := end(t, hermes(t, dir, "lint", "--profile", "strict", "--format", "json", file))
		if status != 0 || !strings.Contains(out, `"summary":{"messages":`) {
			t.Fatal(c.args, status, out, errs)
		}
		found := 0
		for line := range strings.Lines(out) {
			if strings.Contains(line, `"finding":`) {
				found++
				if c.finds == "" || !strings.Contains(line, `"rule":"`+c.finds+`"`) {
					t.Errorf("%s: a finding: %s", c.args, line)
				}
			}
		}
		if c.finds != "" && found == 0 {
			t.Errorf("%s: no %s", c.args, c.finds)
		}
	}
}

// Text of an agent is the same with and without colours, so no colour comes from it.
func TestLintShowsColoursToPeopleOnly(t *testing.T) {
	t.Parallel()
	dir := evilFolder(t)
	colours := regexp.MustCompile("\x1b\\[(0|2|1;3[1-6])m")
	var plain string
	for _, c := range []struct {
		env     []string
		colours bool
	}{{[]string{"NO_COLOR=1"}, false}, {[]string{"NO_COLOR=", "TERM=dumb"}, false}, {[]string{"NO_COLOR=", "TERM=xterm"}, true}} {
		cmd := hermes(t, dir, "lint", "evil.jsonl")
		cmd.Env = append(cmd.Env, c.env...)
		out := onPTY(t, cmd)
		if out == nil {
			t.Skip("no terminals here")
		}
		got := colours.ReplaceAll(out, nil)
		tame(t, c.env[0], got)
		if plain == "" {
			plain = string(got)
		}
		if colours.Match(out) != c.colours || string(got) != plain || !strings.Contains(plain, "error TR02") {
			t.Errorf("%v:\n%s", c.env, out)
		}
	}
}
