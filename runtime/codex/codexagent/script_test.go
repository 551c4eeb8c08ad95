package codexagent_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/testcodex"
)

func serve() {
	p := &testcodex.Peer{OnTurn: func(t *testcodex.Turn) {
		word, rest, _ := strings.Cut(t.Text, " ")
		plays[word](t, rest)
	}}
	p.OnRequest = func(p *testcodex.Peer, id json.RawMessage, method string, params json.RawMessage) bool {
		switch method {
		case "account/read":
			if os.Getenv("TEST_LOGIN") != "" {
				p.Answer(id, `{"account":null,"requiresOpenaiAuth":true}`)
			} else {
				p.Answer(id, `{"account":null,"requiresOpenaiAuth":false}`)
			}
		case "account/login/start":
			p.Answer(id, `{"type":"chatgpt","loginId":"login-1","authUrl":"https://auth.example/login"}`)
			p.Line(`{"method":"account/login/completed","params":{"loginId":"login-1","success":true}}`)
		case "thread/start", "thread/resume": // nothing is on the disk: a thread ends with its process
			refusal := os.Getenv("TEST_UNSAVED")
			if refusal == "" {
				return false
			}
			if method == "thread/resume" {
				p.Fail(id, -32600, refusal)
			} else {
				p.Answer(id, testcodex.Opened(fmt.Sprint("thread-", os.Getpid()), "/project"))
			}
		case "account/logout", "thread/unsubscribe", "thread/delete":
			p.Answer(id, `{"status":"unsubscribed"}`)
		case "model/list":
			p.Answer(id, `{"data":[{"id":"gpt-test","model":"gpt-test","displayName":"GPT Test","description":"for tests","hidden":false,"isDefault":true,"defaultReasoningEffort":"medium","supportedReasoningEfforts":[{"reasoningEffort":"low","description":"quick"},{"reasoningEffort":"medium","description":"usual"}]},{"id":"gpt-2","model":"gpt-2","displayName":"GPT 2","description":"another","hidden":false,"isDefault":false,"defaultReasoningEffort":"low","supportedReasoningEfforts":[]}]}`)
		default:
			return false
		}
		return true
	}
	p.Serve()
}

