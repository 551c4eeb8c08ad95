package launch_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
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
	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

func init() {
	moreModes["commands"] = serveCommands
	moreModes["asks"] = asks
	moreModes["parent of commands"] = parentOfCommands
}

// keepers are with and without one.
var keepers = map[string][]string{"keeper": {"/proc/self/exe", "keep"}, "none": nil}

var unique atomic.Int64

// sleeper is a command of its own kind, so that it can be found.
type sleeper struct{ seconds string }

func newSleeper() sleeper {
	return sleeper{fmt.Sprintf("600.%d", int64(os.Getpid())*1000+unique.Add(1))}
}

func (s sleeper) String() string { return "sleep " + s.seconds }

func (s sleeper) running() (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		if b, _ := os.ReadFile(name); string(b) == "sleep\x00"+s.seconds+"\x00" {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// begun waits until the command runs, and ends it with the test at the latest.
func (s sleeper) begun(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		for _, pid := range s.running() {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	eventually(t, "the command runs", func() bool { return len(s.running()) == 1 })
}

// connect returns a connection to a new agent. Those of the mode "commands" run
// the text of a prompt in a shell, in a session of its own.
func connect(t *testing.T, ctx context.Context, mode string, keeper []string) (*launch.Process, *rpc.Conn) {
	t.Helper()
	cmd := self(mode)
	cmd.Keeper, cmd.KillWait = keeper, patience.Soon
	p, err := launch.Start(ctx, cmd)
	if err != nil {
		t.Fatal(err)
	}
	c := rpc.NewConn(p.Transport(), nil, rpc.Options{})
	t.Cleanup(func() { c.Close() })
	if _, err := (acp.Agent{Conn: c}).Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
		t.Fatal(err)
	}
	return p, c
}

// An agent may be ended in any way in the middle of a turn. No command remains that it
// has started in a group or session of its own.
func TestNoCommandOutlivesItsAgent(t *testing.T) {
	commands := map[string]struct {
		script string
		reach  bool // without a keeper, unless the agent is killed
	}{
		"own session":     {"%s", true},
		"ignores signals": {"trap '' TERM HUP INT; %s & wait; wait", true},
		"orphan":          {"setsid setsid %s & true", false},
	}
	ends := map[string]struct {
		end    func(context.CancelFunc, *launch.Process, *rpc.Conn)
		killed bool
	}{
		"connection closed": {func(_ context.CancelFunc, _ *launch.Process, c *rpc.Conn) { c.Close() }, false},
		"stopped":           {func(_ context.CancelFunc, p *launch.Process, _ *rpc.Conn) { p.Stop(context.Background()) }, false},
		"context ends":      {func(cancel context.CancelFunc, _ *launch.Process, _ *rpc.Conn) { cancel() }, false},
		"stopped at once": {func(_ context.CancelFunc, p *launch.Process, _ *rpc.Conn) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			p.Stop(ctx)
		}, false},
		"killed": {func(_ context.CancelFunc, p *launch.Process, _ *rpc.Conn) {
			syscall.Kill(p.PID(), syscall.SIGKILL)
		}, true},
	}
	for with, keeper := range keepers {
		for what, command := range commands {
			for how, end := range ends {
				if keeper == nil && (!command.reach || end.killed) {
					continue
				}
				t.Run(with+"/"+what+"/"+how, func(t *testing.T) {
					t.Parallel()
					ctx, cancel := context.WithCancel(context.Background())
					defer cancel()
					p, c := connect(t, ctx, "commands", keeper)
					s := newSleeper()
					go prompt(t.Context(), c, fmt.Sprintf(command.script, s))
					s.begun(t)
					patience.Ends(t, "its end", func() error { end.end(cancel, p, c); return nil })
					ended(t, p)
					if pids := s.running(); len(pids) > 0 {
						t.Errorf("%v is left", pids)
					}
				})
			}
		}
	}
}

// A process that is killed ends its agents by their keepers, whatever they and
// their commands ignore.
func TestAKilledProgramLeavesNothingOfItsAgents(t *testing.T) {
	t.Parallel()
	s := newSleeper()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), mode+"=parent of commands", "GORACE=atexit_sleep_ms=0", scriptEnv+"=trap '' TERM HUP; setsid "+s.String()+" & wait")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, _ := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid == 0 {
		t.Fatal(line, err)
	}
	s.begun(t)
	parent.Process.Kill()
	parent.Wait()
	eventually(t, "the end of agent and command", func() bool { return len(s.running()) == 0 && !alive(pid) })
}

