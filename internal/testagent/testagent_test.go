package testagent_test

import (
	"context"
	"os"
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
	if r, err := testagent.Prompt(t.Context(), c, "s", "SAY one\nWAIT 50ms\nPUT \"noise\\n\"\n"+update+"\nWAIT 50ms\nREAD /three"); err != nil || r != acp.StopReasonEndTurn {
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
