package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	coder "github.com/coder/acp-go-sdk"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// Live is the performance of a client in its own process, with an agent that only
// writes ready-made lines. There are three lower bounds: split only counts the
// lines; echo answers each line with itself over the same transport, in one
// goroutine; loop decodes and answers the question there with the same bindings,
// without an engine.
type Live struct {
	Who       string
	PerSecond float64       // updates
	CPU       time.Duration // for all updates, user and system
	P50, P99  time.Duration // of a permission question and its answer, everybody on one processor
	FreeP50   time.Duration // the same, on all processors
	Flooded   int64         // resident bytes at the peak while Updates of the mix come as fast as it takes them
	Peak      int64         // the same with one message of LargeMessage
}

// The numbers of messages, and the size of a large one in bytes.
const (
	Updates      = 100_000
	Questions    = 5000
	LargeMessage = 64 << 20
)

// window is how many updates may wait for a client that does not survive more:
// coder's client ends the connection at 1,024.
const window = 512

const roleEnv = "HERMES_BENCH_ROLE"

// Role plays the client that a parent asked for, and reports whether it did.
func Role() bool {
	who, task, ok := strings.Cut(os.Getenv(roleEnv), " ")
	if !ok {
		return false
	}
	p := &player{task: task}
	switch who {
	case "asker":
		ask(task)
		return true
	case "loop":
		loop()
	case "hermes":
		c := rpc.NewConn(transport.Stdio(), acp.ClientSide(hermesPlayer{player: p}), rpc.Options{})
		<-c.Done()
	case "coder":
		<-coder.NewClientSideConnection(coderPlayer{player: p}, os.Stdout, os.Stdin).Done()
	case "echo":
		for t, buf := transport.Stdio(), []byte(nil); ; {
			line, err := t.Read(buf)
			if err != nil {
				break
			}
			t.Write(line)
			buf = line
		}
	case "split":
		in := bufio.NewReaderSize(os.Stdin, 64<<10)
		for {
			if _, err := in.ReadSlice('\n'); err != nil {
				break
			}
			p.update()
		}
	}
	p.report()
	return true
}

type player struct {
	task string
	seen int
}

// update counts an update, and notifies the parent after each window.
func (p *player) update() {
	if p.seen++; p.task == "window" && p.seen%window == 0 || (p.task == "free" || p.task == "mix") && p.seen == Updates || p.task == "large" {
		os.Stderr.WriteString(".")
	}
}

// report sends the cost to the parent.
func (p *player) report() {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	fmt.Fprintf(os.Stderr, "\n%d %d\n", r.Utime.Nano()+r.Stime.Nano(), peak(r.Maxrss<<10))
}

type hermesPlayer struct {
	acp.UnimplementedClientHandler
	*player
}

func (p hermesPlayer) SessionUpdate(context.Context, *acp.SessionNotification) error {
	p.update()
	return nil
}

func (hermesPlayer) RequestPermission(_ context.Context, r *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return &acp.RequestPermissionResponse{Outcome: &acp.SelectedPermissionOutcome{OptionID: r.Options[0].OptionID}}, nil
}

type coderPlayer struct {
	coder.Client
	*player
}

func (p coderPlayer) SessionUpdate(context.Context, coder.SessionNotification) error {
	p.update()
	return nil
}

func (coderPlayer) RequestPermission(_ context.Context, r coder.RequestPermissionRequest) (coder.RequestPermissionResponse, error) {
	return coder.RequestPermissionResponse{Outcome: coder.RequestPermissionOutcome{Selected: &coder.RequestPermissionOutcomeSelected{OptionId: r.Options[0].OptionId}}}, nil
}

// child is a client under test.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	told *bufio.Reader // standard error
}

// role returns this program in a role.
func role(who, task string) (*exec.Cmd, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleEnv+"="+who+" "+task)
	return cmd, nil
}

func startChild(who, task string) (*child, error) {
	cmd, err := role(who, task)
	if err != nil {
		return nil, err
	}
	c := &child{cmd: cmd}
	in, err1 := c.cmd.StdinPipe()
	out, err2 := c.cmd.StdoutPipe()
	told, err3 := c.cmd.StderrPipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	c.in, c.out, c.told = in, bufio.NewReader(out), bufio.NewReader(told)
	return c, c.cmd.Start()
}

// end returns what the child cost.
func (c *child) end() (cpu time.Duration, peak int64, err error) {
	c.in.Close()
	text, err := io.ReadAll(c.told)
	if err := errors.Join(err, c.cmd.Wait()); err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, text)
	}
	f := strings.Fields(string(text[bytes.LastIndexByte(bytes.TrimSpace(text), '\n')+1:]))
	if len(f) != 2 {
		return 0, 0, fmt.Errorf("client said %q", text)
	}
	ns, err1 := strconv.ParseInt(f[0], 10, 64)
	resident, err2 := strconv.ParseInt(f[1], 10, 64)
	return time.Duration(ns), resident, errors.Join(err1, err2)
}

