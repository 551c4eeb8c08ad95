package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/terminal"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

const toured = "Hello! I keep a list of visits in hermes-demo.md. \nwc ended with status 0 and printed \"3 hermes-demo.md\". That was the tour; ask again for another line.\n"

func TestTextGoesToStdoutAndTheRestToStderr(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, errs, status := end(t, hermes(t, dir, demo("--approve", "all", "--record", "r.jsonl", "demo", "go")...))
	if status != 0 || out != toured {
		t.Errorf("%d\n%s\n%s", status, out, errs)
	}
	for _, want := range []string{"[allowed] Edit hermes-demo.md\n", "[completed] Edit hermes-demo.md\n", "[completed] wc -l hermes-demo.md\n"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is missing in\n%s", want, errs)
		}
	}
	if text := readFile(t, filepath.Join(dir, "hermes-demo.md")); !strings.Contains(text, "- visit 1\n") {
		t.Error(text)
	}
	rec := readRecording(t, filepath.Join(dir, "r.jsonl"))
	if rec.Meta.Program != "hermes run" || rec.Meta.Agent != "demo" || rec.Meta.Cwd != dir || len(rec.Records) < 30 {
		t.Errorf("%+v, %d records", rec.Meta, len(rec.Records))
	}
}

func TestQuietPrintsTheLastMessageAlone(t *testing.T) {
	t.Parallel()
	cmd := hermes(t, t.TempDir(), demo("--format", "quiet", "--approve", "all", "demo")...)
	cmd.Stdin = strings.NewReader("go\n")
	out, errs, status := end(t, cmd)
	if status != 0 || errs != "" || out != "wc ended with status 0 and printed \"3 hermes-demo.md\". That was the tour; ask again for another line.\n" {
		t.Errorf("%d\n%s\n%s", status, out, errs)
	}
}

// jsonLine is a line of the format json.
type jsonLine struct {
	event
	Update json.RawMessage
	Replay bool
}

func TestJSONIsOneObjectALineAndEvent(t *testing.T) {
	t.Parallel()
	out, errs, status := end(t, hermes(t, t.TempDir(), demo("--format", "json", "--approve", "all", "demo", "go")...))
	if status != 0 || errs != "" {
		t.Errorf("%d\n%s", status, errs)
	}
	var events []string
	var last jsonLine
	for line := range strings.Lines(out) {
		last = jsonLine{}
		if err := json.Unmarshal([]byte(line), &last); err != nil || !strings.HasPrefix(line, `{"event":"`) {
			t.Fatalf("%s: %v", line, err)
		}
		events = append(events, last.Event)
		if last.Event == "update" && (last.SessionID == "" || len(last.Update) == 0) || last.Event == "permission" && (last.Allowed == nil || !*last.Allowed) {
			t.Error(line)
		}
	}
	if last.StopReason != "end_turn" || *last.ExitStatus != 0 || *last.Denied != 0 || !slices.Contains(events, "session") || !slices.Contains(events, "permission") {
		t.Errorf("%v\n%s", events, out)
	}
}

// The agent asks before it writes here, as most agents do, with a file system of
// its own.
var asking = append(slices.Clone(hello),
	fromAgent(`"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"h\u001b[31mi"}}}`),
	fromAgent(`"id":0,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","title":"Look","kind":"read","locations":[{"path":"/w/a"}]},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}`),
	fromClient(`"id":0,"result":{}`),
	fromAgent(`"id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"d","title":"Look elsewhere","kind":"read","locations":[{"path":"/etc/passwd"}]},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}`),
	fromClient(`"id":1,"result":{}`),
	fromAgent(`"id":2,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"e","title":"Change","kind":"edit","locations":[{"path":"/w/a"}]},"options":[{"optionId":"a","name":"Always","kind":"allow_always"},{"optionId":"n","name":"No","kind":"reject_once"}]}`),
	fromClient(`"id":2,"result":{}`),
	fromAgent(`"id":3,"method":"terminal/create","params":{"sessionId":"s","command":"true"}`),
	fromClient(`"id":3,"result":{"terminalId":"t"}`),
	fromAgent(`"id":2,"result":{"stopReason":"end_turn"}`),
)

func TestApproveDecidesWhatTheAgentMayDo(t *testing.T) {
	t.Parallel()
	for approve, want := range map[string]struct {
		status int
		marks  string
	}{
		"--approve all":   {0, "[allowed] Look [allowed] Look elsewhere [allowed] Change"},
		"":                {statusDenied, "[allowed] Look [denied] Look elsewhere [denied] Change"},
		"--approve none":  {statusDenied, "[denied] Look [denied] Look elsewhere [denied] Change"},
		"--approve-all":   {0, "[allowed] Look [allowed] Look elsewhere [allowed] Change"},
		"--approve-reads": {statusDenied, "[allowed] Look [denied] Look elsewhere [denied] Change"},
		"--deny-all":      {statusDenied, "[denied] Look [denied] Look elsewhere [denied] Change"},
	} {
		args := slices.Concat([]string{"run"}, strings.Fields(approve), []string{"--env", asHermes, "--record", "r.jsonl", "x"}, script(t, asking...))
		dir := t.TempDir()
		out, errs, status := end(t, hermes(t, dir, args...))
		if got := strings.Join(strings.Fields(errs), " "); status != want.status || !strings.HasPrefix(got, want.marks) || out != "h[31mi\n" {
			t.Errorf("%s: %d\n%q\n%s", approve, status, out, errs)
		}
		for _, r := range readRecording(t, filepath.Join(dir, "r.jsonl")).Records {
			if want.status != 0 && r.Direction == trace.ToAgent && strings.Contains(string(r.Bytes), "terminalId") {
				t.Errorf("%s: %s", approve, r.Bytes)
			}
		}
	}
}

