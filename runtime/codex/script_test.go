package codex_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/testcodex"
	"github.com/hermes-nvim/hermes/runtime/codex"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
	"github.com/hermes-nvim/hermes/runtime/launch"
)

// TestMain plays the app-server when a test has started it as one.
func TestMain(m *testing.M) {
	if script := os.Getenv(testcodex.ScriptEnv); script != "" {
		serve(script)
		return
	}
	os.Exit(leak.Main(m))
}

func serve(script string) {
	p := &testcodex.Peer{OnTurn: func(t *testcodex.Turn) {
		play := t.Text
		if rest, found := strings.CutPrefix(play, "then "); found { // a turn of another client after this one
			t.Say("mine")
			t.End("completed", "")
			play, t = rest, t.Elsewhere(t.Thread, rest)
		}
		word, rest, _ := strings.Cut(play, " ")
		if play := plays[word]; play != nil {
			play(t, rest)
			return
		}
		t.Say("no such turn: " + t.Text)
		t.End("completed", "")
	}}
	switch script {
	case "slow start":
		time.Sleep(300 * time.Millisecond)
	case "no start":
		fmt.Fprintln(os.Stderr, "cannot read the configuration: api_key=hunter2hunter2")
		os.Exit(3)
	case "forgets":
		p.OnRequest = func(p *testcodex.Peer, id json.RawMessage, method string, _ json.RawMessage) bool {
			if method != "thread/resume" {
				return false
			}
			p.Fail(id, -32600, "no rollout found for thread id thread-1")
			return true
		}
	case "busy": // another client's turn runs, and asks
		p.OnRequest = func(p *testcodex.Peer, id json.RawMessage, method string, _ json.RawMessage) bool {
			switch method {
			case "thread/resume":
				t := p.Elsewhere("thread-7", "ask exec")
				p.Answer(id, testcodex.Opened("thread-7", "/project"))
				go plays["ask"](t, "exec")
			case "thread/turns/list":
				p.Answer(id, `{"data":[{"id":"turn-1","items":[],"status":"inProgress"}]}`)
			default:
				return false
			}
			return true
		}
	case "plans":
		p.OnRequest = func(p *testcodex.Peer, id json.RawMessage, method string, params json.RawMessage) bool {
			opened := strings.TrimSuffix(testcodex.Opened("thread-1", "/project"), "}") + `,"reasoningEffort":"medium"`
			switch {
			case method == "collaborationMode/list":
				p.Answer(id, `{"data":[{"name":"Plan","mode":"plan","model":null},{"name":"Default","mode":"default","model":null}]}`)
			case method == "thread/start":
				p.Answer(id, opened+"}")
			case method == "thread/resume" && strings.Contains(string(params), `"planned"`):
				p.Answer(id, opened+`,"collaborationMode":{"mode":"plan","settings":{"model":"gpt-test","reasoning_effort":null,"developer_instructions":"…"}}}`)
			default:
				return false
			}
			return true
		}
	case "refuses a turn": // the first one
		refused := false
		p.OnRequest = func(p *testcodex.Peer, id json.RawMessage, method string, _ json.RawMessage) bool {
			if method != "turn/start" || refused {
				return false
			}
			refused = true
			p.Fail(id, -32600, "input is too large")
			return true
		}
	case "adds": // before 0.169: the prompt becomes part of a turn that still runs
		p.OnRequest = func(p *testcodex.Peer, id json.RawMessage, method string, params json.RawMessage) bool {
			var in struct {
				Mark   string `json:"clientUserMessageId"`
				TurnID string `json:"turnId"`
				Input  []struct{ Text string }
			}
			_ = json.Unmarshal(params, &in)
			switch {
			case method == "turn/start":
				p.Answer(id, `{"turn":{"id":"promised","items":[],"status":"inProgress"}}`)
				started, how, _ := strings.Cut(in.Input[0].Text, " ")
				go func() {
					t := p.Begin("thread-1", how)
					if started == "starts" {
						t.Note("turn/started", `"turn":{"id":%q,"items":[],"status":"inProgress"}`, t.ID)
					}
					t.User("u-1", in.Mark, how)
					word, rest, _ := strings.Cut(how, " ")
					plays[word](t, rest)
				}()
			case method == "turn/interrupt" && in.TurnID == "promised":
				p.Fail(id, -32600, "expected active turn id promised but found turn-1")
			default:
				return false
			}
			return true
		}
	case "silent turn":
		p.OnRequest = func(_ *testcodex.Peer, _ json.RawMessage, method string, _ json.RawMessage) bool {
			return method == "turn/start"
		}
	}
	p.Serve()
}

