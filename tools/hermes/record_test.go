package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

func TestARecordedAgentLooksLikeItself(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"as it is": nil, "with folders renamed": {"--map", "/here=/there"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testRecordedAgent(t, flags)
		})
	}
}

func testRecordedAgent(t *testing.T, flags []string) {
	dir := t.TempDir()
	input := "no JSON\n\xff\xfe raw\r\n\n" + strings.Repeat("x", 200_000) + "\n{\"password\":\"hunter22\"}\nno end"
	args := append([]string{"record", "--out", "r.jsonl"}, flags...)
	cmd := hermes(t, dir, append(args, "--", "sh", "-c", "cat; printf 'to stderr' >&2; exit 7")...)
	cmd.Stdin = strings.NewReader(input)
	out, errs, status := end(t, cmd)
	if status != 7 || out != input || errs != "to stderr" {
		t.Errorf("%d, %d bytes, %q", status, len(out), errs)
	}
	rec := readRecording(t, filepath.Join(dir, "r.jsonl"))
	said := map[trace.Direction][]string{}
	for _, r := range rec.Records {
		said[r.Direction] = append(said[r.Direction], string(r.Bytes))
	}
	want := strings.Split(strings.ReplaceAll(input, "hunter22", "[redacted]"), "\n")
	for _, d := range []trace.Direction{trace.ToAgent, trace.ToClient} {
		if strings.Join(said[d], "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %.300q", d, said[d])
		}
	}
	if strings.Join(said[trace.Stderr], "|") != "to stderr" || strings.Join(said[trace.Note], "|") != "the client closed its side|the agent closed its side|exit status 7" {
		t.Errorf("%q", said)
	}
	if info, err := os.Stat(filepath.Join(dir, "r.jsonl")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestRawKeepsSecretsAndTheFileIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := hermes(t, dir, "record", "--raw", "--", "cat")
	cmd.Stdin = strings.NewReader("{\"password\":\"hunter22\"}\n")
	_, errs, status := end(t, cmd)
	path, ok := strings.CutPrefix(strings.TrimSpace(errs), "hermes record: writing ")
	if status != 0 || !ok || !strings.HasPrefix(path, dir) || !strings.Contains(readFile(t, path), "hunter22") {
		t.Errorf("%d, %s", status, errs)
	}
}

func TestSignalsAreForwardedAndDeathByOneIsPassedOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := hermes(t, dir, "record", "--out", "r.jsonl", "--", "sh", "-c", "trap 'echo got it; exit 9' TERM; echo ready; while :; do sleep 0.05; done")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	n, _ := out.Read(buf)
	cmd.Process.Signal(syscall.SIGTERM)
	m, _ := out.Read(buf[n:])
	cmd.Wait()
	if got := string(buf[:n+m]); got != "ready\ngot it\n" || cmd.ProcessState.ExitCode() != 9 {
		t.Errorf("%q, %v", got, cmd.ProcessState)
	}
	for signal, want := range map[string]syscall.Signal{"TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL} {
		cmd := hermes(t, dir, "record", "--out", "k-"+signal, "--", "sh", "-c", "kill -"+signal+" $$")
		_, errs, _ := end(t, cmd)
		if s := cmd.ProcessState.Sys().(syscall.WaitStatus); !s.Signaled() || s.Signal() != want {
			t.Errorf("%v, %s", cmd.ProcessState, errs)
		}
	}
	if _, errs, status := end(t, hermes(t, dir, "record", "--out", "r", "--", "no-such-agent")); status != 127 || !strings.Contains(errs, "cannot start no-such-agent") {
		t.Errorf("%d, %s", status, errs)
	}
}

// Killed at any time, the recorder leaves whole lines.
func TestAKilledRecorderLeavesAReadableRecording(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := hermes(t, dir, "record", "--out", "r.jsonl", "--", "sh", "-c", `while :; do echo '{"jsonrpc":"2.0","method":"tick"}'; done`)
	_, out := begin(t, cmd)
	if _, err := io.CopyN(io.Discard, out, 1<<20); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if rec := readRecording(t, filepath.Join(dir, "r.jsonl")); len(rec.Records) == 0 {
		t.Error("nothing was recorded")
	}
}