// Neither a question that the agent has taken back nor one of a cancelled turn is denied.
func TestOnlyADecisionDenies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		approve string
		cause   error // of the end of the question
		denied  int64
		shown   string
	}{
		"allowed":    {"all", nil, 0, "[allowed] Go on?\n"},
		"denied":     {"none", nil, 1, "[denied] Go on?\n"},
		"taken back": {"all", rpc.ErrRequestCancelled, 0, ""},
		"cancelled":  {"all", rpc.ErrSessionCancelled, 0, "[denied] Go on?\n"},
		"lost":       {"all", rpc.ErrClosed, 1, "[denied] Go on?\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var shown strings.Builder
			show, err := newDisplay("text", &stdio{out: &shown, err: &shown})
			if err != nil {
				t.Fatal(err)
			}
			turn := newTurn(&job{approve: c.approve, show: show})
			if err := turn.services(terminal.Options{}); err != nil {
				t.Fatal(err)
			}
			defer turn.Services.Close()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if c.cause != nil {
				cancel(c.cause)
			}
			_, err = turn.Services.RequestPermission(ctx, &acp.RequestPermissionRequest{
				SessionID: "s", ToolCall: acp.ToolCallUpdate{ToolCallID: "c", Title: acp.Some("Go on?")},
				Options: []acp.PermissionOption{{OptionID: "y", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce}, {OptionID: "n", Name: "No", Kind: acp.PermissionOptionKindRejectOnce}},
			})
			if denied := turn.denied.Load(); err != nil || denied != c.denied || shown.String() != c.shown {
				t.Errorf("%d denied, %v, and shown is %q", denied, err, shown.String())
			}
		})
	}
}

func TestTheStopReasonDecidesTheExitStatus(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]struct {
		status int
		text   string
	}{
		`"result":{"stopReason":"end_turn"}`:                          {0, ""},
		`"result":{"stopReason":"refusal"}`:                           {statusStopped, "the agent stopped: refusal"},
		`"result":{"stopReason":"max_tokens"}`:                        {statusStopped, "max_tokens"},
		`"result":{"stopReason":"cancelled"}`:                         {1, "cancelled the turn by itself"},
		`"error":{"code":-32603,"message":"model on fire"}`:           {1, "model on fire"},
		`"error":{"code":-32000,"message":"Authentication required"}`: {1, "log in to the agent first (its ways to log in: A key)"},
	} {
		args := append([]string{"run", "--env", asHermes, "x"}, script(t, append(slices.Clone(hello), fromAgent(`"id":2,`+answer))...)...)
		out, errs, status := end(t, hermes(t, t.TempDir(), args...))
		if status != want.status || !strings.Contains(errs, want.text) || out != "" {
			t.Errorf("%s: %d\n%s%s", answer, status, out, errs)
		}
	}
}

func TestTheTurnIsCancelledWhenItsTimeIsUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, errs, status := end(t, hermes(t, dir, demo("--timeout", "4s", "--record", "r.jsonl", "--format", "json", "demo", "/slow 1000")...))
	if status != statusTimeout || !strings.Contains(errs, "in time") || !strings.Contains(out, `"stopReason":"cancelled"`) {
		t.Errorf("%d\n%s\n%s", status, out, errs)
	}
	if text := readFile(t, filepath.Join(dir, "r.jsonl")); !strings.Contains(text, "session/cancel") {
		t.Error("the agent was not notified")
	}
}

