package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/test/llm"
)

// work is what the scripted model does in tests of clients.
const work = `THINK let me see
CALL todo {"items":[{"content":"edit","status":"in_progress"}]}
CALL read {"path":"a.txt"}
CALL edit {"path":"a.txt","old":"two","new":"2"}
CALL terminal {"command":"rm -rf gone; cat a.txt"}
SAY that is it. `

// hermesAgent is hermes-agent in a project, with its traffic recorded.
func hermesAgent(t *testing.T) (env environment, project string, command []string) {
	t.Helper()
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	env = environment{hermes: build(t), model: model.URL, home: realTempDir(t), npm: os.Getenv("HERMES_AGENTS"), recording: filepath.Join(t.TempDir(), "traffic.jsonl")}
	project = realTempDir(t)
	writeFile(t, filepath.Join(project, "a.txt"), "one\ntwo\n")
	l := agents["hermes"](t, env)
	return env, project, env.recorded(append([]string{l.Command}, l.Args...)...)
}

// drive runs a client in the project of hermes-agent and returns what it printed.
func drive(t *testing.T, env environment, project string, args ...string) []byte {
	t.Helper()
	ctx := patience.Context(t, patience.Turn)
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Dir, cmd.Env = project, append(os.Environ(), "HOME="+env.home, "XDG_CONFIG_HOME="+env.home)
	for name, value := range agents["hermes"](t, env).Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	prompts, err := json.Marshal([]string{work, "SLOW 1000", "SAY still here"})
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(cmd.Env, "PROMPTS="+string(prompts))
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, complaints.String())
	}
	if b, err := os.ReadFile(filepath.Join(project, "a.txt")); err != nil || string(b) != "one\n2\n" {
		t.Errorf("a.txt has %q, %v\n%s", b, err, out)
	}
	lintClean(t, env.recording, lint.Agent)
	return out
}

func TestTheOfficialClientDrivesHermesAgent(t *testing.T) {
	t.Parallel()
	env, project, command := hermesAgent(t)
	script, err := filepath.Abs("../agents/sdk-tour.mjs")
	if err != nil {
		t.Fatal(err)
	}
	out := drive(t, env, project, append([]string{script, env.packages(t), project}, command...)...)
	var seen struct {
		Tour, Cancelled, Again string
		Text                   string
		Asked, Reads, Writes   int
		Commands               []string
		Updates                map[string]int
		Unknown, Exit          int
	}
	if err := json.Unmarshal(out, &seen); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if seen.Tour != "end_turn" || seen.Cancelled != "cancelled" || seen.Again != "end_turn" || seen.Exit != 0 || seen.Unknown != -32601 {
		t.Errorf("%s", out)
	}
	if seen.Asked != 2 || seen.Reads != 2 || seen.Writes != 1 || len(seen.Commands) != 1 || !strings.Contains(seen.Text, "still here") {
		t.Errorf("%s", out)
	}
	for _, kind := range []string{"agent_thought_chunk", "agent_message_chunk", "plan", "tool_call", "tool_call_update", "available_commands_update", "session_info_update"} {
		if seen.Updates[kind] == 0 {
			t.Errorf("no %s: %s", kind, out)
		}
	}
}

func TestAcpxDrivesHermesAgent(t *testing.T) {
	t.Parallel()
	env, project, command := hermesAgent(t)
	out := string(drive(t, env, project, filepath.Join(env.packages(t), "acpx", "dist", "cli.js"), "--approve-all", "--agent", strings.Join(command, " "), "exec", work))
	for _, want := range []string{"[tool] Read a.txt (completed)", "[tool] Edit a.txt (completed)", "(completed)\n  kind: execute", "that is it.", "[done] end_turn"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
