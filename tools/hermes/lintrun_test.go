package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/test/llm"
)

// ran is what a JSON report of hermes lint run says.
type ran struct {
	steps    map[string]string // status and text
	findings []string
	decision string
	why      string
}

func readRun(t *testing.T, text string) ran {
	t.Helper()
	r := ran{steps: map[string]string{}}
	for line := range strings.Lines(text) {
		var l struct {
			Step    *struct{ ID, Status, Text string }
			Finding *struct{ Rule, By, Severity, Text, Excerpt string }
			Verdict *struct {
				Decision string
				Why      []string
			}
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		switch {
		case l.Step != nil:
			r.steps[l.Step.ID] = strings.TrimSpace(l.Step.Status + " " + l.Step.Text)
		case l.Finding != nil && l.Finding.Severity == "error":
			r.findings = append(r.findings, l.Finding.Rule+" "+l.Finding.By+" "+l.Finding.Text+" "+l.Finding.Excerpt)
		case l.Verdict != nil:
			r.decision, r.why = l.Verdict.Decision, strings.Join(l.Verdict.Why, "; ")
		}
	}
	return r
}

// lintedRun runs hermes lint run with a report and returns that.
func lintedRun(t *testing.T, dir string, want int, args ...string) ran {
	t.Helper()
	out, errs, status := end(t, hermes(t, dir, append([]string{"lint", "run", "--format", "json"}, args...)...))
	if status != want {
		t.Errorf("exit status %d, want %d\n%s%s", status, want, out, errs)
	}
	return readRun(t, out)
}

func TestOurOwnAgentConforms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, errs, status := end(t, hermes(t, dir, "lint", "run", "--out", "r.jsonl", "--report", "x.jsonl", "--report", "x.txt", "--report", "x.html", "--", self(t), "demo-agent"))
	if status != 0 || errs != "" || !strings.HasSuffix(out, "\nVERDICT: CONFORMANT\n") || !strings.Contains(out, "PASS           MANDATORY      cancel  ") {
		t.Errorf("%d\n%s%s", status, out, errs)
	}
	r := readRun(t, readFile(t, filepath.Join(dir, "x.jsonl")))
	for _, id := range []string{"prompt", "permission-allow", "permission-reject", "permission-cancel", "cancel", "close-busy", "session-load", "shutdown-busy", "restart"} {
		if !strings.HasPrefix(r.steps[id], "PASS") {
			t.Errorf("%s: %s", id, r.steps[id])
		}
	}
	if len(r.findings) > 0 || r.decision != "CONFORMANT" {
		t.Errorf("%s, %q", r.decision, r.findings)
	}
	if text := readFile(t, filepath.Join(dir, "x.txt")); !strings.Contains(text, "  initialize  ") || !strings.Contains(text, "\nhermes-demo: ") || !strings.HasSuffix(text, "VERDICT: CONFORMANT\n") { // by the agent's own name
		t.Errorf("the text is\n%s", text)
	}
	if shown := timelines(t, filepath.Join(dir, "x.html")); len(shown) != 1 || strings.Count(shown[0], "begin, request initialize, answer initialize") < 3 || !strings.Contains(shown[0], "notification session/cancel") {
		t.Errorf("the timeline is %.2000q", shown)
	}
	// The recording has all connections, and the agent's messages have no errors there
	// either.
	out, _, _ = end(t, hermes(t, dir, "lint", "--format", "json", "r.jsonl"))
	for _, f := range readRun(t, out).findings {
		if strings.Contains(f, " agent ") {
			t.Errorf("in the recording: %s", f)
		}
	}
	if text := readFile(t, filepath.Join(dir, "r.jsonl")); strings.Count(text, `"direction":"meta"`) < 5 || !strings.Contains(text, "step cancel: ") {
		t.Error("the recording does not have the connections and steps")
	}
}