var plays = map[string]func(*testcodex.Turn, string){
	// ask asks for approval, and makes the file when it is allowed.
	"ask": func(t *testcodex.Turn, rest string) {
		kind, path, _ := strings.Cut(rest, " ")
		method, params := "item/commandExecution/requestApproval", `"itemId":"c1","command":"touch made","reason":"please"`
		switch kind {
		case "patch":
			t.Start(testcodex.Patch("c1", path, "add", "new\n", "inProgress"))
			method, params = "item/fileChange/requestApproval", `"itemId":"c1"`
		case "old-exec":
			method, params = "execCommandApproval", `"callId":"c1","command":["touch","made"],"cwd":"/project","parsedCmd":[]`
		case "more":
			params += `,"additionalPermissions":{"network":{"enabled":true},"fileSystem":null}`
			t.Start(testcodex.Command("c1", "touch made", "inProgress", "", 0))
		default:
			t.Start(testcodex.Command("c1", "touch made", "inProgress", "", 0))
		}
		answer := t.Ask(method, "%s", params)
		status := "declined"
		if strings.Contains(answer, `"accept`) || strings.Contains(answer, `"approved`) {
			os.WriteFile(path, nil, 0o600)
			status = "completed"
		}
		t.Complete(testcodex.Command("c1", "touch made", status, "", 0))
		t.Say(answer)
		t.End("completed", "")
	},
	"run": func(t *testcodex.Turn, _ string) {
		t.Start(testcodex.Command("c1", "make", "inProgress", "", 0))
		for range 3 {
			t.Note("item/commandExecution/outputDelta", `"itemId":"c1","delta":"line\n"`)
		}
		t.Complete(testcodex.Command("c1", "make", "failed", "line\nline\nline\nlast\n", 2))
		t.Say("ran")
		t.End("completed", "")
	},
	"show": func(t *testcodex.Turn, _ string) {
		t.Note("turn/plan/updated", `"plan":[{"step":"first","status":"completed"},{"step":"second","status":"inProgress"},{"step":"third","status":"pending"}]`)
		t.Note("thread/name/updated", `"threadName":"A title"`)
		t.Note("thread/tokenUsage/updated", `"tokenUsage":{"last":{"totalTokens":120,"inputTokens":100,"cachedInputTokens":0,"outputTokens":20,"reasoningOutputTokens":0},"total":{"totalTokens":900,"inputTokens":100,"cachedInputTokens":0,"outputTokens":20,"reasoningOutputTokens":0},"modelContextWindow":1000}`)
		t.Note("item/reasoning/summaryTextDelta", `"itemId":"r","summaryIndex":0,"delta":"one"`)
		t.Note("item/reasoning/summaryPartAdded", `"itemId":"r","summaryIndex":1`)
		t.Note("item/reasoning/summaryTextDelta", `"itemId":"r","summaryIndex":1,"delta":"two"`)
		t.Complete(`{"type":"reasoning","id":"r","summary":["one","two"],"content":[]}`)
		t.Start(`{"type":"mcpToolCall","id":"m1","server":"s","tool":"t","status":"inProgress","arguments":{"a":1}}`)
		t.Note("item/mcpToolCall/progress", `"itemId":"m1","message":"half"`)
		t.Complete(`{"type":"mcpToolCall","id":"m1","server":"s","tool":"t","status":"completed","arguments":{"a":1},"result":{"content":[{"type":"text","text":"the result"}]}}`)
		t.Complete(`{"type":"webSearch","id":"w1","query":"q"}`)
		t.Complete(`{"type":"hologram","id":"h1"}`)
		t.Note("error", `"error":{"message":"Reconnecting"},"willRetry":true`)
		t.Note("error", `"error":{"message":"Reconnecting"},"willRetry":true`)
		t.Say("shown")
		t.End("completed", "")
	},
	"input": func(t *testcodex.Turn, _ string) {
		t.Say(t.Ask("item/tool/requestUserInput", `"itemId":"i1","isBlocking":true,"questions":[{"id":"q1","header":"Pick","question":"Which?","options":[{"label":"A","description":"the first"},{"label":"B","description":""}]}]`))
		t.End("completed", "")
	},
	"elicit": func(t *testcodex.Turn, _ string) {
		t.Say(t.Ask("mcpServer/elicitation/request", `"serverName":"s","mode":"form","message":"Name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`))
		t.End("completed", "")
	},
	"fail": func(t *testcodex.Turn, kind string) {
		t.End("failed", `{"message":"no more","codexErrorInfo":"`+kind+`"}`)
	},
	"die":    func(*testcodex.Turn, string) { os.Exit(101) },
	"params": func(t *testcodex.Turn, _ string) { t.Say(t.Params); t.End("completed", "") },
	"wait":   func(t *testcodex.Turn, _ string) { t.Say("steered by " + <-t.Steered); t.End("completed", "") },
}

func TestOnlyConsentChangesAFile(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"exec", "patch", "old-exec"} {
		for _, test := range []struct {
			name   string
			choose func(*acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error)
			made   bool
		}{
			{"accepted", pick("accept"), true},
			{"accepted for the session", pick("acceptForSession"), true},
			{"declined", pick("decline"), false},
			{"stopped", pick("cancel"), false},
			{"unknown option", pick("certainly"), false},
			{"cancelled", cancelled, false},
			{"error", nil, false},
			{"nobody asks", func(*acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
				return nil, acp.MethodNotFound(acp.MethodSessionRequestPermission)
			}, false},
			{"panic", func(*acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) { panic("in a test") }, false},
		} {
			t.Run(kind+" "+test.name, func(t *testing.T) {
				t.Parallel()
				command, _ := scripted(t)
				e := start(t, command, nil)
				e.tolerant = test.name == "unknown option"
				e.choose = test.choose
				path := filepath.Join(e.dir, "made")
				if _, err := e.prompt(t, e.open(t), "ask "+kind+" "+path); err != nil {
					t.Error(err)
				}
				if _, err := os.Stat(path); (err == nil) != test.made {
					t.Errorf("the file: %v; codex was told %s", err, e.text())
				}
				if len(e.asked) != 1 || len(e.asked[0].Options) != 4 || string(e.asked[0].ToolCall.ToolCallID) != "c1" {
					t.Errorf("asked %v", e.asked)
				}
			})
		}
	}
}