// MeasureLive measures all clients in turns and keeps the best of three.
func MeasureLive() ([]Live, error) {
	whos := []struct{ name, updates, ask string }{
		{"hermes", "free", "ask"}, {"hermes in windows", "window", ""}, {"coder", "window", "ask"},
		{"split", "free", ""}, {"echo", "", "ask"}, {"loop", "", "ask"},
	}
	out := make([]Live, len(whos))
	for round := range 3 {
		for i, w := range whos {
			l := &out[i]
			l.Who = w.name
			who, _, _ := strings.Cut(w.name, " ")
			if w.updates != "" {
				perSecond, cpu, err := updates(who, w.updates)
				if err != nil {
					return nil, fmt.Errorf("%s, updates: %w", w.name, err)
				}
				if l.PerSecond = max(l.PerSecond, perSecond); round == 0 || cpu < l.CPU {
					l.CPU = cpu
				}
			}
			if w.ask == "" {
				continue
			}
			p50, p99, err1 := questions(who, true)
			free, _, err2 := questions(who, false)
			if err := errors.Join(err1, err2); err != nil {
				return nil, fmt.Errorf("%s, questions: %w", w.name, err)
			}
			if round == 0 || p50 < l.P50 {
				l.P50, l.P99 = p50, p99
			}
			if round == 0 || free < l.FreeP50 {
				l.FreeP50 = free
			}
		}
	}
	peak, err1 := large("hermes")
	flooded, err2 := flooded("hermes")
	out[0].Peak, out[0].Flooded = peak, flooded
	return out, errors.Join(err1, err2)
}

// peak is the peak of this process's resident memory, in bytes. The value of
// getrusage would include the process that started it, up to the exec.
func peak(rusage int64) int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return rusage
	}
	var kib int64
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	if _, err := fmt.Sscan(string(rest), &kib); err != nil {
		return rusage
	}
	return kib << 10
}

func updateLine(filler string) []byte {
	if filler == "" {
		return []byte(`{"jsonrpc":"2.0","method":"session/update","params":` + string(Messages()[0].JSON) + "}\n")
	}
	return []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + filler + `"}}}}` + "\n")
}

func updates(who, task string) (perSecond float64, cpu time.Duration, err error) {
	c, err := startChild(who, task)
	if err != nil {
		return 0, 0, err
	}
	block := bytes.Repeat(updateLine(""), window/2)
	began := time.Now()
	for sent, told := 0, 0; sent < Updates; sent += window / 2 {
		if task == "window" && sent-told*window >= window {
			if _, err := c.told.ReadByte(); err != nil {
				return 0, 0, err
			}
			told++
		}
		if left := Updates - sent; left < window/2 {
			block = block[:len(block)/(window/2)*left]
		}
		if _, err := c.in.Write(block); err != nil {
			return 0, 0, err
		}
	}
	if task == "free" {
		if _, err := c.told.ReadByte(); err != nil {
			return 0, 0, err
		}
	}
	took := time.Since(began)
	cpu, _, err = c.end()
	return Updates / took.Seconds(), cpu, err
}

// flooded returns the peak memory of a client that takes Updates of the mix.
func flooded(who string) (int64, error) {
	c, err := startChild(who, "mix")
	if err != nil {
		return 0, err
	}
	var block []byte
	for _, m := range Messages() {
		block = append(append(append(block, `{"jsonrpc":"2.0","method":"session/update","params":`...), m.JSON...), "}\n"...)
	}
	n := len(Messages())
	for sent := 0; sent < Updates; sent += n {
		if left := Updates - sent; left < n {
			block = bytes.Join(bytes.SplitAfter(block, []byte("\n"))[:left], nil)
		}
		if _, err := c.in.Write(block); err != nil {
			return 0, err
		}
	}
	if _, err := c.told.ReadByte(); err != nil {
		return 0, err
	}
	_, peak, err := c.end()
	return peak, err
}

// large returns the peak memory of a client that takes one large message.
func large(who string) (int64, error) {
	c, err := startChild(who, "large")
	if err != nil {
		return 0, err
	}
	line := updateLine(strings.Repeat("x", LargeMessage-1000))
	if _, err := c.in.Write(line); err != nil {
		return 0, err
	}
	if _, err := c.told.ReadByte(); err != nil {
		return 0, err
	}
	_, peak, err := c.end()
	return peak, err
}
