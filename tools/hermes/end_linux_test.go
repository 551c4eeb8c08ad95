package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport/socket"
)

// stubbornAgent answers what it has to, and ends with nothing but KILL. Its one
// turn is a command that has left its group and session, ignores signals and has
// no end. It notes each cancel in a file beside it.
const stubbornAgent = `trap '' TERM HUP
while read -r line; do
	id=${line#*\"id\":}; id=${id%%%%,*}
	case $line in
	*'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1}}' ;;
	*'"session/new"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"s"}}' ;;
	*'"session/prompt"'*) setsid setsid sleep %s >/dev/null 2>&1 & ;;
	*'"session/cancel"'*) echo "$line" >>"$0.cancels" ;;
	esac
done
while :; do sleep 1; done`

var unique atomic.Int64

// However hermes run and hermes serve end, or lose their client, in the middle
// of a turn: the turn is cancelled, unless they are killed, and neither the
// agent nor its command is left.
func TestNothingOutlivesTheProgram(t *testing.T) {
	signal := func(s syscall.Signal) func(*exec.Cmd, *rpc.Conn) {
		return func(cmd *exec.Cmd, _ *rpc.Conn) { cmd.Process.Signal(s) }
	}
	for name, test := range map[string]struct {
		args      string
		end       func(*exec.Cmd, *rpc.Conn)
		cancelled bool
	}{
		"run, terminated": {"run x", signal(syscall.SIGTERM), true},
		"run, interrupted twice": {"run x", func(cmd *exec.Cmd, _ *rpc.Conn) {
			cmd.Process.Signal(syscall.SIGINT)
			for cmd.Process.Signal(syscall.SIGINT) == nil { // two may become one
				time.Sleep(50 * time.Millisecond)
			}
		}, false},
		"run, out of time":     {fmt.Sprint("run --timeout ", patience.Soon/30, " x"), func(*exec.Cmd, *rpc.Conn) {}, true},
		"run, killed":          {"run x", signal(syscall.SIGKILL), false},
		"lint run, terminated": {"lint run --step prompt", signal(syscall.SIGTERM), false},
		"lint run, killed":     {"lint run --step prompt", signal(syscall.SIGKILL), false},
		"serve, client leaves": {"serve --listen unix:s/s", func(_ *exec.Cmd, c *rpc.Conn) { c.Close() }, true},
		"serve, terminated":    {"serve --listen unix:s/s", signal(syscall.SIGTERM), true},
		"serve, killed":        {"serve --listen unix:s/s", signal(syscall.SIGKILL), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := sockdir.New(t)
			agent := filepath.Join(dir, "agent.sh")
			seconds := fmt.Sprintf("600.%d", int64(os.Getpid())*1000+unique.Add(1))
			if err := os.WriteFile(agent, fmt.Appendf(nil, stubbornAgent, seconds), 0o600); err != nil {
				t.Fatal(err)
			}
			command := func() []int { return processes(t, func(args string) bool { return args == "sleep "+seconds+" " }) }
			all := func() []int {
				return append(command(), processes(t, func(args string) bool { return strings.Contains(args, agent) })...)
			}
			cmd := hermes(t, dir, append(strings.Fields(test.args), "--", "sh", agent)...)
			cmd.WaitDelay = time.Second
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			t.Cleanup(func() {
				for _, pid := range all() {
					syscall.Kill(pid, syscall.SIGKILL)
				}
			})
			var conn *rpc.Conn
			if strings.HasPrefix(test.args, "serve") {
				conn = prompted(t, filepath.Join(dir, "s", "s"))
			}
			eventually(t, "the command runs", func() bool { return len(command()) == 1 })
			test.end(cmd, conn)
			eventually(t, "the end of agent and command", func() bool { return len(command()) == 0 && len(all()) <= 1 })
			if conn != nil {
				cmd.Process.Signal(syscall.SIGTERM)
			}
			select {
			case <-ended:
			case <-time.After(patience.Soon):
				t.Error("the program does not end")
			}
			eventually(t, "the end of the keeper", func() bool { return len(all()) == 0 })
			b, _ := os.ReadFile(agent + ".cancels")
			if test.cancelled && !strings.Contains(string(b), `"sessionId":"s"`) {
				t.Errorf("the turn was not cancelled: %q", b)
			}
		})
	}
}

