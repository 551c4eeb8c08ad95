//go:build unix

package launch_test

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/launch"
)

// eventually waits for a condition.
var eventually = patience.True

// mode makes the test binary one of the processes below.
const mode = "HERMES_AGENT_TEST_MODE"

// moreModes are those that only some systems have.
var moreModes = map[string]func(){}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "keep" {
		syscall.Exit(launch.Keep(os.Args[2:])) // os.Exit takes a second with the race detector
	}
	testagent.Main()
	switch os.Getenv(mode) {
	case "":
		os.Exit(leak.Main(m))
	case "polite": // ends on TERM only
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		fmt.Println("{}")
		<-term
		os.Exit(7)
	case "parent": // starts an agent and dies
		p, err := launch.Start(context.Background(), launch.Command{Path: os.Args[0], Env: []string{mode + "=polite"}})
		if err != nil {
			panic(err)
		}
		p.Transport().Read(nil)
		fmt.Println(p.PID())
		bufio.NewReader(os.Stdin).ReadString('\n')
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	default:
		moreModes[os.Getenv(mode)]()
	}
}

const recorded = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"é"}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\ud83d\ude00"}}}}
{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}
`

// agent knows every session.
const agent = "SERVE any"

// deaf never reads, and ends only when it is killed.
const deaf = "DEAF\nLINE {}\nWAIT 1h"

// plays is the test binary as an agent that plays a scenario.
func plays(scenario string) launch.Command {
	cmd := self("")
	cmd.Env = append(cmd.Env, testagent.Env+"="+scenario)
	return cmd
}

// self is the test binary as an agent. With the race detector on it would
// sleep for a second before it exits.
func self(as string) launch.Command {
	return launch.Command{Path: os.Args[0], Env: []string{mode + "=" + as, "GORACE=atexit_sleep_ms=0"}}
}

func shell(script string) launch.Command {
	return launch.Command{Path: "sh", Args: []string{"-c", script}}
}

func start(t *testing.T, cmd launch.Command) *launch.Process {
	t.Helper()
	cmd.KillWait = cmp.Or(cmd.KillWait, patience.Soon) // of the kernel, when the machine is busy
	p, err := launch.Start(context.Background(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Transport().Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func ended(t *testing.T, p *launch.Process) *launch.ExitError {
	t.Helper()
	patience.Value(t, "end of the agent", p.Done())
	return p.Err().(*launch.ExitError)
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) == nil && os.IsNotExist(err) && !hasProc
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

var hasProc = func() bool { _, err := os.Stat("/proc/self/stat"); return err == nil }()
