package testagent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

func TestMain(m *testing.M) {
	testagent.Main()
	os.Exit(m.Run())
}

func start(t *testing.T, scenario string) *launch.Process {
	t.Helper()
	p, err := launch.Start(t.Context(), launch.Command{Path: os.Args[0], Env: []string{testagent.Env + "=" + scenario, "GORACE=atexit_sleep_ms=0"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Transport().Close() })
	return p
}

func TestAScenarioMixesBytesAndTurns(t *testing.T) {
	t.Parallel()
	p := start(t, "HEAR initialize\nLINE warming up\n"+`LINE {"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":1}}`+"\nSERVE any\nERR all is said\nEXIT 5")
	client := new(testagent.Client)
	c := rpc.NewConn(p.Transport(), acp.ClientSide(client), rpc.Options{})
	if _, err := (acp.Agent{Conn: c}).Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
		t.Fatal(err)
	}
	update := `LINE {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"$SESSION","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"two"}}}}`
	if r, err := testagent.Prompt(t.Context(), c, "s", "SAY one\nWAIT 500ms\nPUT \"noise\\n\"\n"+update+"\nWAIT 500ms\nREAD /three"); err != nil || r != acp.StopReasonEndTurn {
		t.Fatal(r, err)
	}
	if got := strings.Join(client.Texts("s"), ", "); got != `one, two, READ {"content":"text of /three"}` {
		t.Error(got)
	}
	if n := c.Stats().Count(rpc.FaultNoise); n != 2 {
		t.Errorf("%d lines of noise", n)
	}
	c.Close()
	<-p.Done()
	if e, _ := p.Err().(*launch.ExitError); e == nil || e.Code != 5 || e.Stderr != "all is said" {
		t.Error(p.Err())
	}
}

func TestAFailedStepIsNamed(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]string{
		"JUMP high":   `no step "JUMP"`,
		"say x":       `no step "say"`,
		"SAY x":       "SAY works only in a turn",
		"SERVE again": `no mode "again"`,
		"GIANT huge":  "invalid syntax",
		"DRIP 1":      "EOF",
	} {
		p := start(t, step)
		<-p.Done()
		if e, _ := p.Err().(*launch.ExitError); e == nil || e.Code != 99 || !strings.HasPrefix(e.Stderr, step+": ") || !strings.Contains(e.Stderr, want) {
			t.Errorf("%s: %v", step, p.Err())
		}
	}
	near, far := transport.Pair()
	go (&testagent.Agent{Mode: "any"}).Serve(context.Background(), far)
	c := rpc.NewConn(near, nil, rpc.Options{})
	defer c.Close()
	for step, want := range map[string]string{
		"JUMP high":      `no step "JUMP"`,
		"AGAIN":          "only in the scenario of a program",
		"SERVE":          "only in the scenario of a program",
		"HEAR":           "the connection reads the input",
		"LINE x":         "not made of bytes",
		"FLOOD 1 x":      "not made of bytes",
		"CUT sideways":   `no way to cut "sideways"`,
		"BIG triangle 3": `no shape "triangle"`,
	} {
		if _, err := testagent.Prompt(t.Context(), c, "s", step); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", step, err)
		}
	}
}

func TestAProgramTalksByItsOwnAnswers(t *testing.T) {
	t.Parallel()
	status := filepath.Join(t.TempDir(), "status")
	say := func(text string) string {
		return `LINE {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"mine","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}}}`
	}
	p := start(t, strings.Join([]string{
		`ANSWER session/set_mode "error":{"code":-7,"message":"no mode"}`,
		"TALK session/prompt", say("$HEARD"), `REQUEST fs/read_text_file {"sessionId":"mine","path":"/a"}`, say("$ANSWER"),
		`REQUEST "of tomorrow" {}`, say("$ANSWER"), say("$x3 $PID"),
		"TOUCH " + status + " x", "COPY " + status + " " + status + "2",
		`ANSWER session/prompt "result":{"stopReason":"refusal"}`, "REPLY session/prompt", "TALK",
	}, "\n"))
	client := new(testagent.Client)
	c := rpc.NewConn(p.Transport(), acp.ClientSide(client), rpc.Options{})
	a := acp.Agent{Conn: c}
	if r, err := a.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"}); err != nil || r.SessionID != "mine" {
		t.Error(r, err)
	}
	if _, err := a.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: "mine", ModeID: "m"}); !errors.Is(err, &acp.Error{Code: -7}) {
		t.Error(err)
	}
	for i, want := range []acp.StopReason{acp.StopReasonRefusal, acp.StopReasonRefusal} { // the second one by TALK
		if r, err := testagent.Prompt(t.Context(), c, "mine", "go"); err != nil || r != want {
			t.Errorf("prompt %d: %v, %v", i, r, err)
		}
	}
	want := []string{
		"session/new {\"cwd\":\"/\",\"mcpServers\":[]}\nsession/set_mode {\"sessionId\":\"mine\",\"modeId\":\"m\"}",
		`{"jsonrpc":"2.0","id":"a1","result":{"content":"text of /a"}}`,
		`{"jsonrpc":"2.0","id":"a2","error":{"code":-32601,"message":"method not found: of tomorrow"}}`,
		fmt.Sprint("xxx ", p.PID()),
	}
	got := client.Texts("mine")
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if got[i] != want[i] && i != 2 || i == 2 && !strings.Contains(got[i], `"id":"a2","error":{"code":-32601`) {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
	if text, err := os.ReadFile(status + "2"); string(text) != "x" {
		t.Error(text, err)
	}
	c.Close()
}