// asks are the requests for approval, with a command or a patch that the script
// carries out when the answer allows it.
var asks = map[string]struct{ method, params string }{
	"exec":        {"item/commandExecution/requestApproval", `"itemId":"c1","command":"touch made","cwd":"/project","reason":"why"`},
	"exec-list":   {"item/commandExecution/requestApproval", `"itemId":"c1","command":"touch made","availableDecisions":["accept",{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["touch","made"]}},{"hologram":1},"cancel"]`},
	"patch":       {"item/fileChange/requestApproval", `"itemId":"p1","reason":null,"grantRoot":null`},
	"old-exec":    {"execCommandApproval", `"callId":"c1","command":["touch","made"],"cwd":"/project","parsedCmd":[],"reason":"why"`},
	"old-patch":   {"applyPatchApproval", `"callId":"p1","fileChanges":{"/project/b":{"type":"update","unified_diff":"@@ -1 +1 @@\n-a\n+b\n","move_path":null},"/project/a":{"type":"add","content":"new\n"}}`},
	"permissions": {"item/permissions/requestApproval", `"itemId":"x1","cwd":"/project","environmentId":null,"reason":"why","permissions":{"fileSystem":{"write":["/outside"]}}`},
	"input":       {"item/tool/requestUserInput", `"itemId":"i1","isBlocking":true,"questions":[{"id":"q1","header":"Pick","question":"Which?","options":[{"label":"A","description":"a"}]}]`},
	"elicit":      {"mcpServer/elicitation/request", `"serverName":"s","mode":"form","message":"Which?","requestedSchema":{"type":"object","properties":{}}`},
	"unknown":     {"item/hologram/requestApproval", `"itemId":"h1"`},
	"tool":        {"item/tool/call", `"callId":"d1","tool":"t","arguments":{}`},
}

