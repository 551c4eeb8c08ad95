package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/test/editors"
)

// The plugin, whose user says yes to everything, does all that the linter's agent asks,
// and breaks no rule.
func TestThePluginConforms(t *testing.T) {
	t.Parallel()
	hermes := build(t)
	for _, nvim := range editors.All(t) {
		t.Run(nvim.Version, func(t *testing.T) {
			t.Parallel()
			dir := realTempDir(t)
			report, recording := filepath.Join(t.TempDir(), "report.jsonl"), filepath.Join(t.TempDir(), "traffic.jsonl")
			run(t, nvim.Path, "lint_agent.lua", map[string]any{"hermes": hermes, "workspace": dir, "report": report, "recording": recording})
			lintHurried(t, recording, lint.Client)
			text, err := os.ReadFile(report)
			if err != nil {
				t.Fatal(err)
			}
			steps, decision := map[string]string{}, ""
			for line := range strings.Lines(string(text)) {
				var l struct {
					Step    *struct{ ID, Status, Text string }
					Finding *struct{ Severity string }
					Verdict *struct{ Decision string }
				}
				if err := json.Unmarshal([]byte(line), &l); err != nil {
					t.Fatalf("%v: %s", err, line)
				}
				switch {
				case l.Step != nil:
					steps[l.Step.ID] = l.Step.Status + " " + l.Step.Text
				case l.Verdict != nil:
					decision = l.Verdict.Decision
				case l.Finding != nil && l.Finding.Severity == "error":
					t.Errorf("a finding: %s", line)
				}
			}
			if decision != "CONFORMANT" {
				t.Errorf("the verdict is %q", decision)
			}
			for _, id := range []string{"hang-up", "7-ask", "8-write", "9-read", "10-missing", "11-run", "12-kill", "13-form", "15-withdraw", "16-refused", "22-big", "23-ask", "27-say"} {
				if !strings.HasPrefix(steps[id], "PASS") {
					t.Errorf("%s: %s", id, steps[id])
				}
			}
			if !strings.Contains(steps["13-form"], "accept") {
				t.Errorf("the form was not filled in: %s", steps["13-form"])
			}
		})
	}
}
