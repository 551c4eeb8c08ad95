package serve_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/serve"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
)

// node returns a command that runs a script of test/agents.
func node(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	agents := os.Getenv("HERMES_AGENTS")
	if _, err := exec.LookPath("node"); agents == "" || err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("HERMES_AGENTS and Node.js are needed in CI")
		}
		t.Skip("skipped: needs Node.js and HERMES_AGENTS (make test sets it)")
	}
	script, err := filepath.Abs("../../test/agents/" + script)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", append([]string{script, filepath.Join(agents, "node_modules")}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestTheSDKClientTalksToAServedAgent(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"http", "ws"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			s := new(serve.Server)
			url, _ := start(t, s, "http://127.0.0.1:0")
			cmd := node(t, "sdk-client.mjs", scheme+strings.TrimPrefix(url, "http"), "COUNT 50", "READ /w/x", "WAIT")
			cmd.Env = append(os.Environ(), "TOKEN="+s.Guard.Token.Reveal())
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Stops, Texts []string
				Failure      int
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%s: %v", out, err)
			}
			if !slices.Equal(got.Stops, []string{"end_turn", "end_turn", "cancelled"}) || got.Failure != int(acp.ErrorCodeResourceNotFound) ||
				len(got.Texts) != 51 || got.Texts[49] != "50 of 50" || got.Texts[50] != `READ {"content":"text of /w/x"}` {
				t.Errorf("%s", out)
			}
		})
	}
}

// sdkServer starts the SDK's server and returns its URLs.
func sdkServer(t *testing.T) map[string]string {
	cmd := node(t, "sdk-serve.mjs")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var urls map[string]string
	if err := json.Unmarshal(line, &urls); err != nil {
		t.Fatal(err)
	}
	return urls
}

func TestAClientTalksToAnSDKServer(t *testing.T) {
	t.Parallel()
	urls := sdkServer(t)
	for _, scheme := range []string{"http", "ws"} {
		connect := func(client *testagent.Client) (*rpc.Conn, acp.Agent) {
			tr, err := dial(t, urls[scheme], access.Client{})
			if err != nil {
				t.Fatal(err)
			}
			c := rpc.NewConn(tr, acp.ClientSide(client), rpc.Options{})
			t.Cleanup(func() { c.Close() })
			if _, err := (acp.Agent{Conn: c}).Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
				t.Fatal(err)
			}
			return c, acp.Agent{Conn: c}
		}
		client := new(testagent.Client)
		c, a := connect(client)
		r, err := a.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/w", MCPServers: []acp.MCPServer{}})
		if err != nil {
			t.Fatal(err)
		}
		id := r.SessionID
		for _, text := range []string{"SAY one two three", "READ /w/x"} {
			if _, err := testagent.Prompt(t.Context(), c, id, text); err != nil {
				t.Fatal(scheme, text, err)
			}
		}
		want := []string{"one", "two", "three", "text of /w/x"}
		if got := client.Texts(id); !slices.Equal(got, want) {
			t.Errorf("%s: %q", scheme, got)
		}
		want = append(want, "waiting")
		go func() {
			for ; len(client.Texts(id)) < len(want) && t.Context().Err() == nil; time.Sleep(time.Millisecond) { // the turn has not begun
			}
			a.Cancel(t.Context(), &acp.CancelNotification{SessionID: id})
		}()
		if r, err := testagent.Prompt(t.Context(), c, id, "WAIT"); err != nil || r != acp.StopReasonCancelled {
			t.Error(scheme, r, err)
		}
		if r, err := a.ListSessions(t.Context(), &acp.ListSessionsRequest{}); err != nil || len(r.Sessions) == 0 {
			t.Error(scheme, r, err)
		}
		var e *acp.Error
		if _, err := testagent.Prompt(t.Context(), c, "nope", "SAY x"); !errors.As(err, &e) || e.Code != acp.ErrorCodeResourceNotFound {
			t.Error(scheme, err)
		}
		c.Close()

		client = new(testagent.Client)
		c, a = connect(client)
		if _, err := a.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: "/w", MCPServers: []acp.MCPServer{}}); err != nil {
			t.Fatal(scheme, err)
		}
		if got := client.Texts(id); !slices.Equal(got, want) {
			t.Errorf("%s: after load: %q", scheme, got)
		}
		c.Close()
		client = new(testagent.Client)
		c, a = connect(client)
		if _, err := a.ResumeSession(t.Context(), &acp.ResumeSessionRequest{SessionID: id, Cwd: "/w"}); err != nil {
			t.Fatal(scheme, err)
		}
		if _, err := testagent.Prompt(t.Context(), c, id, "SAY again"); err != nil {
			t.Error(scheme, err)
		}
		if got := client.Texts(id); !slices.Equal(got, []string{"again"}) {
			t.Errorf("%s: after resume: %q", scheme, got)
		}
		if _, err := a.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: id}); err != nil {
			t.Error(scheme, err)
		}
		if r, err = a.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/w", MCPServers: []acp.MCPServer{}}); err != nil {
			t.Fatal(scheme, err)
		}
		if _, err := testagent.Prompt(t.Context(), c, r.SessionID, "DROP going down"); err == nil {
			t.Error(scheme, "a turn ended well on a connection that was cut")
		}
		c.Close()
	}
}
