package appserver_test

import (
	"bufio"
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

// TestARecordedTurnSurvivesDecodingAndEncoding reads what codex and a client sent
// in a turn with approvals. Members that are null count as absent.
func TestARecordedTurnSurvivesDecodingAndEncoding(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/turn.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	asked := map[string]string{} // request -> method
	seen := map[string]bool{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Dir string
			Msg struct {
				ID     json.RawMessage
				Method string
				Params json.RawMessage
				Result json.RawMessage
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		m, side, other := line.Msg, acp.SideAgent, "s2c"
		if line.Dir == "s2c" {
			side, other = acp.SideClient, "c2s"
		}
		var v acp.Appender
		text := m.Params
		switch {
		case m.Method == "":
			if side == acp.SideAgent {
				side = acp.SideClient
			} else {
				side = acp.SideAgent
			}
			text = m.Result
			v, err = appserver.V2.DecodeResult(side, asked[other+string(m.ID)], text)
		case m.ID != nil:
			asked[line.Dir+string(m.ID)] = m.Method
			v, err = appserver.V2.DecodeRequest(side, m.Method, text)
		default:
			if _, used := appserver.V2.Method(side, m.Method); !used {
				continue
			}
			v, err = appserver.V2.DecodeNotification(side, m.Method, text)
		}
		if err != nil {
			t.Errorf("%v: %s", err, lines.Bytes())
			continue
		}
		seen[m.Method] = true
		if text == nil {
			text = json.RawMessage(`{}`)
		}
		if got, want := tree(t, v.AppendJSON(nil)), tree(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v\nwant %v", m.Method, got, want)
		}
	}
	for _, method := range []string{"", "turn/start", "turn/completed", "item/started", "item/commandExecution/requestApproval", "item/fileChange/requestApproval"} {
		if !seen[method] {
			t.Errorf("the recording has no %q", method)
		}
	}
}

// tree is a value without members that are null.
func tree(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var drop func(v any)
	drop = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				if e == nil {
					delete(v, k)
				}
				drop(e)
			}
		case []any:
			for _, e := range v {
				drop(e)
			}
		}
	}
	drop(v)
	return v
}

func TestWhatANewerCodexSaysIsKept(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"item":{"type":"hologram","id":"1","depth":3},"threadId":"t","turnId":"u","startedAtMs":1}`,
		`{"item":{"type":"agentMessage","id":"1","text":"x","phase":"epilogue","mood":"fine"},"threadId":"t","turnId":"u","startedAtMs":1,"more":[1]}`,
	} {
		v, err := appserver.V2.DecodeNotification(acp.SideClient, appserver.MethodItemStarted, json.RawMessage(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, want := tree(t, v.AppendJSON(nil)), tree(t, []byte(text)); !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}