// Running turns are cancelled, and their end is awaited before the agent's input ends.
// Open questions of the agent are answered first.
func TestTurnsAreCancelledBeforeAnAgentEnds(t *testing.T) {
	t.Parallel()
	for with, keeper := range keepers {
		for how, end := range map[string]func(*launch.Process) error{
			"closed":  func(p *launch.Process) error { return p.Transport().Close() },
			"stopped": func(p *launch.Process) error { return p.Stop(context.Background()) },
		} {
			t.Run(with+"/"+how, func(t *testing.T) {
				t.Parallel()
				cmd := self("asks")
				cmd.Keeper, cmd.EOFWait = keeper, patience.Soon // which it needs, on a busy machine
				p := start(t, cmd)
				tr := p.Transport()
				for i := range 2 {
					msg := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s%d","prompt":[]}}`, i, i)
					if err := tr.Write([]byte(msg)); err != nil {
						t.Fatal(err)
					}
					if msg, err := tr.Read(nil); err != nil || !strings.Contains(string(msg), "request_permission") {
						t.Fatal(string(msg), err)
					}
				}
				if how == "stopped" { // the owner of the connection continues to read
					go func() {
						for {
							if _, err := tr.Read(nil); err != nil {
								return
							}
						}
					}()
				}
				if err := end(p); err != nil {
					t.Fatal(err)
				}
				e := ended(t, p)
				want := []string{"cancel", "cancel", "early answer", "early answer", "late answer", "late answer", "no turn", "end of input"}
				if how == "stopped" {
					want = want[:4] // the owner of the connection answers the later requests
				}
				if got := strings.Split(e.Stderr, "\n"); strings.Join(got[:min(len(got), len(want))], ",") != strings.Join(want, ",") {
					t.Errorf("the agent saw %q", got)
				}
				if e.Code != 0 {
					t.Error(e)
				}
			})
		}
	}
}

// A turn that does not end when it is cancelled delays the end for a second. An agent
// without a turn gets no cancel, because some agents apply it to the next prompt.
func TestAnAgentThatIgnoresACancelIsStopped(t *testing.T) {
	t.Parallel()
	p, c := connect(t, t.Context(), "commands", nil)
	s := newSleeper()
	go prompt(t.Context(), c, s.String())
	s.begun(t)
	began := time.Now()
	patience.Ends(t, "Close", c.Close)
	if d := time.Since(began); d < time.Second {
		t.Errorf("took %v", d)
	}
	ended(t, p)
}