func TestTheExitStatusOfARunSaysHowItEnded(t *testing.T) {
	t.Parallel()
	own := []string{"--prompt", "SAY hi", "--permission-prompt", "ASK may I", "--cancel-prompt", "SAY busy\nWAIT", "--timeout", "20s", "--step", "initialize", "--step", "session-new", "--step", "prompt"}
	with := func(more []string, agent ...string) []string {
		return append(append(append([]string{}, own...), more...), append([]string{"--"}, agent...)...)
	}
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{with(nil, scenario(t, "SERVE")...), 0, `"decision":"CONFORMANT"`},
		{with([]string{"--step", "session-list-folder", "--step", "session-list"}, scenario(t, "SERVE")...), 1, "1 sessions are in a folder"},
		{with([]string{"--fail-on", "never", "--step", "session-list-folder"}, scenario(t, "SERVE")...), 0, `"decision":"NOT CONFORMANT"`},
		{with(nil, scenario(t, "SERVE locked")...), 2, "--auth-method with one of"},
		{with([]string{"--auth-method", "oauth"}, scenario(t, "SERVE locked")...), 2, "the login did not work"},
		{with(nil, scenario(t, "SERVE version")...), 1, "rules broken: INI04"}, // there is no version 9,
		{with(nil, "sh", "-c", "exit 3"), 1, "exit status 3"},
		{with(nil, "sh", "-c", "printf 'one\\ntwo\\n\\nthree\\n\\033four' >&2; exit 3"), 1, `exit status 3; stderr: two | three | \\x1bfour"`},
		{with(nil, "sh", "-c", "exec >&-; sleep 1; exit 3"), 1, "exit status 3"}, // the end of its output is seen first
		{with(nil, "sh", "-c", "echo usage: me; exit 0"), 1, "TR02"},
		{with(nil, "no-such-agent"), 2, "cannot start no-such-agent"},
		{[]string{"--"}, 2, "missing after --"},
		{[]string{"--step", "nothing", "--", "cat"}, 2, `there is no step "nothing"`},
		{[]string{"--step", "prompt-2", "--", "cat"}, 2, `there is no step "prompt-2"`}, // as there is one prompt
		{[]string{"--step", "session-nwe", "--", "cat"}, 2, `did you mean "session-new"?`},
		{[]string{"--timeout", "-1s", "--", "cat"}, 2, "--timeout"},
		{[]string{"--report", "x.pdf", "--", "cat"}, 2, `".pdf"`},
		{[]string{"--profile", "x", "--", "cat"}, 2, `profile "x"`},
	} {
		dir := t.TempDir()
		out, errs, status := end(t, hermes(t, dir, append([]string{"lint", "run", "--format", "json"}, c.args...)...))
		if status != c.status || !strings.Contains(out+errs, c.says) {
			t.Errorf("%q: exit status %d, want %d and %q\n%s%s", c.args, status, c.status, c.says, out, errs)
		}
	}
}

// People test what they are writing: a program in the folder that they are in.
func TestAnAgentIsStartedInTheFolderOfTheCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "my-agent")
	write(t, program, `#!/bin/sh
read -r line
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":'"${1:-1}"',"agentInfo":{"name":"mine","version":"1"},"agentCapabilities":{}}}'
cat >/dev/null
`)
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"./my-agent":    "PASS mine 1",
		"sh my-agent":   "PASS mine 1",
		"sh my-agent 2": "not exercised the agent speaks version 2 of the protocol, and these steps are of version 1",
	} {
		cmd := hermes(t, dir, append([]string{"lint", "run", "--fail-on", "never", "--format", "json", "--step", "initialize", "--"}, strings.Fields(args)...)...)
		out, errs, _ := end(t, cmd)
		if got := readRun(t, out).steps["initialize"]; got != want {
			t.Errorf("%s: %s\n%s", args, got, errs)
		}
	}
}

func TestPromptsMayBeFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "one.txt"), "TOUCH one.mark 1\n")
	write(t, filepath.Join(dir, "two.txt"), "TOUCH two.mark 2\n")
	r := lintedRun(t, dir, 0, append([]string{"--cwd", ".", "--prompt", "one.txt", "--prompt", "two.txt", "--step", "prompt", "--step", "prompt-2", "--"}, scenario(t, "SERVE")...)...)
	if readFile(t, filepath.Join(dir, "one.mark")) != "1" || readFile(t, filepath.Join(dir, "two.mark")) != "2" || !strings.HasPrefix(r.steps["prompt-2"], "PASS") {
		t.Errorf("%q", r.steps)
	}
}

