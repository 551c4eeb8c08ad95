//go:build unix

package hostile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// everyMethod calls each method of an agent with a typed result.
var everyMethod = map[string]func(context.Context, acp.Agent) error{
	acp.MethodInitialize: func(ctx context.Context, a acp.Agent) error {
		_, err := a.Initialize(ctx, &acp.InitializeRequest{ProtocolVersion: 1})
		return err
	},
	acp.MethodAuthenticate: func(ctx context.Context, a acp.Agent) error {
		_, err := a.Authenticate(ctx, &acp.AuthenticateRequest{MethodID: "m"})
		return err
	},
	acp.MethodLogout: func(ctx context.Context, a acp.Agent) error {
		_, err := a.Logout(ctx, &acp.LogoutRequest{})
		return err
	},
	acp.MethodSessionNew: func(ctx context.Context, a acp.Agent) error {
		_, err := a.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/"})
		return err
	},
	acp.MethodSessionLoad: func(ctx context.Context, a acp.Agent) error {
		_, err := a.LoadSession(ctx, &acp.LoadSessionRequest{SessionID: "s", Cwd: "/"})
		return err
	},
	acp.MethodSessionResume: func(ctx context.Context, a acp.Agent) error {
		_, err := a.ResumeSession(ctx, &acp.ResumeSessionRequest{SessionID: "s", Cwd: "/"})
		return err
	},
	acp.MethodSessionList: func(ctx context.Context, a acp.Agent) error {
		_, err := a.ListSessions(ctx, &acp.ListSessionsRequest{})
		return err
	},
	acp.MethodSessionClose: func(ctx context.Context, a acp.Agent) error {
		_, err := a.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: "s"})
		return err
	},
	acp.MethodSessionDelete: func(ctx context.Context, a acp.Agent) error {
		_, err := a.DeleteSession(ctx, &acp.DeleteSessionRequest{SessionID: "s"})
		return err
	},
	acp.MethodSessionPrompt: func(ctx context.Context, a acp.Agent) error {
		_, err := a.Prompt(ctx, &acp.PromptRequest{SessionID: "s"})
		return err
	},
	acp.MethodSessionSetMode: func(ctx context.Context, a acp.Agent) error {
		_, err := a.SetSessionMode(ctx, &acp.SetSessionModeRequest{SessionID: "s", ModeID: "m"})
		return err
	},
	acp.MethodSessionSetConfigOption: func(ctx context.Context, a acp.Agent) error {
		_, err := a.SetSessionConfigOption(ctx, &acp.SetSessionConfigOptionRequest{SessionID: "s", ConfigID: "c", Variant: &acp.SetSessionConfigOptionRequestValueID{Value: "v"}})
		return err
	},
}

// F5: the list above is complete.
func TestEveryMethodOfAnAgentIsTried(t *testing.T) {
	for _, m := range acp.V1.Methods() {
		if m.Handler == acp.SideAgent && m.Request && everyMethod[m.Name] == nil {
			t.Errorf("%s is not tried", m.Name)
		}
	}
}

