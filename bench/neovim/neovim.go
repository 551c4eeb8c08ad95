// Package neovim measures Hermes in a Neovim with a screen, side by side with a
// client of the same agent in plain Lua: one that splits the output at line
// breaks, decodes each line and fires an autocommand.
package neovim

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/neovim/go-client/nvim"
)

//go:embed drive.lua
var drive string

// Case is one thing that an agent does.
type Case struct {
	Name    string
	Updates int    // that the listener shows; 0: those of the history
	Script  string // for the agent, or "load"
}

// Cases are the measured cases.
var Cases = []Case{
	{"20,000 updates of 200 B", 20_000, "flood 20000 200"},
	{"500 updates of 20 KiB", 500, "flood 500 20480"},
	{"500 updates a second", 1000, "trickle 1000 2ms"},
	{"session with 10 MiB of history", 0, "load"},
}

// The cases, by number.
const (
	Small = iota
	Large
	Trickle
	Load
)

// updates is how many updates the listener shows. Those of the history are
// counted only then, because measured programs begin with this package.
func (c Case) updates() int {
	if c.Script == "load" {
		return bytes.Count(history(historyBytes), []byte("agent_message_chunk"))
	}
	return c.Updates
}

// Clients are the measured clients: Hermes, plain Lua, and plain Lua that draws the
// screen about as often as Hermes does.
var Clients = []string{"hermes", "plain", "drawing"}

// Result is what a client did in one run. Times are in milliseconds.
type Result struct {
	Setup     float64   // loading and configuring it, at the first use in a Neovim
	Connected float64   // until connect returned, the first time
	Ready     float64   // from there until the agent could be used
	Again     float64   // the same of a second agent, 0 where that makes no difference
	Took      float64   // from the request to its answer
	CPU       float64   // of Neovim
	Gap       float64   // longest that the event loop kept a timer waiting
	Latencies []float64 // from the agent's write to the listener, in order
	Seen      int       // updates

	Redraws int
	Frozen  float64 // longest time without a redraw
	Peak    int64   // resident bytes of Neovim, 0 where that is not known
}

// Percentile of the latencies.
func (r *Result) Percentile(p int) float64 {
	s := slices.Sorted(slices.Values(r.Latencies))
	if len(s) == 0 {
		return 0
	}
	return s[(len(s)-1)*p/100]
}

// best keeps the better of two runs, number by number, because other work on the
// machine can only make them worse. Redraws are those of the fastest run.
func (r *Result) best(other *Result) *Result {
	if r == nil {
		return other
	}
	b := *r
	for _, p := range []struct{ own, other *float64 }{
		{&b.Setup, &other.Setup}, {&b.Connected, &other.Connected}, {&b.Ready, &other.Ready}, {&b.Again, &other.Again},
		{&b.CPU, &other.CPU}, {&b.Gap, &other.Gap},
	} {
		*p.own = min(*p.own, *p.other)
	}
	b.Peak = min(b.Peak, other.Peak)
	if other.Took < b.Took {
		b.Took, b.Redraws, b.Frozen = other.Took, other.Redraws, other.Frozen
	}
	if other.Percentile(50) < b.Percentile(50) {
		b.Latencies = other.Latencies
	}
	return &b
}

// Measure runs every client in every case, in turns, each time in a new Neovim.
// Results are by case, then by client.
func Measure(ctx context.Context, program, root string, cases []Case, rounds int) ([][]*Result, error) {
	root, err := filepath.Abs(root) // Neovim runs in another folder
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bench-neovim")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	host := filepath.Join(dir, "hermes")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", host, "./tools/hermes")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0") // as make build does
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	results := make([][]*Result, len(cases))
	for i := range results {
		results[i] = make([]*Result, len(Clients))
	}
	for range rounds {
		for i, c := range cases {
			for j, client := range Clients {
				r, err := run(ctx, program, root, job{Client: client, Host: []string{host, "host"}}, c)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", client, c.Name, err)
				}
				results[i][j] = results[i][j].best(r)
			}
		}
	}
	return results, nil
}

// job is the input of drive.lua.
type job struct {
	Client  string            `msgpack:"client"`
	Script  string            `msgpack:"script"`
	Trickle bool              `msgpack:"trickle"`
	Session string            `msgpack:"session"`
	Agent   []string          `msgpack:"agent"`
	Env     map[string]string `msgpack:"env"`
	Host    []string          `msgpack:"host"`
	Channel int               `msgpack:"channel"`
}

// run measures one client in one case.
func run(ctx context.Context, program, root string, j job, c Case) (*Result, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "bench-neovim")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	v, err := nvim.NewChildProcess(
		nvim.ChildProcessCommand(program),
		nvim.ChildProcessArgs("--clean", "--embed", "-n", "--cmd", "set rtp^="+root),
		nvim.ChildProcessDir(dir),
		nvim.ChildProcessEnv(environ(dir)),
	)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	j.Script, j.Trickle = c.Script, strings.HasPrefix(c.Script, "trickle")
	j.Agent, j.Env, j.Session = []string{exe}, map[string]string{roleEnv: "1"}, sessionID
	j.Channel = v.ChannelID()
	s := screen{}
	done := make(chan string, 1)
	err = errors.Join(
		v.RegisterHandler("redraw", s.redraw),
		v.RegisterHandler("began", func(string) { s.reset() }),
		v.RegisterHandler("done", func(text string) { done <- text }),
		v.AttachUI(80, 24, map[string]any{"rgb": true, "ext_linegrid": true}),
		v.ExecLua(drive, nil, j),
	)
	if err != nil {
		return nil, err
	}
	var r Result
	select {
	case text := <-done:
		s.finish(&r)
		err = json.Unmarshal([]byte(text), &r)
	case <-ctx.Done():
		v.Input("<CR>") // a message may wait for it
		var messages string
		v.ExecLua(`return vim.fn.execute("messages")`, &messages)
		return nil, fmt.Errorf("%w: %s", ctx.Err(), messages)
	}
	if want := c.updates(); err == nil && r.Seen != want {
		err = fmt.Errorf("the listener was called for %d updates, not %d", r.Seen, want)
	}
	var pid int
	if err := errors.Join(err, v.Eval("getpid()", &pid)); err != nil {
		return nil, err
	}
	r.Peak = peak(pid)
	return &r, nil
}

// environ keeps a Neovim away from what the user has configured.
func environ(dir string) []string {
	return append(os.Environ(), "XDG_STATE_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir, "NVIM_LOG_FILE="+filepath.Join(dir, "nvim.log"))
}

// screen counts the frames that Neovim draws.
type screen struct {
	mu     sync.Mutex
	frames int
	last   time.Time
	frozen time.Duration
}

func (s *screen) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames, s.frozen, s.last = 0, 0, time.Now()
}

func (s *screen) redraw(events ...[]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range events {
		if e[0] == "flush" {
			s.frame()
			s.frames++
		}
	}
}

func (s *screen) frame() {
	now := time.Now()
	s.frozen, s.last = max(s.frozen, now.Sub(s.last)), now
}

func (s *screen) finish(r *Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frame()
	r.Redraws, r.Frozen = s.frames, float64(s.frozen)/1e6
}

// peak returns the most memory that a process has had resident, in bytes. The
// value of getrusage would include that of the process that started it.
func peak(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	n, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kib, err := strconv.ParseInt(n, 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