// plays are the turns, by the first word of the message.
var plays = map[string]func(*testcodex.Turn, string){
	"say": func(t *testcodex.Turn, text string) { t.Say(text); t.End("completed", "") },
	// ask asks, and says what it was answered.
	"ask": func(t *testcodex.Turn, what string) {
		t.Start(testcodex.Command("c1", "touch made", "inProgress", "", 0))
		t.Start(testcodex.Patch("p1", "/project/a", "add", "new\n", "inProgress"))
		a := asks[what]
		answer := t.Ask(a.method, "%s", a.params)
		t.Say(answer)
		t.End("completed", "")
	},
	// held asks, and does not go on until the turn is interrupted.
	"held": func(t *testcodex.Turn, what string) {
		a := asks[what]
		go t.Ask(a.method, "%s", a.params)
		<-t.Interrupted
		t.End("interrupted", "")
	},
	// resolved asks, and another client answers; twice, and after this one.
	"resolved": func(t *testcodex.Turn, what string) {
		t.Start(testcodex.Command("c1", "touch made", "inProgress", "", 0))
		late := make(chan string)
		a := asks[what]
		go func() { late <- t.Ask(a.method, "%s", a.params) }()
		<-t.Steered // the user has been asked
		t.Resolved(0)
		<-late
		t.Resolved(0)
		t.Resolved(99)
		t.Say(`the text "serverRequest/resolved"`)
		t.End("completed", "")
	},
	// flooded asks in the middle of a flood that goes on until it is answered.
	"flooded": func(t *testcodex.Turn, what string) {
		flood := func(n int) {
			for range n {
				t.Note("item/agentMessage/delta", `"itemId":"m","delta":"x"`)
			}
		}
		flood(5000)
		t.Start(testcodex.Patch("p1", "/project/a", "add", "new\n", "inProgress"))
		answered := make(chan string)
		go func() { a := asks[what]; answered <- t.Ask(a.method, "%s", a.params) }()
		n := 0
		for {
			select {
			case answer := <-answered:
				t.Say(answer)
				t.End("completed", "")
				return
			default:
				flood(100)
				n++
			}
		}
	},
	"tools": func(t *testcodex.Turn, _ string) {
		t.Complete(`{"type":"userMessage","id":"u","content":[{"type":"text","text":"tools"}]}`)
		t.Complete(`{"type":"reasoning","id":"r","summary":["thinking"],"content":[]}`)
		t.Complete(testcodex.Command("c1", "false", "failed", "no", 1))
		t.Complete(testcodex.Patch("p1", "/project/a", "add", "new\n", "completed"))
		t.Complete(`{"type":"mcpToolCall","id":"m1","server":"s","tool":"t","status":"completed","arguments":{"a":1},"result":{"content":[]}}`)
		t.Complete(`{"type":"dynamicToolCall","id":"d1","tool":"t","status":"completed","arguments":{}}`)
		t.Complete(`{"type":"webSearch","id":"w1","query":"q"}`)
		t.Complete(`{"type":"hologram","id":"h1","depth":3}`)
		t.Note("item/hologram/updated", `"depth":4`)
		t.Complete(`{"type":"agentMessage","id":"a1","text":"first"}`)
		t.Complete(`{"type":"agentMessage","id":"a2","text":"last"}`)
		t.End("completed", "")
	},
	// strangers talk about other threads and turns.
	"strangers": func(t *testcodex.Turn, _ string) {
		other := *t
		other.ID = "turn-99"
		other.Say("from another turn")
		other.End("completed", "")
		other = *t
		other.Thread = "thread-99"
		other.Say("from another thread")
		other.End("failed", "")
		t.Say("mine")
		t.End("completed", "")
	},
	"garbage": func(t *testcodex.Turn, _ string) {
		t.Line("hello, this is a banner")
		t.Line(`{"method":"item/started"`)
		t.Line(`{"method":"item/started","params":{"item":7}}`)
		t.Line(`[1,2,3]`)
		t.Line(`{"id":9999,"result":{}}`)
		t.Say("fine")
		t.End("completed", "")
	},
	"hang": func(t *testcodex.Turn, _ string) { <-t.Interrupted; t.End("interrupted", "") },
	"deaf": func(t *testcodex.Turn, _ string) {}, // not even turn/interrupt ends it
	"retry": func(t *testcodex.Turn, _ string) {
		for {
			t.Note("error", `"error":{"message":"stream disconnected: Bearer abcdef123456"},"willRetry":true`)
			select {
			case <-t.Interrupted:
				t.End("interrupted", "")
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	},
	"fail": func(t *testcodex.Turn, kind string) {
		t.Note("error", `"error":{"message":"no more","codexErrorInfo":%q},"willRetry":false`, kind)
		t.End("failed", fmt.Sprintf(`{"message":"no more","codexErrorInfo":%q}`, kind))
	},
	"mute": func(t *testcodex.Turn, _ string) { t.End("completed", "") },
	"die": func(t *testcodex.Turn, _ string) {
		t.Start(testcodex.Command("c1", "sleep 9", "inProgress", "", 0))
		fmt.Fprintln(os.Stderr, "\x1b[31mthread\x1b[0m 'main' panicked at \x1b]0;t\ask-abcdefghijklmnop")
		os.Exit(101)
	},
	"steered": func(t *testcodex.Turn, _ string) { t.Say("steered by " + <-t.Steered); t.End("completed", "") },
	"params":  func(t *testcodex.Turn, _ string) { t.Say(t.Params); t.End("completed", "") },
	"work": func(t *testcodex.Turn, text string) {
		d, _ := time.ParseDuration(text)
		t.Start(testcodex.Command("c1", "sleep", "inProgress", "", 0))
		time.Sleep(d)
		t.Complete(testcodex.Command("c1", "sleep", "completed", "", 0))
		t.Say("worked")
		t.End("completed", "")
	},
}

// scripted is a server that runs this test program as an app-server. The file gets
// what the server is sent.
func scripted(t *testing.T, script string) (*codex.Server, string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "sent")
	s := codex.NewServer(codex.ServerOptions{Command: launch.Command{
		Path: os.Args[0], Args: []string{"-test.run=^$"}, InheritEnv: true,
		Env: []string{testcodex.ScriptEnv + "=" + script, testcodex.LogEnv + "=" + log, testcodex.QuickEnd},
	}})
	t.Cleanup(func() { s.Close() })
	return s, log
}

func text(s string) appserver.UserInput { return &appserver.UserInputText{Text: s} }

// sent are the messages of a method that the app-server got, in order. An empty
// method are the answers.
func sent(t *testing.T, log, method string) []string {
	t.Helper()
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(b)) {
		var m struct{ Method string }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		if m.Method == method {
			list = append(list, strings.TrimSpace(line))
		}
		if strings.Contains(line, `"jsonrpc"`) || strings.Contains(line, "$/") {
			t.Errorf("the app-server does not know this: %s", line)
		}
	}
	return list
}