// An agent on the official SDK, and a published one with a scripted model: what they are
// blamed for is true.
func TestRunsOfForeignAgentsHaveNoFalseFindings(t *testing.T) {
	t.Parallel()
	t.Run("sdk", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		args := append([]string{"--cwd", ".", "--prompt", "SAY hello", "--permission-prompt", "WRITE " + filepath.Join(dir, "a.txt") + " hello", "--cancel-prompt", "SLOW 300", "--"}, sdkAgent(t)...)
		r := lintedRun(t, dir, 0, args...)
		if r.decision != "CONFORMANT" || len(r.findings) > 0 {
			t.Errorf("%s (%s) %q", r.decision, r.why, r.findings)
		}
		for _, id := range []string{"prompt", "permission-allow", "permission-reject", "permission-cancel", "cancel", "restart"} {
			if !strings.HasPrefix(r.steps[id], "PASS") {
				t.Errorf("%s: %s", id, r.steps[id])
			}
		}
	})
	t.Run("claude", func(t *testing.T) {
		t.Parallel()
		sdkAgent(t) // skips without the packages
		model, err := llm.Start()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { model.Close() })
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		file, err := json.Marshal(map[string]string{"file_path": filepath.Join(dir, "a.txt"), "content": "hello"})
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"--cwd", dir, "--timeout", "50s", "--prompt", "SAY hello", "--permission-prompt", "CALL Write " + string(file), "--cancel-prompt", "SLOW 300"}
		for _, id := range []string{"initialize", "session-new", "prompt", "permission-cancel", "cancel", "cancel-then-prompt", "string-id", "custom-method"} {
			args = append(args, "--step", id)
		}
		args = append(args, "--", "env", "-u", "IS_SANDBOX", "HOME="+t.TempDir(), "ANTHROPIC_BASE_URL="+model.URL, "ANTHROPIC_API_KEY=none",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
			filepath.Join(os.Getenv("HERMES_AGENTS"), "node_modules/.bin/claude-code-acp"))
		out, errs, _ := end(t, hermes(t, dir, append([]string{"lint", "run", "--format", "json"}, args...)...))
		r := readRun(t, out)
		for _, f := range r.findings {
			if !strings.HasPrefix(f, "EXT01 agent the specification has dropped the member models") { // true
				t.Errorf("a finding: %s", f)
			}
		}
		for id, said := range r.steps {
			if strings.HasPrefix(said, "FAIL ") && id != "session-new" { // it has the member models
				t.Errorf("%s: %s\n%s", id, said, errs)
			}
		}
		if !strings.HasPrefix(r.steps["cancel"], "PASS") {
			t.Errorf("%q\n%s", r.steps, errs)
		}
	})
}

// A report is about who the other side says it is, and only otherwise about a command.
func TestAReportNamesTheOtherSideAsItNamesItself(t *testing.T) {
	t.Parallel()
	agent := func(info string) []string {
		return []string{"run", "--step", "initialize", "--report", "x.jsonl", "--", "sh", "-c", `read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1` + info + `}}'; echo noise; cat >/dev/null`}
	}
	client := func(info string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1` + info + "}}\nnoise\n"
	}
	for _, c := range []struct {
		args  []string
		stdin string
		want  string
	}{
		{agent(`,"agentInfo":{"name":"mine","version":"1"}`), "", "mine"},
		{agent(""), "", "sh"},
		{[]string{"agent", "--out", "x.jsonl"}, client(`,"clientInfo":{"name":"editor","version":"1"}`), "editor"},
		{[]string{"agent", "--out", "x.jsonl"}, client(""), "client"},
	} {
		dir := t.TempDir()
		cmd := hermes(t, dir, append([]string{"lint"}, c.args...)...)
		cmd.Stdin = strings.NewReader(c.stdin)
		end(t, cmd)
		findings, summaries := 0, 0
		for line := range strings.Lines(readFile(t, filepath.Join(dir, "x.jsonl"))) {
			var l struct {
				File             string
				Finding, Summary json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err)
			}
			findings, summaries = findings+min(len(l.Finding), 1), summaries+min(len(l.Summary), 1)
			if (l.Finding != nil || l.Summary != nil) && l.File != c.want {
				t.Errorf("%s: named %q, want %q", c.args[0], l.File, c.want)
			}
		}
		if findings == 0 || summaries != 1 {
			t.Errorf("%s: %d findings, %d summaries", c.args[0], findings, summaries)
		}
	}
}