// A question names everything that is allowed with it.
func TestPermissionsThatACommandAsksForAreShown(t *testing.T) {
	t.Parallel()
	command, _ := scripted(t)
	e := start(t, command, nil)
	e.choose = pick("decline")
	if _, err := e.prompt(t, e.open(t), "ask more"); err != nil || len(e.asked) != 1 {
		t.Fatalf("asked %v, %v", e.asked, err)
	}
	asked := string(e.asked[0].AppendJSON(nil))
	for _, want := range []string{`"rawInput":{"additionalPermissions":{"network":{"enabled":true},"fileSystem":null},"command":"touch made"`, `"text":"It also gets these permissions: {\"network\":{\"enabled\":true},\"fileSystem\":null}"`} {
		if !strings.Contains(asked, want) {
			t.Errorf("no %s in %s", want, asked)
		}
	}
}

func TestAnAnswerAfterACancelIsNoConsent(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"exec", "patch", "old-exec"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			command, log := scripted(t)
			e := start(t, command, nil)
			e.tolerant = true
			path := filepath.Join(e.dir, "made")
			id := e.open(t)
			e.choose = func(p *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
				err := e.agent.Session(id).Cancel(t.Context())
				return &acp.SelectedPermissionOutcome{OptionID: p.Options[0].OptionID}, err
			}
			if stop, err := e.prompt(t, id, "ask "+kind+" "+path); stop != acp.StopReasonCancelled {
				t.Errorf("%s, %v", stop, err)
			}
			if b, _ := os.ReadFile(log); strings.Contains(string(b), `"accept"`) || strings.Contains(string(b), `"approved"`) {
				t.Errorf("codex was told yes:\n%s", b)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("the file was made")
			}
		})
	}
}

func TestAClientThatIsGoneHasNotConsented(t *testing.T) {
	t.Parallel()
	command, log := scripted(t)
	e := start(t, command, nil)
	path := filepath.Join(e.dir, "made")
	id := e.open(t)
	e.choose = func(*acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
		go e.agent.Conn.Close()
		<-e.agent.Conn.Done()
		return &acp.SelectedPermissionOutcome{OptionID: "accept"}, nil
	}
	if _, err := e.prompt(t, id, "ask exec "+path); err == nil {
		t.Error("no error")
	}
	if b, _ := os.ReadFile(log); strings.Contains(string(b), `"accept"`) {
		t.Errorf("codex was told yes:\n%s", b)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file was made")
	}
}

func TestWhatCodexReportsIsShown(t *testing.T) {
	t.Parallel()
	command, _ := scripted(t)
	e := start(t, command, nil)
	if _, err := e.prompt(t, e.open(t), "show"); err != nil {
		t.Fatal(err)
	}
	for _, parts := range [][]string{
		{`"plan"`, `"first"`, `"completed"`, `"in_progress"`, `"pending"`},
		{`"session_info_update"`, `"A title"`},
		{`"usage_update"`, `"used":120`, `"size":1000`},
		{`"agent_thought_chunk"`, `"one"`}, {`"agent_thought_chunk"`, `"\n\n"`},
		{`"tool_call"`, `"s.t"`, `"rawInput":{"a":1}`}, {`"tool_call_update"`, "half"}, {`"tool_call_update"`, "the result", `"completed"`},
		{`"tool_call"`, `"kind":"fetch"`, "Search the web: q"},
		{`"agent_message_chunk"`, "shown"},
	} {
		if !e.has(parts...) {
			t.Errorf("no update with %q in\n%s", parts, strings.Join(e.seen(), "\n"))
		}
	}
	all := strings.Join(e.seen(), "\n")
	for text, n := range map[string]int{`"one"`: 1, "Reconnecting": 1, "hologram": 0, `"shown"`: 1} {
		if got := strings.Count(all, text); got != n {
			t.Errorf("%q was shown %d times, want %d", text, got, n)
		}
	}
}