// F5: after any answer to any method, the call ends as it should, faults are counted,
// and the connection continues.
func TestWrongAnswersToEveryMethodDoNoHarm(t *testing.T) {
	leak.Check(t)
	const answer = `LINE {"jsonrpc":"2.0","id":$ID,`
	gaveUp := func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }
	wrong := []struct {
		name, script string
		ends         func(error) bool
		fault        rpc.FaultKind
		count        uint64
	}{
		{"none", "", gaveUp, 0, 0},
		{"after the cancel", "HEAR $/cancel_request\n" + `LINE {"jsonrpc":"2.0","id":1,"result":{}}` + "\n" + `LINE {"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"cancelled"}}`, gaveUp, rpc.FaultLate, 1},
		{"wrong id", `LINE {"jsonrpc":"2.0","id":77,"result":{}}`, gaveUp, rpc.FaultUnknownResponse, 1},
		{"id as a string", `LINE {"jsonrpc":"2.0","id":"1","result":{}}`, gaveUp, rpc.FaultUnknownResponse, 1},
		{"null id", `LINE {"jsonrpc":"2.0","id":null,"result":{}}`, gaveUp, rpc.FaultUnknownResponse, 1},
		{"error twice", answer + `"error":{"code":-32603,"message":"no"}}` + "\n" + answer + `"result":{}}`, isA[*acp.Error], rpc.FaultDuplicate, 1},
		{"odd code", answer + `"error":{"code":400,"message":"no","data":[1]}}`, isA[*acp.Error], 0, 0},
		{"number", answer + `"result":7}`, isA[*rpc.ResultError], 0, 0},
		{"text", answer + `"result":"ok"}`, isA[*rpc.ResultError], 0, 0},
		{"list", answer + `"result":[{}]}`, isA[*rpc.ResultError], 0, 0},
		{"both", answer + `"result":{},"error":{"code":1,"message":"x"}}`, isA[*rpc.MalformedError], rpc.FaultInvalid, 1},
		{"neither", `LINE {"jsonrpc":"2.0","id":$ID}`, isA[*rpc.MalformedError], rpc.FaultInvalid, 1},
		{"error without message", answer + `"error":{"code":1}}`, isA[*rpc.MalformedError], 0, 0},
		{"error as text", answer + `"error":"no"}`, isA[*rpc.MalformedError], rpc.FaultInvalid, 1},
	}
	soak.Repeat(t, func(t *testing.T, _ int) {
		for method, call := range everyMethod {
			workers(len(wrong), func(i int) {
				test := wrong[i]
				name := method + ", " + test.name
				// The next call shows that the connection continues.
				p := start(t, "HEAR\n"+test.script+"\nHEAR _more\n"+answer+`"result":{}}`+"\nEOF")
				// A call that gets no answer is given up when it has been sent, or once the
				// agent has sent a message that is no answer to it.
				ctx, opts := patience.Context(t, patience.Soon), rpc.Options{}
				if test.ends(context.DeadlineExceeded) {
					d := newDeadline(t)
					if ctx = d; test.fault == 0 || test.fault == rpc.FaultLate {
						opts.Tap = func(rpc.Direction, []byte) { d.pass() }
					} else {
						opts.OnFault = func(rpc.Fault) { d.pass() }
					}
				}
				c := rpc.NewConn(p.Transport(), newWitness(), opts)
				if err := call(ctx, acp.Agent{Conn: c}); !test.ends(err) || !strings.HasPrefix(err.Error(), method) && !isA[*acp.Error](err) {
					t.Errorf("%s: the call returned %T: %v", name, err, err)
				}
				more := make(chan error, 1)
				go func() { more <- c.Call(t.Context(), "_more", nil, nil) }()
				if err := receive(t, "answer to the next call", more); err != nil {
					t.Errorf("%s: the next call returned %v", name, err)
				}
				if test.count > 0 && c.Stats().Count(test.fault) != test.count {
					t.Errorf("%s: %d times %v: %v", name, c.Stats().Count(test.fault), test.fault, c.Stats())
				}
				closed(t, name, c, p)
			})
		}
	})
}

// F5: a request of the agent gets exactly one answer, however odd it is. Its answers
// to nothing, and second requests with a pending id, do not affect anything else.
func TestOddRequestsGetOneAnswerEach(t *testing.T) {
	leak.Check(t)
	ask := func(id string) string {
		return fmt.Sprintf(`LINE {"jsonrpc":"2.0","id":%s,"method":"session/request_permission","params":{}}`+"\n", id)
	}
	cases := []struct {
		name, script string
		answers      int // that the agent must hear before it says it is content
		asked        int
	}{
		{"id 0 and id 1 like those of the client", ask("0") + ask("1"), 2, 2},
		{"text ids", ask(`"a"`) + ask(`""`), 2, 2},
		{"the same id twice", ask("5") + ask("5"), 2, 1},
		{"unknown method", `LINE {"jsonrpc":"2.0","id":3,"method":"_nobody"}` + "\n", 1, 0},
		{"wrong direction", `LINE {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{}}` + "\n", 1, 0},
		{"params as a list", `LINE {"jsonrpc":"2.0","id":3,"method":"session/request_permission","params":7}` + "\n", 1, 0},
		{"no id at all", `LINE {"jsonrpc":"2.0","method":"session/request_permission","params":{}}` + "\n", 0, 0},
	}
	soak.Repeat(t, func(t *testing.T, _ int) {
		workers(len(cases), func(i int) {
			test := cases[i]
			// The prompt is heard first, so that the client has an id of its own pending.
			p := start(t, "HEAR session/prompt\n"+test.script+strings.Repeat("HEAR\n", test.answers)+ready+
				`LINE {"jsonrpc":"2.0","id":1,"result":{}}`+"\nEOF")
			w := newWitness()
			w.hold = make(chan struct{})
			var opts rpc.Options
			if test.name == "the same id twice" { // the first is pending when the second comes
				opts.OnFault = func(rpc.Fault) { close(w.hold) }
			} else {
				close(w.hold)
			}
			c := rpc.NewConn(p.Transport(), w, opts)
			pending := prompt(t.Context(), c)
			receive(t, "word that "+test.name+" was answered", w.ready)
			if err := receive(t, "answer", pending); err != nil {
				t.Errorf("%s: the prompt returned %v", test.name, err)
			}
			w.mu.Lock()
			if w.asked != test.asked {
				t.Errorf("%s: asked %d times", test.name, w.asked)
			}
			w.mu.Unlock()
			closed(t, test.name, c, p)
		})
	})
}