// An agent whose turn ends neither in time nor after a cancel is asked to end before it is
// killed, so that what is between them can write what it has to.
func TestAnAgentThatIsOutOfTimeIsAskedToEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	agent := filepath.Join(dir, "agent.sh")
	script := strings.Replace(stubbornAgent, "trap '' TERM HUP", "trap 'echo >\"$0.asked\"; exit' TERM", 1)
	script = strings.Replace(script, "setsid setsid sleep %s >/dev/null 2>&1 &", ":", 1)
	script = strings.ReplaceAll(script, "%%", "%")
	script = strings.Replace(script, "while :;", `>"$0.closed"`+"\nwhile :;", 1)
	if err := os.WriteFile(agent, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, argv := range map[string][]string{
		"alone":          {"sh", agent},
		"behind a proxy": {self(t), "lint", "proxy", "--out", "r.jsonl", "--report", "x.jsonl", "--", "sh", agent},
	} {
		began := time.Now()
		_, errs, status := end(t, hermes(t, dir, append(demo("--timeout", "1s", "go"), append([]string{"--"}, argv...)...)...))
		if status != statusTimeout {
			t.Errorf("%s: %d after %v\n%s", name, status, time.Since(began), errs)
		}
		for _, file := range []string{"agent.sh.closed", "agent.sh.asked"} {
			if err := os.Remove(filepath.Join(dir, file)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for file, want := range map[string]string{"x.jsonl": `"result"`, "r.jsonl": `"end"`} {
		if text := readFile(t, filepath.Join(dir, file)); !strings.Contains(text, want) {
			t.Errorf("%s has no %s:\n%s", file, want, text)
		}
	}
}

// slowlyEndingAgent answers one prompt. When its input ends, it goes on for some seconds
// whatever signals it gets, and then says in a file beside it that it is done.
const slowlyEndingAgent = `trap '' TERM HUP
while read -r line; do
	id=${line#*\"id\":}; id=${id%%%%,*}
	case $line in
	*'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1}}' ;;
	*'"session/new"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"s"}}' ;;
	*'"session/prompt"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"stopReason":"end_turn"}}' ;;
	esac
done
>"$0.ending"
sleep %v
>"$0.done"`

// An agent may take long to write what it keeps, and the user need not wait for that.
func TestAnAgentEndsInPeaceUnlessTheUserInterrupts(t *testing.T) {
	for name, test := range map[string]struct {
		takes     float64 // seconds
		interrupt bool
	}{"undisturbed": {4.5, false}, "interrupted": {9, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent := filepath.Join(t.TempDir(), "agent.sh")
			write(t, agent, fmt.Sprintf(slowlyEndingAgent, test.takes))
			exists := func(name string) bool {
				_, err := os.Stat(name)
				return err == nil
			}
			cmd := hermes(t, filepath.Dir(agent), "run", "x", "--", "sh", agent)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if test.interrupt {
				eventually(t, "the agent begins to end", func() bool { return exists(agent + ".ending") })
				cmd.Process.Signal(os.Interrupt)
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			if done := exists(agent + ".done"); done == test.interrupt {
				t.Errorf("the agent came to its end: %v", done)
			}
		})
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience.Soon); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// prompted connects to a server and has a turn that does not end.
func prompted(t *testing.T, path string) *rpc.Conn {
	t.Helper()
	var conn *rpc.Conn
	eventually(t, "a server", func() bool {
		tr, err := socket.DialUnix(t.Context(), path)
		if err == nil {
			conn = rpc.NewConn(tr, nil, rpc.Options{})
		}
		return err == nil
	})
	t.Cleanup(func() { conn.Close() })
	agent := acp.Agent{Conn: conn}
	if _, err := agent.Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
		t.Fatal(err)
	}
	go agent.Prompt(t.Context(), &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{acp.NewTextContent("x")}})
	return conn
}

// processes are those with such arguments, a blank after each.
func processes(t *testing.T, is func(args string) bool) (pids []int) {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, _ := os.ReadFile(name)
		if is(strings.ReplaceAll(string(b), "\x00", " ")) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}