// A daemon that an agent has started while no turn ran is not ended with the agent,
// because another agent may use it. Processes that it starts for a turn are ended.
func TestADaemonStartedBetweenTurnsIsSpared(t *testing.T) {
	t.Parallel()
	for how, end := range map[string]func(p *launch.Process, c *rpc.Conn){
		"closed": func(_ *launch.Process, c *rpc.Conn) { c.Close() },
		"killed": func(p *launch.Process, _ *rpc.Conn) { syscall.Kill(p.PID(), syscall.SIGKILL) },
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p, c := connect(t, t.Context(), "commands", keepers["keeper"])
			daemon, child, command, later, attached := newSleeper(), newSleeper(), newSleeper(), newSleeper(), newSleeper()
			fifo := filepath.Join(t.TempDir(), "fifo")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			// A daemon that starts a command on request.
			between := func(script string) {
				t.Helper()
				if err := c.Call(t.Context(), "_run", acp.Raw(`{"script":`+strconv.Quote(script)+`}`), nil); err != nil {
					t.Fatal(err)
				}
			}
			between(fmt.Sprintf("setsid sh -c '%s & read go <%s; %s & wait' >/dev/null 2>&1 & true", daemon, fifo, child))
			daemon.begun(t)
			between(attached.String())
			attached.begun(t)
			time.Sleep(50 * time.Millisecond) // the clock of processes has ticks of 10 ms
			turn := make(chan error, 1)
			go func() {
				_, err := prompt(t.Context(), c, fmt.Sprintf("echo go >%s; setsid %s & true", fifo, command))
				turn <- err
			}()
			child.begun(t)
			command.begun(t)
			if err := c.Notify(t.Context(), "_finish", nil); err != nil {
				t.Fatal(err)
			}
			if err := <-turn; err != nil {
				t.Fatal(err)
			}
			go prompt(t.Context(), c, "setsid "+later.String()+" & true")
			later.begun(t)
			end(p, c)
			ended(t, p)
			for name, s := range map[string]sleeper{"the daemon's command in a turn": child, "a command": command, "one of the last turn": later, "a child of the agent": attached} {
				if pids := s.running(); len(pids) > 0 {
					t.Errorf("%s is left: %v", name, pids)
				}
			}
			if len(daemon.running()) != 1 {
				t.Error("the daemon is gone")
			}
		})
	}
}

func TestTwoHundredAgentsInTurnLeaveNothingBehind(t *testing.T) {
	for with, keeper := range keepers {
		t.Run(with, func(t *testing.T) {
			leak.Check(t)
			for range 200 {
				cmd := shell("setsid sleep 600 & echo {}; read line")
				cmd.Keeper = keeper
				p, err := launch.Start(context.Background(), cmd)
				if err != nil {
					t.Fatal(err)
				}
				p.Transport().Read(nil)
				p.Transport().Close()
			}
		})
	}
}

// keepInherited keeps descriptors that whoever started the tests left open from the programs
// that the tests start.
func keepInherited(t *testing.T) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// An agent behind a keeper starts, fails to start, ends and is reported in the same way
// as one without.
func TestAKeeperIsNotNoticed(t *testing.T) {
	t.Parallel()
	keepInherited(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := gobuild.Write(script, "echo hi\n"); err != nil {
		t.Fatal(err)
	}
	for name, cmd := range map[string]launch.Command{
		"status":         shell("echo out; echo err >&2; exit 3"),
		"signal":         shell("kill -TERM $$"),
		"fault":          shell("kill -SEGV $$"),
		"no interpreter": {Path: script},
		"directory":      {Path: "sh", Args: []string{"-c", "pwd >&2"}, Dir: dir},
		"environment":    {Path: "sh", Args: []string{"-c", "env | sort | grep -v ^_= >&2"}, Env: []string{"X=1"}},
		"group":          shell("cut -d ' ' -f 5 /proc/$$/stat | grep -c ^$$'$' >&2"),
		"descriptors":    shell("exec ls /proc/self/fd >&2"),
		"ignored":        shell("exec grep SigIgn /proc/self/status >&2"),
		"blocked":        shell("exec grep SigBlk /proc/self/status >&2"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen []string
			for _, keeper := range keepers {
				cmd.Keeper = keeper
				p, err := launch.Start(t.Context(), cmd)
				if err != nil {
					if !errors.Is(err, syscall.ENOEXEC) {
						t.Error(err)
					}
					seen = append(seen, err.Error())
					continue
				}
				seen = append(seen, ended(t, p).Error())
				p.Transport().Close()
			}
			if seen[0] != seen[1] {
				t.Errorf("%q\n%q", seen[0], seen[1])
			}
		})
	}
}

