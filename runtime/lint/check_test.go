package lint_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// echo is an agent that says hello. If wrong is set, its stop reason is invalid.
type echo struct {
	acp.UnimplementedAgentHandler
	client acp.Client
	wrong  bool
}

func (*echo) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1, AgentInfo: &acp.Implementation{Name: "echo", Version: "1"}}, nil
}

func (*echo) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s1"}, nil
}

func (e *echo) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	say := func() error { return e.client.Session(p.SessionID).Say(ctx, "hello") }
	if e.wrong {
		return &acp.PromptResponse{StopReason: "no such reason"}, nil
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, say()
}

// test stands in for a *testing.T whose outcome is looked at.
type test struct {
	mu      sync.Mutex
	cleanup []func()
	failed  []string
	logged  []string
}

func (t *test) Helper()          {}
func (t *test) Cleanup(f func()) { t.cleanup = append(t.cleanup, f) }
func (t *test) Logf(format string, args ...any) {
	t.logged = append(t.logged, fmt.Sprintf(format, args...))
}
func (t *test) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = append(t.failed, fmt.Sprintf(format, args...))
}

// end runs what waits for the end of the test.
func (t *test) end() {
	for _, f := range t.cleanup {
		f()
	}
}

// converse has one turn with an agent, and both sides are checked, by the side that is
// named.
func converse(t *testing.T, by acp.Side, wrong bool, o lint.Options) *test {
	t.Helper()
	near, far := transport.Pair()
	checked := &test{}
	options := map[acp.Side]rpc.Options{by: {Middleware: []rpc.Middleware{lint.Check(checked, o)}}}
	served := make(chan error, 1)
	go func() {
		served <- rpc.Serve(t.Context(), far, func(c acp.Client) acp.AgentHandler { return &echo{client: c, wrong: wrong} },
			options[acp.SideAgent])
	}()
	agent, err := rpc.Open(t.Context(), near, acp.UnimplementedClientHandler{}, &acp.InitializeRequest{
		ProtocolVersion: 1, ClientInfo: &acp.Implementation{Name: "test", Version: "1"},
	}, options[acp.SideClient])
	if err != nil {
		t.Fatal(err)
	}
	session, err := agent.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/repo"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = agent.Session(session.SessionID).Prompt(t.Context(), acp.NewTextContent("hello"))
	if err != nil && !wrong {
		t.Fatal(err)
	}
	if err := agent.Close(); err != nil {
		t.Fatal(err)
	}
	<-served
	checked.end()
	return checked
}

func TestCheckFailsATestWithTheFindings(t *testing.T) {
	t.Parallel()
	for _, by := range []acp.Side{acp.SideAgent, acp.SideClient} {
		if good := converse(t, by, false, lint.Options{}); len(good.failed) > 0 {
			t.Errorf("a good conversation failed: %s", good.failed)
		}
		bad := converse(t, by, true, lint.Options{})
		if len(bad.failed) == 0 || !strings.HasPrefix(bad.failed[0], "error ") ||
			!strings.Contains(strings.Join(bad.failed, "\n"), "agent, message 6, /result/stopReason: ") || !strings.Contains(bad.failed[0], "\n\thttps://") {
			t.Errorf("a bad stop reason failed with %s", bad.failed)
		}
		if strict := converse(t, by, false, lint.Options{Profile: lint.Strict}); len(strict.failed) > 0 || len(strict.logged) == 0 || !strings.HasPrefix(strict.logged[0], "info ") {
			t.Errorf("with the strict profile it failed with %s and logged %s", strict.failed, strict.logged)
		}
	}
}

func TestCheckTakesNothingAfterTheEndOfTheTest(t *testing.T) {
	t.Parallel()
	checked := &test{}
	tap := lint.Check(checked, lint.Options{}).Tap
	tap(acp.SideAgent, []byte("noise"))
	checked.end()
	tap(acp.SideAgent, []byte("noise"))
	if len(checked.failed) != 1 || !strings.Contains(checked.failed[0], "TR02") || !strings.Contains(checked.failed[0], "agent, message 1: ") {
		t.Errorf("it failed with %q", checked.failed)
	}
}

func TestCheckFailsATestBySeverityHoweverManyFindingsThereAre(t *testing.T) {
	t.Parallel()
	for severity, fails := range map[lint.Severity]bool{lint.Info: false, lint.Warn: true} {
		checked := &test{}
		tap := lint.Check(checked, lint.Options{Severities: map[string]lint.Severity{"TR02": severity}}).Tap
		for range 150 {
			tap(acp.SideAgent, []byte("noise"))
		}
		checked.end()
		said, silent := checked.logged, checked.failed
		if fails {
			said, silent = silent, said
		}
		if len(silent) != 0 || len(said) != 101 || !strings.Contains(said[100], "TR02: and 50 more") {
			t.Errorf("%s: it failed with %d findings and logged %d", severity, len(checked.failed), len(checked.logged))
		}
	}
}