// A client works without knowing about the recorder, and either side of the
// recording can be played. The demo agent writes a file in the folder of its session.
func TestAnAgentThatKnowsFoldersByOtherNamesWorksInThem(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]func(here, there, agent string) []string{
		"run": func(here, there, agent string) []string {
			return append(demo("--approve", "all", "--map", here+"="+there, "go"), "--", self(t), "record", "--out", agent)
		},
		"record": func(here, there, agent string) []string {
			return append(demo("--approve", "all", "go"), "--", self(t), "record", "--out", filepath.Join(filepath.Dir(agent), "client.jsonl"), "--map", here+"="+there,
				"--", self(t), "record", "--out", agent)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here, recordings := t.TempDir(), t.TempDir()
			there, seen := filepath.Join(recordings, "there"), filepath.Join(recordings, "agent.jsonl")
			if err := os.Symlink(here, there); err != nil {
				t.Fatal(err)
			}
			cmd := hermes(t, here, append(args(here, there, seen), "--", self(t), "demo-agent")...)
			if out, errs, status := end(t, cmd); status != 0 || out != toured {
				t.Fatalf("%d\n%s%s", status, out, errs)
			}
			if text := readFile(t, filepath.Join(here, "hermes-demo.md")); !strings.Contains(text, "- visit 1\n") {
				t.Error(text)
			}
			for _, r := range readRecording(t, seen).Records {
				if text := string(r.Bytes); strings.Contains(text, here) && !strings.Contains(text, `"error":`) { // an error is text
					t.Errorf("the agent met %s in %s", here, text)
				}
			}
			if text := readFile(t, seen); !strings.Contains(text, there+"/hermes-demo.md") {
				t.Errorf("the agent never names its own folder:\n%s", text)
			}
			if name == "record" {
				for _, r := range readRecording(t, filepath.Join(recordings, "client.jsonl")).Records {
					text := strings.ReplaceAll(string(r.Bytes), `"command":"wc","cwd":"`+there, "") // the arguments of a tool stay
					if strings.Contains(text, there) {
						t.Errorf("the client met %s in %s", there, text)
					}
				}
			}
		})
	}
	_, errs, status := end(t, hermes(t, t.TempDir(), append(demo("--map", "here=/there", "go"), "--", self(t), "demo-agent")...))
	if status != statusUsage || !strings.Contains(errs, `"here" is not an absolute path`) {
		t.Errorf("%d, %s", status, errs)
	}
}

func TestARecordingCanReplaceTheAgent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "r.jsonl")
	recorder := []string{"--", self(t), "record", "--out", path, "--", self(t), "demo-agent"}
	run := append(demo("--approve", "all", "go"), recorder...)
	if out, errs, status := end(t, hermes(t, dir, run...)); status != 0 || out != toured {
		t.Fatalf("%d\n%s%s", status, out, errs)
	}
	elsewhere := t.TempDir()
	if out, errs, status := end(t, hermes(t, elsewhere, append(demo("--approve", "all", "go"), "--", self(t), "replay", "--speed", "50", path)...)); status != 0 || out != toured {
		t.Errorf("%d\n%s%s", status, out, errs)
	}
	if text := readFile(t, filepath.Join(elsewhere, "hermes-demo.md")); !strings.Contains(text, "- visit 1\n") {
		t.Error(text)
	}
	cmd := hermes(t, elsewhere, "replay", "--as", "client", "--cwd", t.TempDir(), path, "--", self(t), "demo-agent")
	if _, errs, status := end(t, cmd); status != 0 {
		t.Errorf("%d\n%s", status, errs)
	}
	cmd = hermes(t, elsewhere, "replay", "--as", "client", path, "--", "sh", "-c", "echo 'no key' >&2; exit 1")
	if _, errs, status := end(t, cmd); status != 1 || !strings.Contains(errs, "r.jsonl:3: expected the answer to initialize") || !strings.Contains(errs, "no key") {
		t.Errorf("%d\n%s", status, errs)
	}
}

func TestAnAgentWhoseOutputIsNotReadDoesNotHang(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	cmd := hermes(t, t.TempDir(), "record", "--out", "r.jsonl", "--", "sh", "-c", "yes; exit 4")
	cmd.Stdout = full
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(patience.Soon, func() { cmd.Process.Kill() })
	defer late.Stop()
	if cmd.Wait(); cmd.ProcessState.ExitCode() != 4 {
		t.Error(cmd.ProcessState)
	}
}

// A recording that ends inside a turn, because the agent died, plays as that.
func TestARecordingThatEndsInATurnEndsTheConnection(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "r.jsonl")
	if _, errs, status := end(t, hermes(t, dir, demo("--record", path, "demo", "go")...)); status != 0 {
		t.Fatal(status, errs)
	}
	text := readFile(t, path)
	at := strings.Index(text, `"agent_message_chunk"`)
	if err := os.WriteFile(path, []byte(text[:at]), 0o600); err != nil {
		t.Fatal(err)
	}
	run := append(demo("--timeout", "20s", "go"), "--", self(t), "replay", path)
	if _, errs, status := end(t, hermes(t, dir, run...)); status != 1 || !strings.Contains(errs, "connection closed") {
		t.Errorf("%d\n%s", status, errs)
	}
}