func TestAProgramThatIsNotAKeeperIsReported(t *testing.T) {
	t.Parallel()
	for name, keeper := range map[string][]string{"missing": {filepath.Join(t.TempDir(), "keeper")}, "another program": {"/bin/true"}} {
		cmd := shell("exit")
		cmd.Keeper = keeper
		if _, err := launch.Start(t.Context(), cmd); err == nil || !strings.Contains(err.Error(), "keeper "+keeper[0]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An agent ends with its keeper.
func TestAKilledKeeperEndsItsAgent(t *testing.T) {
	t.Parallel()
	p, _ := connect(t, t.Context(), "commands", keepers["keeper"])
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	parent, _ := strconv.Atoi(strings.Fields(rest)[1])
	if parent == os.Getpid() {
		t.Fatal("there is no keeper")
	}
	syscall.Kill(parent, syscall.SIGKILL)
	if e := ended(t, p); e.Signal != "killed" {
		t.Error(e)
	}
	eventually(t, "the end of the agent", func() bool { return !alive(p.PID()) })
}

// commands is an agent that runs prompts as commands and does not end them.
type commands struct {
	acp.UnimplementedAgentHandler
	finish chan struct{}
}

func (a *commands) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1}, nil
}

// early is a handler that serves requests before initialize: it hides its side.
type early struct{ acp.Handler }

// Side hides that this is an agent, from which a connection refuses requests
// before initialize.
func (early) Side() acp.Side { return acp.SideBoth }

func serveCommands() {
	conn := rpc.Connect(transport.Stdio(), func(c *rpc.Conn) acp.Handler {
		return early{acp.AgentSide(&commands{finish: make(chan struct{})})}
	}, rpc.Options{Server: true})
	<-conn.Done()
}

// scriptEnv is the prompt of parentOfCommands.
const scriptEnv = "HERMES_AGENT_TEST_SCRIPT"

// parentOfCommands has an agent in the middle of a turn, and says its id.
func parentOfCommands() {
	cmd := self("commands")
	cmd.Keeper = keepers["keeper"]
	p, err := launch.Start(context.Background(), cmd)
	if err != nil {
		panic(err)
	}
	fmt.Println(p.PID())
	prompt(context.Background(), rpc.NewConn(p.Transport(), nil, rpc.Options{}), os.Getenv(scriptEnv))
}

func (a *commands) Prompt(_ context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	if err := detached(p.Prompt[0].(*acp.TextContent).Text); err != nil {
		return nil, err
	}
	<-a.finish
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

func (a *commands) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func (a *commands) ExtRequest(_ context.Context, _ string, params json.RawMessage) (json.RawMessage, error) {
	var p struct{ Script string }
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	return json.RawMessage("{}"), detached(p.Script)
}

func (a *commands) ExtNotification(context.Context, string, json.RawMessage) error {
	a.finish <- struct{}{}
	return nil
}

func detached(script string) error {
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait()
	return nil
}

// asks is an agent on the bare transport. It asks for permission in each turn, and
// twice more after the second answer. It prints the messages that it gets.
func asks() {
	tr := transport.Stdio()
	say := func(what string) { fmt.Fprintln(os.Stderr, what) }
	ask := func(id string) {
		tr.Write([]byte(`{"jsonrpc":"2.0","id":"` + id + `","method":"session\/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[]}}`))
	}
	prompts, answers := 0, 0
	for {
		msg, err := tr.Read(nil)
		text := string(msg)
		cancelled := strings.Contains(text, `"outcome":"cancelled"`)
		switch {
		case err != nil:
			say("end of input")
			return
		case strings.Contains(text, "session/prompt"):
			prompts++
			ask(fmt.Sprint("early ", prompts))
		case strings.Contains(text, "session/cancel"):
			say("cancel")
		case cancelled && strings.Contains(text, "early"):
			say("early answer")
			if answers++; answers == prompts {
				ask("late 1")
				ask("late 2")
			}
		case cancelled && strings.Contains(text, "late"):
			say("late answer")
			if answers++; answers == prompts+2 {
				say("no turn")
				for i := range prompts {
					tr.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"cancelled"}}`, i))
				}
			}
		default:
			say(text)
		}
	}
}