func TestOutputIsContentOrATerminalOfTheClient(t *testing.T) {
	t.Parallel()
	command, _ := scripted(t)
	plain := start(t, command, nil)
	if _, err := plain.prompt(t, plain.open(t), "run"); err != nil {
		t.Fatal(err)
	}
	if !plain.has(`"tool_call_update"`, `"failed"`, `line\nline\nline\nlast`, `"exitCode":2`) || plain.has("terminal") {
		t.Errorf("shown\n%s", strings.Join(plain.seen(), "\n"))
	}
	command, _ = scripted(t)
	rich := start(t, command, &acp.ClientCapabilities{Meta: json.RawMessage(`{"terminal_output":true}`)})
	if _, err := rich.prompt(t, rich.open(t), "run"); err != nil {
		t.Fatal(err)
	}
	for _, parts := range [][]string{
		{`"tool_call"`, `"type":"terminal"`, `"terminal_info"`, `"terminal_id":"c1"`},
		{`"tool_call_update"`, `"terminal_output"`, `"data":"line\n"`},
		{`"tool_call_update"`, `"terminal_exit"`, `"exit_code":2`, `"data":"last\n"`},
	} {
		if !rich.has(parts...) {
			t.Errorf("no update with %q in\n%s", parts, strings.Join(rich.seen(), "\n"))
		}
	}
}

func TestQuestionsBecomeForms(t *testing.T) {
	t.Parallel()
	forms := &acp.ClientCapabilities{Elicitation: &acp.ElicitationCapabilities{Form: &acp.ElicitationFormCapabilities{}}}
	accept := func(content string) func(*acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
		return func(*acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
			r := new(acp.CreateElicitationResponse)
			return r, r.UnmarshalJSON([]byte(`{"action":"accept","content":` + content + `}`))
		}
	}
	for _, test := range []struct {
		name, play, want string
		can              *acp.ClientCapabilities
		form             func(*acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error)
	}{
		{"answered", "input", `"answers":{"q1":{"answers":["A"]}}`, forms, accept(`{"q1":"A"}`)},
		{"declined", "input", `"answers":{}`, forms, nil},
		{"no forms", "input", `"answers":{}`, nil, accept(`{"q1":"A"}`)},
		{"answered", "elicit", `{"action":"accept","content":{"name":"N"}}`, forms, accept(`{"name":"N"}`)},
		{"declined", "elicit", `{"action":"decline"}`, forms, nil},
		{"no forms", "elicit", `{"action":"decline"}`, nil, nil},
	} {
		t.Run(test.play+" "+test.name, func(t *testing.T) {
			t.Parallel()
			command, _ := scripted(t)
			e := start(t, command, test.can)
			e.form = test.form
			if _, err := e.prompt(t, e.open(t), test.play); err != nil || !strings.Contains(e.text(), test.want) {
				t.Errorf("codex was told %s, want %s; %v", e.text(), test.want, err)
			}
		})
	}
}

func TestFailedTurnsHaveTheirEnds(t *testing.T) {
	t.Parallel()
	command, _ := scripted(t)
	e := start(t, command, nil)
	id := e.open(t)
	for kind, want := range map[string]acp.StopReason{
		"contextWindowExceeded": acp.StopReasonMaxTokens, "cyberPolicy": acp.StopReasonRefusal,
	} {
		if stop, err := e.prompt(t, id, "fail "+kind); stop != want {
			t.Errorf("%s: %s, %v", kind, stop, err)
		}
	}
	_, err := e.prompt(t, id, "fail usageLimitExceeded")
	answer, _ := err.(*acp.Error)
	if answer == nil || string(answer.Data) != `{"codexErrorInfo":"usageLimitExceeded"}` || !strings.Contains(answer.Message, "no more") {
		t.Errorf("%v", err)
	}
	if _, err := e.prompt(t, id, "fail unauthorized"); err == nil || err.(*acp.Error).Code != acp.ErrorCodeAuthenticationRequired {
		t.Errorf("%v", err)
	}
	if _, err := e.prompt(t, id, "die"); err == nil {
		t.Error("no error from a codex that died")
	}
	if stop, err := e.prompt(t, id, "params"); stop != acp.StopReasonEndTurn {
		t.Errorf("after it died: %s, %v", stop, err)
	}
}

