package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// A client on the official TypeScript SDK works with an agent of ours.
func TestTheOfficialClientDrivesTheDemoAgent(t *testing.T) {
	t.Parallel()
	env := environment{npm: os.Getenv("HERMES_AGENTS")}
	modules := env.packages(t)
	script, err := filepath.Abs("../agents/sdk-tour.mjs")
	if err != nil {
		t.Fatal(err)
	}
	workspace := realTempDir(t)
	env.hermes, env.recording = build(t), filepath.Join(t.TempDir(), "traffic.jsonl")
	ctx, cancel := context.WithTimeout(t.Context(), patience.Turn) // from here on: a build takes longer
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", append([]string{script, modules, workspace}, env.recorded(env.hermes, "demo-agent")...)...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		recorded, _ := os.ReadFile(env.recording) // says how far it came
		t.Fatalf("%v\n%s%s\n%s", err, out, complaints.String(), recorded[max(0, len(recorded)-4000):])
	}
	var seen struct {
		Version                int
		Tour, Cancelled, Again string
		Text                   string
		Asked, Reads, Writes   int
		Commands               []string
		Updates                map[string]int
		Failure, Unknown, Exit int
	}
	if err := json.Unmarshal(out, &seen); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if seen.Version != 1 || seen.Tour != "end_turn" || seen.Cancelled != "cancelled" || seen.Again != "end_turn" || seen.Exit != 0 {
		t.Errorf("%s", out)
	}
	if seen.Asked < 1 || seen.Reads < 1 || seen.Writes < 1 || len(seen.Commands) != 1 || !strings.Contains(seen.Text, "still here") {
		t.Errorf("%s", out)
	}
	for _, kind := range []string{"agent_thought_chunk", "plan", "tool_call", "tool_call_update", "available_commands_update"} {
		if seen.Updates[kind] == 0 {
			t.Errorf("no %s: %s", kind, out)
		}
	}
	if seen.Failure != -32603 || seen.Unknown != -32601 {
		t.Errorf("errors arrived as %d and %d", seen.Failure, seen.Unknown)
	}
	if b, err := os.ReadFile(filepath.Join(workspace, "hermes-demo.md")); err != nil || len(b) == 0 {
		t.Errorf("the tour wrote %q, %v", b, err)
	}
	lintClean(t, env.recording, lint.Agent)
}
