package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
	"github.com/hermes-nvim/hermes/runtime/transport/socket"
	"github.com/hermes-nvim/hermes/runtime/transport/websocket"
)

// serveRemote is a new agent at the other end of a connection.
func serveRemote(ctx context.Context, t transport.Transport) {
	(&testagent.Agent{Mode: usual}).Serve(ctx, t)
}

// remotes serve an agent on loopback and return what connect takes
// to reach it.
var remotes = map[string]func(t *testing.T, token access.Token) string{
	"socket": func(t *testing.T, _ access.Token) string {
		path := filepath.Join(sockdir.New(t), "s", "agent")
		l, err := socket.ListenUnix(path)
		if err != nil {
			t.Fatal(err)
		}
		serveSocket(t, &socket.Server{Handle: serveRemote}, l)
		return fmt.Sprintf("protocol = 'socket', path = %q", path)
	},
	"tcp": func(t *testing.T, token access.Token) string {
		l, err := socket.ListenTCP("127.0.0.1:0", false)
		if err != nil {
			t.Fatal(err)
		}
		serveSocket(t, &socket.Server{Handle: serveRemote, Token: token}, l)
		return fmt.Sprintf("protocol = 'tcp', host = '127.0.0.1', port = %d", l.Addr().(*net.TCPAddr).Port)
	},
	"websocket": func(t *testing.T, token access.Token) string {
		s := httptest.NewServer(&websocket.Server{Guard: access.Guard{Token: token}, Handle: serveRemote})
		t.Cleanup(s.Close)
		return fmt.Sprintf("protocol = 'websocket', url = %q, headers = { ['X-Test'] = 'y' }", strings.Replace(s.URL, "http", "ws", 1))
	},
	"http": func(t *testing.T, token access.Token) string {
		h := &httpstream.Server{Guard: access.Guard{Token: token}, Handle: serveRemote}
		s := httptest.NewServer(h)
		t.Cleanup(func() {
			ctx, stop := context.WithCancel(context.Background())
			stop()
			h.Shutdown(ctx)
			s.CloseClientConnections()
			s.Close()
		})
		return fmt.Sprintf("protocol = 'http', url = %q", s.URL)
	},
}

func serveSocket(t *testing.T, s *socket.Server, l net.Listener) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestAnAgentThatRunsElsewhereIsReached(t *testing.T) {
	t.Parallel()
	for name, serve := range remotes {
		t.Run(name, func(t *testing.T) {
			inNeovim(t, func(t *testing.T, e *editor) {
				token := access.NewToken()
				at := serve(t, token)
				e.openWith(fmt.Sprintf("'far', { %s, token = %q }", at, token.Reveal()))
				e.prompt("SAY over there\nASK may I")
				e.is(`said():find("over there", 1, true) ~= nil`, true)
				e.is(`done.turn.result.stopReason`, "end_turn")
				e.lua(`hermes.disconnect("far", { on_done = finish("gone") })`)
				e.until(`done.gone and #of("Disconnected") == 1`)
				if name == "socket" { // which asks for no token
					return
				}
				e.lua(fmt.Sprintf(`hermes.connect('far', { %s, token = %q, on_done = finish("refused") })`, at, access.NewToken().Reveal()))
				e.until(`done.refused and #of("ConnectionFailed") == 1`)
				e.is(`done.refused.err.kind == "start" or done.refused.err.kind == "initialize"`, true)
				e.is(`of("ConnectionFailed")[1].error:find("agent \"far\"", 1, true) ~= nil`, true)
			})
		})
	}
}

// serveAgent is an agent in a process of its own, at a Unix socket.
func serveAgent(path string) int {
	l, err := socket.ListenUnix(path)
	if err == nil {
		err = (&socket.Server{Handle: serveRemote}).Serve(context.Background(), l)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// An agent in a container, on another machine: none of its names exists here.
func TestAnAgentThatKnowsFoldersByOtherNamesWorksInThem(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		at := filepath.Join(sockdir.New(t), "s", "agent")
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		agent := exec.Command(exe)
		agent.Env = append(os.Environ(), roleEnv+"=agent "+at)
		if err := agent.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			agent.Process.Kill()
			agent.Wait()
		})
		for end := time.Now().Add(patience.Soon); ; time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(at); err == nil {
				break
			} else if time.Now().After(end) {
				t.Fatal(err)
			}
		}
		here := e.cwd()
		if err := errors.Join(os.WriteFile(here+"/a.txt", []byte("of here\n"), 0o644), os.Mkdir(here+"/sub", 0o755)); err != nil {
			t.Fatal(err)
		}
		e.lua(`hermes.setup({ permissions = { rules = { { action = "allow", kind = "read", path = vim.fn.getcwd() .. "/**" } } } })`)
		e.lua(count)
		e.openWith(fmt.Sprintf("'far', { protocol = 'socket', path = %q, terminal_access = true, paths = { [vim.fn.getcwd()] = '/there/w' } }", at))
		id, _ := e.lua("return s").(string)
		e.prompt(fmt.Sprintf(`CWD
READ /there/w/a.txt
WRITE /there/w/b.txt from there
CALL terminal/create {"sessionId":%q,"command":"touch","args":["made"],"cwd":"/there/w/sub"}
MAY read /there/w/a.txt
MAY read /there/else
NOTIFY session/update {"sessionId":"$SESSION","update":{"sessionUpdate":"tool_call","toolCallId":"d","title":"Edit","locations":[{"path":"/there/w/c.txt"}]}}
NOTIFY session/update {"sessionId":"$SESSION","update":{"sessionUpdate":"tool_call_update","toolCallId":"d","content":[{"type":"diff","path":"/there/w/c.txt","newText":"/there/w"}]}}`, id))
		for _, said := range []string{"CWD /there/w\n", "READ {\"content\":\"of here", "WRITE {}"} {
			e.is(fmt.Sprintf("said():find(%q, 1, true) ~= nil", said), true)
		}
		e.is("vim.iter(of('AgentToolCall')):map(function(x) return x.update.locations[1].path end):totable()",
			[]string{here + "/a.txt", "/there/else", here + "/c.txt"})
		e.is("vim.iter(of('AgentToolCallUpdate')):map(function(x) local d = (x.update.content or {})[1] return d and { d.path, d.newText } end):totable()",
			[]any{[]string{here + "/c.txt", "/there/w"}})
		e.is("asked", []string{"may read /there/else"})
		for _, name := range []string{"b.txt", "sub/made"} {
			e.until(fmt.Sprintf("vim.uv.fs_stat(%q)", filepath.Join(here, name)))
		}
		e.lua(`done.turn = nil
hermes.prompt(s, { { type = "resource_link", name = "a", uri = vim.uri_from_fname(vim.fn.getcwd() .. "/a.txt") } }, { on_done = finish("turn") })`)
		e.until("done.turn")
		e.is(`said():find("LINK file:///there/w/a.txt", 1, true) ~= nil`, true)
	})
}

