package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/permission"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/approval"
)

// The questions of the agent say what rules of clients are about: the program with its
// arguments, the folder and the file.
func TestRulesOfTheClientAnswerTheQuestionsOfTheAgent(t *testing.T) {
	t.Parallel()
	rules, err := permission.Open("")
	if err != nil {
		t.Fatal(err)
	}
	if err := rules.Configure([]permission.Rule{
		{Action: permission.Allow, Command: []string{"rm", "-rf", "build"}},
		{Action: permission.Deny, Command: []string{"git", "push"}},
		{Action: permission.Allow, Kind: acp.ToolKindEdit, Path: "notes/**"},
		{Action: permission.Deny, Path: ".env*"},
	}); err != nil {
		t.Fatal(err)
	}
	e := newEditor(t)
	e.rules, e.choose = rules, choose(acp.PermissionOptionID(approval.Refused))
	e.start()
	if err := os.Mkdir(filepath.Join(e.dir, "notes"), 0o755); err != nil {
		t.Fatal(err)
	}
	id := e.open()
	for _, test := range []struct {
		tool      string
		arguments map[string]string
		asked     int
		done      bool
	}{
		{"terminal", map[string]string{"command": "rm -rf build"}, 0, true},
		{"process", map[string]string{"action": "start", "command": "rm -rf build"}, 0, true},
		{"terminal", map[string]string{"command": "rm -rf build/a"}, 1, false},
		{"terminal", map[string]string{"command": "rm -rf build && rm -rf src"}, 1, false},
		{"terminal", map[string]string{"command": "git push --force"}, 0, false},
		{"write", map[string]string{"path": "notes/a.md", "content": "x"}, 0, true},
		{"edit", map[string]string{"path": "notes/a.md", "old": "x", "new": "y"}, 0, true},
		{"write", map[string]string{"path": "notes/../b.md", "content": "x"}, 1, false},
		{"write", map[string]string{"path": ".env.local", "content": "x"}, 0, false},
		{"read", map[string]string{"path": ".env"}, 0, false},
	} {
		arguments, err := json.Marshal(test.arguments)
		if err != nil {
			t.Fatal(err)
		}
		e.asked = nil
		shown := e.play(id, "CALL "+test.tool+" "+string(arguments), acp.StopReasonEndTurn)
		if done := strings.Contains(shown, "\n  completed"); done != test.done || len(e.asked) != test.asked {
			t.Errorf("%s %s: done: %v, %d questions\n%s", test.tool, arguments, done, len(e.asked), shown)
		}
	}
}
