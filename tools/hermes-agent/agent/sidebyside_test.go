package agent

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/mcp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// several is a model that makes all its calls in its first answer.
type several struct{ calls []model.Call }

func (s several) Complete(_ context.Context, r model.Request, on func(model.Delta)) (model.Reply, error) {
	if r.Messages[len(r.Messages)-1].Role == model.User {
		return model.Reply{Message: model.Message{Role: model.Assistant, Calls: s.calls}}, nil
	}
	on(model.Delta{Text: "well."})
	return model.Reply{Message: model.Message{Role: model.Assistant, Text: "well."}}, nil
}

// The editor, the disk, the store and a server serve several calls at once, and the user one.
func TestReadsOfAnAnswerRunSideBySide(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := newEditor(t)
	var calls []model.Call
	for i := range 20 {
		e.file(fmt.Sprintf("f%02d.txt", i), fmt.Sprintf("text %02d\n", i))
		calls = append(calls, model.Call{Name: "read", Arguments: fmt.Sprintf(`{"path":"f%02d.txt"}`, i)})
	}
	e.file(".env", "KEY=secret\n")
	calls = append(calls, model.Call{Name: "search", Arguments: `{"pattern":"text 1[0-9]"}`}, model.Call{Name: "own_look", Arguments: "{}"})
	for range 3 {
		calls = append(calls, model.Call{Name: "read", Arguments: `{"path":".env"}`})
	}
	e.model = several{calls}
	e.servers = []mcp.Server{{MCPServer: &acp.MCPServerStdio{Name: "own", Command: program, Env: []acp.EnvVariable{{Name: serveMCP, Value: "1"}}}, Setting: "mcp_servers.own", Allow: []string{"look"}}}
	var open atomic.Int32
	e.choose = func(*acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
		if open.Add(1) > 1 {
			t.Error("two questions are open")
		}
		defer open.Add(-1)
		return agentkit.OptionOnce, nil
	}
	id := e.start().open()
	got := e.play(id, "look", acp.StopReasonEndTurn)
	if strings.Count(got, "  completed") != len(calls) || !strings.Contains(got, "text 19") || !strings.Contains(got, "seen by look") || len(e.asked) != 3 {
		t.Errorf("%d questions\n%s", len(e.asked), got)
	}
	// The results are stored in the order of the calls.
	e.start()
	if _, err := e.LoadSession(t.Context(), e.agent, &acp.LoadSessionRequest{SessionID: id, Cwd: e.dir}); err != nil {
		t.Fatal(err)
	}
	shown := e.take()
	for i := range 19 {
		if strings.Index(shown, fmt.Sprintf("call Read f%02d.txt", i)) > strings.Index(shown, fmt.Sprintf("call Read f%02d.txt", i+1)) {
			t.Errorf("call %d is shown too late:\n%s", i, shown)
		}
	}
}