// T13 of the threat model: nobody can be asked in a Neovim without a screen.
func TestAnAgentThatRunsElsewhereRunsNothingUnasked(t *testing.T) {
	t.Parallel()
	for name, serve := range remotes {
		t.Run(name, func(t *testing.T) {
			inNeovim(t, func(t *testing.T, e *editor) {
				token := access.NewToken()
				at := serve(t, token)
				mark := filepath.Join(t.TempDir(), "mark")
				attempt := func(options string) {
					e.lua(`done, seen = {}, {}`)
					e.openWith(fmt.Sprintf("'far', { %s, token = %q, %s }", at, token.Reveal(), options))
					e.prompt("RUN touch " + mark)
					e.lua(`hermes.disconnect("far", { on_done = finish("gone") })`)
					e.until("done.gone")
				}
				for _, setting := range []string{"", "true", `"ask"`} {
					if setting != "" {
						e.lua(`hermes.setup({ permissions = { terminal_access = ` + setting + ` } })`)
					}
					attempt("")
					e.is(`said():find("could not be asked", 1, true) ~= nil`, true)
					e.is(`#of("PermissionRequest")`, 1)
					if _, err := os.Stat(mark); err == nil {
						t.Errorf("terminal_access = %q: it ran", setting)
					}
				}
				attempt("terminal_access = true")
				if _, err := os.Stat(mark); err != nil {
					t.Error("it did not run, although the agent's own setting allows it")
				}
				e.is(`#of("PermissionRequest")`, 0)
			})
		})
	}
}

// A turn that runs is cancelled when the user leaves its agent, wherever that
// runs.
func TestLeavingAnAgentCancelsItsTurns(t *testing.T) {
	agents := map[string]func(*testing.T, access.Token) string{"process": nil}
	maps.Copy(agents, remotes)
	for name, serve := range agents {
		for how, leave := range map[string]string{"disconnect": `hermes.disconnect()`, "quit": `vim.schedule(function() vim.cmd("qall!") end)`} {
			t.Run(name+"/"+how, func(t *testing.T) {
				inNeovim(t, func(t *testing.T, e *editor) {
					if serve == nil {
						e.open()
					} else {
						token := access.NewToken()
						e.openWith(fmt.Sprintf("'far', { %s, token = %q }", serve(t, token), token.Reveal()))
					}
					note := filepath.Join(t.TempDir(), "note")
					e.lua(`hermes.prompt(s, ...)`, "SAY on\nNOTE "+note)
					e.until(`said() == "on"`)
					e.lua(leave)
					var said []byte
					for end := time.Now().Add(patience.Soon); len(said) == 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
						said, _ = os.ReadFile(note)
					}
					if string(said) != rpc.ErrSessionCancelled.Error() {
						t.Errorf("the turn ended by %q", said)
					}
				})
			})
		}
	}
}

func TestAConfiguredAgentIsReachedByItsName(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		token := access.NewToken()
		e.lua(fmt.Sprintf("hermes.setup({ agents = { far = { %s, token = %q } } })", remotes["http"](t, token), token.Reveal()))
		e.openWith(`"far"`)
		e.prompt("SAY hello")
		e.is("said()", "hello")
	})
}

func TestTheEndOfARemoteAgentIsTold(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		path := filepath.Join(sockdir.New(t), "s", "agent")
		l, err := socket.ListenUnix(path)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- (&socket.Server{Handle: serveRemote}).Serve(ctx, l) }()
		e.openWith(fmt.Sprintf("'far', { protocol = 'socket', path = %q, reconnect = false }", path))
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		e.until(`#of("Disconnected") == 1`)
		e.is(`of("Disconnected")[1].reason`, "connection closed by the peer")
		e.lua(fmt.Sprintf(`hermes.connect('far', { protocol = 'socket', path = %q, on_done = finish("none") })`, path))
		e.until("done.none")
		e.is(`done.none.err.message:find('agent "far" cannot be reached', 1, true) ~= nil`, true)
	})
}
