package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Our own client without an editor does all that the script asks, whatever it may do.
func TestOurOwnClientConforms(t *testing.T) {
	t.Parallel()
	for approve, passes := range map[string][]string{
		"all":   {"prompt", "hang-up", "7-ask", "8-write", "9-read", "10-missing", "11-run", "12-kill", "15-withdraw", "16-refused", "22-big", "23-ask"},
		"reads": {"prompt", "hang-up", "7-ask", "9-read", "10-missing"},
		"none":  {"prompt", "hang-up", "7-ask", "23-ask"},
	} {
		t.Run(approve, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := append(demo("--approve", approve, "go"), "--", self(t), "lint", "agent", "--record", "r.jsonl", "--out", "x.jsonl", "--out", "x.html")
			if _, errs, status := end(t, hermes(t, dir, args...)); status != 0 && (status != statusDenied || approve == "all") {
				t.Fatal(status, errs)
			}
			r := readRun(t, readFile(t, filepath.Join(dir, "x.jsonl")))
			if r.decision != "CONFORMANT" || len(r.findings) > 0 {
				t.Errorf("%s (%s) %q", r.decision, r.why, r.findings)
			}
			for _, id := range passes {
				if !strings.HasPrefix(r.steps[id], "PASS") {
					t.Errorf("%s: %s", id, r.steps[id])
				}
			}
			if shown := timelines(t, filepath.Join(dir, "x.html")); len(shown) != 1 || !strings.HasPrefix(shown[0], "request initialize, ") || !strings.Contains(shown[0], "answer session/request_permission") {
				t.Errorf("the timeline is %q", shown)
			}
			if rec := readRecording(t, filepath.Join(dir, "r.jsonl")); len(rec.Records) < 30 {
				t.Errorf("the recording has %d lines", len(rec.Records))
			}
		})
	}
}

// A client on the official SDK that does what the agent asks.
func TestTheOfficialClientConforms(t *testing.T) {
	t.Parallel()
	sdk := sdkAgent(t) // node, a script and the packages
	script, err := filepath.Abs("../../test/agents/sdk-tour.mjs")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), sdk[0], script, sdk[2], dir, self(t), "lint", "agent", "--out", filepath.Join(dir, "x.jsonl"))
	cmd.Env = append(os.Environ(), asHermes+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := readRun(t, readFile(t, filepath.Join(dir, "x.jsonl")))
	if r.decision != "CONFORMANT" || len(r.findings) > 0 {
		t.Errorf("%s (%s) %q", r.decision, r.why, r.findings)
	}
	for _, id := range []string{"hang-up", "7-ask", "8-write", "9-read", "10-missing", "11-run", "12-kill", "15-withdraw", "16-refused", "22-big", "23-ask"} {
		if !strings.HasPrefix(r.steps[id], "PASS") {
			t.Errorf("%s: %s", id, r.steps[id])
		}
	}
}

func TestAScriptIsPlayedAndMistakesInItAreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "my.script"), "SAY from a script\nSTOP max_tokens\n")
	write(t, filepath.Join(dir, "bad.script"), "SAY x\nDANCE\n")
	if out, errs, status := end(t, hermes(t, dir, append(demo("go"), "--", self(t), "lint", "agent", "--out", "x.txt", "my.script")...)); status != statusStopped || !strings.Contains(out, "from a script") {
		t.Errorf("%d\n%s%s", status, out, errs)
	}
	if text := readFile(t, filepath.Join(dir, "x.txt")); !strings.Contains(text, "1-say") || !strings.Contains(text, "VERDICT: CONFORMANT") {
		t.Error(text)
	}
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"bad.script", 2, `bad.script: line 2: there is no step "DANCE"`},
		{"none.script", 2, "none.script: no such file"},
		{"my.script bad.script", 2, `unexpected argument "bad.script"`},
		{"--timeout 0s", 2, "--timeout"},
		{"--show", 0, "ASK May I go on?"},
		{"--show --rules 2026-11", 0, "ASK Is the client still there?"},
		{"--show --rules 1999-01", 2, "want latest or 2026-11"},
		{"", 2, "VERDICT: UNDECIDED"},
	} {
		cmd := hermes(t, dir, append([]string{"lint", "agent"}, strings.Fields(c.args)...)...)
		cmd.Stdin = strings.NewReader("")
		out, errs, status := end(t, cmd)
		if status != c.status || !strings.Contains(out+errs, c.says) || c.args == "" && out != "" {
			t.Errorf("lint agent %s: %d\n%s%s", c.args, status, out, errs)
		}
	}
}

// endForReader runs hermes lint agent for a client that sends a prompt, offers to read
// files and cannot.
func endForReader(t *testing.T, cmd *exec.Cmd) (stderr string, status int) {
	t.Helper()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	in, out := begin(t, cmd)
	say := func(format string, args ...any) string {
		fmt.Fprintf(in, format+"\n", args...)
		return answer(t, out)
	}
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}}`)
	say(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
	asked := say(`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"lint-1","prompt":[{"type":"text","text":"go"}]}}`)
	var read struct{ ID json.RawMessage }
	if err := json.Unmarshal([]byte(asked), &read); err != nil {
		t.Fatalf("%v: %s", err, asked)
	}
	say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"not yet"}}`, read.ID)
	in.Close()
	io.Copy(io.Discard, out)
	cmd.Wait()
	return errs.String(), cmd.ProcessState.ExitCode()
}

// A client that kills its agent gets a report, too.
func TestASignalEndsThePlayWithAReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := hermes(t, dir, "lint", "agent", "--out", "x.jsonl")
	in, out := begin(t, cmd)
	in.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n"))
	answer(t, out)
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	r := readRun(t, readFile(t, filepath.Join(dir, "x.jsonl")))
	if !strings.HasPrefix(r.steps["initialize"], "PASS") || !strings.HasPrefix(r.steps["hang-up"], "not exercised") || r.decision != "UNDECIDED" {
		t.Errorf("%s %q", r.decision, r.steps)
	}
}