func TestSettingsReachTheNextTurn(t *testing.T) {
	t.Parallel()
	command, log := scripted(t)
	e := start(t, command, nil)
	e.tolerant = true // it asks for values that do not exist
	r, err := e.agent.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: e.dir, MCPServers: []acp.MCPServer{
		acp.NewMCPServerStdio("my server", "/bin/tool", []string{"-x"}, []acp.EnvVariable{{Name: "A", Value: "b"}}),
		acp.NewMCPServerHTTP("web", "https://mcp.example", []acp.HTTPHeader{{Name: "H", Value: "v"}}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(log)
	for _, want := range []string{`"my_server":{"args":["-x"],"command":"/bin/tool","env":{"A":"b"}}`, `"web":{"http_headers":{"H":"v"},"url":"https://mcp.example"}`, `"method":"thread/start"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in\n%s", want, b)
		}
	}
	if len(r.ConfigOptions) != 3 {
		t.Errorf("options %s", r.AppendJSON(nil))
	}
	set := func(id, value string) error {
		_, err := e.agent.SetSessionConfigOption(t.Context(), &acp.SetSessionConfigOptionRequest{SessionID: r.SessionID, ConfigID: acp.SessionConfigID(id),
			Variant: &acp.SetSessionConfigOptionRequestValueID{Value: acp.SessionConfigValueID(value)}})
		return err
	}
	for _, wrong := range [][2]string{{"mode", "x"}, {"model", "x"}, {"x", "x"}, {"reasoning_effort", "extreme"}} {
		if set(wrong[0], wrong[1]) == nil {
			t.Errorf("%v was taken", wrong)
		}
	}
	for _, right := range [][2]string{{"reasoning_effort", "low"}, {"mode", "unrestricted"}} {
		if err := set(right[0], right[1]); err != nil {
			t.Errorf("%v: %v", right, err)
		}
	}
	if _, err := e.agent.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: r.SessionID, ModeID: "x"}); err == nil {
		t.Error("a mode that does not exist was taken")
	}
	if _, err := e.prompt(t, r.SessionID, "params"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"effort":"low"`, `"sandboxPolicy":{"type":"dangerFullAccess"}`} {
		if !strings.Contains(e.text(), want) {
			t.Errorf("turn/start %s", e.text())
		}
	}
	if !e.has(`"current_mode_update"`, "unrestricted") {
		t.Error("the client was not told about the mode")
	}
}

func TestAPromptInATurnSteersIt(t *testing.T) {
	t.Parallel()
	command, log := scripted(t)
	e := start(t, command, nil)
	e.tolerant = true // the linter wants prompts one after the other
	id := e.open(t)
	first := make(chan acp.StopReason)
	go func() { stop, _ := e.prompt(t, id, "wait"); first <- stop }()
	second := make(chan acp.StopReason)
	go func() {
		e.begun(t, log)
		stop, _ := e.prompt(t, id, "hand")
		second <- stop
	}()
	if a, b := <-first, <-second; a != acp.StopReasonEndTurn || b != acp.StopReasonEndTurn || e.text() != "steered by hand" {
		t.Errorf("%s, %s, %q", a, b, e.text())
	}
}

func TestSessionsNeedALogin(t *testing.T) {
	t.Parallel()
	command, _ := scripted(t)
	command.Env = append(command.Env, "TEST_LOGIN=1")
	e := start(t, command, &acp.ClientCapabilities{Elicitation: &acp.ElicitationCapabilities{URL: &acp.ElicitationURLCapabilities{}}})
	_, err := e.agent.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: e.dir, MCPServers: []acp.MCPServer{}})
	if answer, _ := err.(*acp.Error); answer == nil || answer.Code != acp.ErrorCodeAuthenticationRequired {
		t.Errorf("%v", err)
	}
	e.tolerant = true // it uses a method that does not exist
	page := ""
	e.form = func(p *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
		page = p.Variant.(*acp.ElicitationURLMode).URL
		return acp.NewCreateElicitationResponse(&acp.ElicitationAcceptAction{}), nil
	}
	if _, err := e.agent.Authenticate(t.Context(), &acp.AuthenticateRequest{MethodID: "chatgpt"}); err != nil || page != "https://auth.example/login" {
		t.Errorf("page %q, %v", page, err)
	}
	if _, err := e.agent.Authenticate(t.Context(), &acp.AuthenticateRequest{MethodID: "magic"}); err == nil {
		t.Error("an unknown method logged in")
	}
	if _, err := e.agent.Logout(t.Context(), &acp.LogoutRequest{}); err != nil {
		t.Error(err)
	}
}
