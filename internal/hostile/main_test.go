//go:build unix

package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

const mib = 1 << 20

var program string // plays scenarios

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hostile")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// Always without the race detector, because it starts thousands of times and must
	// take only a few milliseconds.
	if program, err = gobuild.Program(dir, "internal/hostile/agent"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return leak.Main(m)
}

// workers runs a job for each number below n, a few at a time.
func workers(n int, job func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range 4 {
		wg.Go(func() {
			for i := range next {
				job(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// command is an agent that plays a scenario, with short shutdown waits.
func command(script string) launch.Command {
	return launch.Command{
		Path: program, Env: []string{testagent.Env + "=" + script},
		EOFWait: 300 * time.Millisecond, TermWait: 300 * time.Millisecond,
		KillWait: patience.Soon, // of the kernel, when the machine is busy
	}
}

func start(t *testing.T, script string) *launch.Process {
	t.Helper()
	p, err := launch.Start(context.Background(), command(script))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// witness is a client that remembers what it received.
type witness struct {
	mu      sync.Mutex
	updates [][]byte // params of session/update
	asked   int
	ready   chan struct{} // closed by _ready
	hold    chan struct{} // requests wait for it, unless nil

	sizesOnly bool // do not keep the params
}

func newWitness() *witness { return &witness{ready: make(chan struct{})} }

func (*witness) Side() acp.Side { return acp.SideClient }

func (w *witness) HandleNotification(_ context.Context, method string, params json.RawMessage) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch method {
	case "_ready":
		close(w.ready)
	case acp.MethodSessionUpdate:
		if w.sizesOnly {
			params = params[:0]
		}
		w.updates = append(w.updates, bytes.Clone(params))
	default:
		return acp.MethodNotFound(method)
	}
	return nil
}

func (w *witness) HandleRequest(ctx context.Context, method string, _ json.RawMessage) (acp.Appender, error) {
	if method != acp.MethodSessionRequestPermission {
		return nil, acp.MethodNotFound(method)
	}
	w.mu.Lock()
	w.asked++
	w.mu.Unlock()
	if w.hold != nil {
		select {
		case <-w.hold:
		case <-ctx.Done():
		}
	}
	return acp.Raw(`{"outcome":{"outcome":"cancelled"}}`), nil
}

func (w *witness) seen() [][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.updates
}

const (
	ready  = `LINE {"jsonrpc":"2.0","method":"_ready"}` + "\n"
	params = `{"sessionId":"s","prompt":[]}`
)

// prompt starts a turn and returns where its error will be.
func prompt(ctx context.Context, c *rpc.Conn) <-chan error {
	done := make(chan error, 1)
	go func() { done <- c.Call(ctx, acp.MethodSessionPrompt, acp.Raw(params), nil) }()
	return done
}

// deadline is a context whose deadline passes when the test says so.
type deadline struct {
	context.Context
	passed chan struct{}
	pass   func()
}

func newDeadline(t *testing.T) *deadline {
	d := &deadline{Context: t.Context(), passed: make(chan struct{})}
	d.pass = sync.OnceFunc(func() { close(d.passed) })
	return d
}

func (d *deadline) Done() <-chan struct{} { return d.passed }

func (d *deadline) Err() error {
	select {
	case <-d.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// eventually waits for a condition.
var eventually = patience.True

func receive[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	return patience.Value(t, what, ch)
}

func isA[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// exitOf returns how the agent behind an error ended, which the error must say.
func exitOf(t *testing.T, err error) *launch.ExitError {
	t.Helper()
	var exit *launch.ExitError
	if !isA[*rpc.ClosedError](err) || !errors.As(err, &exit) || isA[*acp.Error](err) {
		t.Errorf("%v does not tell how the agent ended", err)
		return &launch.ExitError{}
	}
	return exit
}

// turn returns a whole turn as an agent sent it, and its lines.
func turn(t *testing.T) (path string, text []byte, lines []string) {
	t.Helper()
	path, err := filepath.Abs("testdata/turn.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if text, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return path, text, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// paramsOf returns the params of the updates among whole lines.
func paramsOf(t *testing.T, lines []string) []string {
	t.Helper()
	var out []string
	for _, l := range lines {
		var m struct {
			Method string
			Params json.RawMessage
		}
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatal(err)
		}
		if m.Method == acp.MethodSessionUpdate {
			out = append(out, string(m.Params))
		}
	}
	return out
}

// closed closes a connection and checks that nothing of its agent is left.
func closed(t *testing.T, what string, c *rpc.Conn, p *launch.Process) {
	t.Helper()
	if err := patience.Ends(t, what+": Close", c.Close); err != nil {
		t.Errorf("%s: Close: %v", what, err)
	}
	select {
	case <-p.Done():
	default:
		t.Errorf("%s: the agent has not been waited for", what)
	}
	// A killed orphan remains until its new parent has waited for it.
	for end := time.Now().Add(patience.Soon); syscall.Kill(-p.PID(), 0) == nil && running(p.PID()); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("%s: something of the agent's group still runs", what)
			return
		}
	}
}

// running reports whether a process of a group is alive. Zombies count where the
// system does not distinguish them.
func running(group int) bool {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return true
	}
	for _, e := range entries {
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		_, rest, ok := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); err == nil && ok && len(f) > 2 && f[2] == strconv.Itoa(group) && f[0] != "Z" {
			return true
		}
	}
	return false
}