// interrupt sends a signal each time the agent has printed the next of some
// words.
func interrupt(t *testing.T, args []string, words ...string) (said, errs string, status int, took time.Duration) {
	t.Helper()
	cmd := hermes(t, t.TempDir(), args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var problems strings.Builder
	cmd.Stderr = &problems
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var begin time.Time // of the last signal
	rest := 0
	for buf := make([]byte, 1024); err == nil; {
		var n int
		n, err = out.Read(buf)
		said += string(buf[:n])
		if len(words) > 0 && strings.Contains(said[rest:], words[0]) {
			rest, words = len(said), words[1:]
			begin = time.Now()
			cmd.Process.Signal(syscall.SIGINT)
		}
	}
	cmd.Wait()
	if len(words) > 0 {
		t.Errorf("the agent did not say %q", words)
	}
	return said, problems.String(), cmd.ProcessState.ExitCode(), time.Since(begin)
}

func TestAnInterruptCancelsTheTurn(t *testing.T) {
	t.Parallel()
	out, errs, status, _ := interrupt(t, demo("--format", "json", "demo", "/slow 1000"), "agent_message_chunk")
	if status != statusInterrupted || !strings.Contains(out, `"stopReason":"cancelled"`) {
		t.Errorf("%d\n%s\n%s", status, out, errs)
	}
}

// The agent gets the cancel and does nothing about it.
func TestASecondInterruptEndsAStubbornAgent(t *testing.T) {
	t.Parallel()
	says := func(word string) string {
		return fromAgent(`"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + word + `"}}}`)
	}
	stubborn := script(t, append(slices.Clone(hello), says("thinking"), fromClient(`"method":"session/cancel"`), says("no"), fromClient(`"method":"_never"`))...)
	best := cancelTime // which is what a single one takes
	for range 5 {      // because the machine may be busy
		_, errs, status, took := interrupt(t, append([]string{"run", "--env", asHermes, "x"}, stubborn...), "thinking", "no")
		if status != statusInterrupted {
			t.Fatalf("%d\n%s", status, errs)
		}
		if best = min(best, took); best < cancelTime*4/5 {
			return
		}
	}
	t.Errorf("after %v", best)
}

func TestASessionCanBeContinued(t *testing.T) {
	t.Parallel()
	past := fromAgent(`"method":"session/update","params":{"sessionId":"old","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"the past"}}}`)
	lines := []string{
		hello[0], hello[1], fromClient(`"id":1,"method":"session/load","params":{"cwd":"/w","sessionId":"old"}`), past, fromAgent(`"id":1,"result":{}`), hello[4],
		strings.Replace(past, "the past", "the present", 1), fromAgent(`"id":2,"result":{"stopReason":"end_turn"}`),
	}
	out, errs, status := end(t, hermes(t, t.TempDir(), append([]string{"run", "--session", "old", "--env", asHermes, "x"}, script(t, lines...)...)...))
	if status != 0 || out != "the present\n" {
		t.Errorf("%d\n%s%s", status, out, errs)
	}
	lines[1] = fromAgent(`"id":0,"result":{"protocolVersion":1}`)
	_, errs, status = end(t, hermes(t, t.TempDir(), append([]string{"run", "--session", "old", "--env", asHermes, "x"}, script(t, lines...)...)...))
	if status != 1 || !strings.Contains(errs, "neither load nor resume") {
		t.Errorf("%d\n%s", status, errs)
	}
}

func TestAnErrorSaysWhyAnAgentDidNotStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "config/hermes/agents.json"), `{"gone":{"command":"no-such-agent","install":"brew it"},"talker":{"command":"echo","args":["usage: talker"]}}`)
	for args, want := range map[string]string{
		"run gone x":                  "no-such-agent: executable file not found",
		"run --cwd . gone x":          "(to install it: brew it)",
		"run talker x":                "echo 'usage: talker': exited with status 0; stdout: usage: talker",
		"run --record /none/x gone x": "recording: open /none/x",
	} {
		if _, errs, status := end(t, hermes(t, dir, strings.Fields(args)...)); status != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d\n%s", args, status, errs)
		}
	}
}

func TestRunWithTheTypeScriptSDK(t *testing.T) {
	t.Parallel()
	agent := sdkAgent(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "new.txt")
	prompt := "SAY hello\nWRITE " + path + " some text\nREAD " + path + "\nRUN echo out"
	args := append([]string{"run", "--approve", "all", "--record", "r.jsonl", prompt, "--"}, agent...)
	out, errs, status := end(t, hermes(t, dir, args...))
	if status != 0 || !strings.Contains(out, "read: some text") || !strings.Contains(out, "exit 0: out") || !strings.Contains(errs, "[allowed] Run echo out") {
		t.Errorf("%d\n%s\n%s", status, out, errs)
	}
	if text := readFile(t, path); text != "some text\n" {
		t.Errorf("%q", text)
	}
	// The recording, played as the client, works with the same agent.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if out, errs, status := end(t, hermes(t, dir, append([]string{"replay", "--as", "client", "r.jsonl", "--"}, agent...)...)); status != 0 {
		t.Errorf("%d\n%s%s", status, out, errs)
	}
	// And played as the agent, it serves another client.
	args = []string{"run", "--env", asHermes, "--approve", "all", "--format", "quiet", "again", "--", self(t), "replay", filepath.Join(dir, "r.jsonl")}
	if out, errs, status := end(t, hermes(t, dir, args...)); status != 0 || !strings.Contains(out, "exit 0: out") {
		t.Errorf("%d\n%s%s", status, out, errs)
	}
}

func TestOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	for _, format := range []string{"text", "json", "quiet"} {
		cmd := hermes(t, t.TempDir(), demo("--format", format, "--approve", "all", "demo", "go")...)
		var errs strings.Builder
		cmd.Stdout, cmd.Stderr = full, &errs
		cmd.Run()
		if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%s: %v\n%s", format, cmd.ProcessState, errs.String())
		}
	}
}
