package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

const mib = 1 << 20

// writeUpdate writes one session/update line of about size bytes.
func writeUpdate(w io.Writer, size int) {
	b := bufio.NewWriterSize(w, mib)
	b.WriteString(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","n":7,"x":"`)
	for range size / 1024 {
		b.WriteString(strings.Repeat("y", 1023) + "z")
	}
	b.WriteString("\"}}\n")
	b.Flush()
}

func TestMessagesUpToTheLimitArriveAndLargerOnesAreRefused(t *testing.T) {
	r, w := io.Pipe()
	sizes, faults := make(chan int, 4), make(chan rpc.Fault, 4)
	c := rpc.NewConn(transport.NewStream(r, discard{}), handler{notify: func(_ context.Context, _ string, p json.RawMessage) error {
		sizes <- len(p)
		return nil
	}}, rpc.Options{OnFault: func(f rpc.Fault) { faults <- f }})
	defer c.Close()
	defer w.Close()
	go func() {
		writeUpdate(w, 170*mib)
		writeUpdate(w, 150*mib)
	}()
	f := receive(t, "report", faults)
	if f.Kind != rpc.FaultTooLarge || !isA[*rpc.TooLargeError](f.Err) || !strings.HasPrefix(string(f.Line), `{"jsonrpc"`) {
		t.Fatalf("reported %v: %v", f.Kind, f.Err)
	}
	if n := receive(t, "message of 150 MiB", sizes); n < 150*mib {
		t.Fatalf("params have %d bytes", n)
	}
}

func TestAnAnswerAboveTheLimitFailsItsCall(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, rpc.Options{Limits: rpc.Limits{Message: 1000}})
	done := call(t.Context(), c, "fs/read_text_file", `{}`)
	w.hear()
	w.say(`{"jsonrpc":"2.0","id":1,"result":{"content":%q}}`, strings.Repeat("x", 1000))
	if err := receive(t, "error", done); !isA[*rpc.TooLargeError](err) || !strings.Contains(err.Error(), "fs/read_text_file") {
		t.Fatal(err)
	}
	w.quiet()
}

func TestARequestAboveTheLimitIsAnswered(t *testing.T) {
	t.Parallel()
	_, w := dial(t, echo, rpc.Options{Limits: rpc.Limits{Message: 1000}})
	w.say(`{"jsonrpc":"2.0","id":"a","method":"fs/write_text_file","params":{"content":%q}}`, strings.Repeat("x", 1000))
	if got := verdict(w.hear()); got != `"a" -32600` {
		t.Fatal(got)
	}
}

func TestNothingAboveTheLimitIsSent(t *testing.T) {
	t.Parallel()
	big := raw(`"` + strings.Repeat("x", 1000) + `"`)
	c, w := dial(t, handler{request: func(context.Context, string, json.RawMessage) (acp.Appender, error) {
		return big, nil
	}}, rpc.Options{Limits: rpc.Limits{Message: 1000}})
	var large *rpc.TooLargeError
	if err := c.Call(t.Context(), "m", big, nil); !errors.As(err, &large) || large.Size < 1000 {
		t.Error(err)
	}
	if err := c.Notify(t.Context(), "m", big); !errors.As(err, &large) {
		t.Error(err)
	}
	w.say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	if got := verdict(w.hear()); got != "1 -32603" {
		t.Error(got)
	}
}

// Buffers are used again, and what a small message takes of a large one would
// count for nothing.
func TestSmallMessagesThatWaitHoldNoLargeBuffers(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector multiplies memory")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would empty the pool
	const large, small = 1500, 5000
	r, w := io.Pipe()
	var handled atomic.Int64
	release, hold := make(chan struct{}), make(chan struct{})
	c := rpc.NewConn(transport.NewStream(r, discard{}), handler{notify: func(_ context.Context, _ string, p json.RawMessage) error {
		if <-release; len(p) < 10_000 {
			<-hold
		}
		handled.Add(1)
		return nil
	}}, rpc.Options{Limits: rpc.Limits{Bytes: 64 * mib}})
	defer c.Close()
	defer w.Close()
	for range large {
		writeUpdate(w, 20<<10)
	}
	close(release)
	ends(t, "large messages", func() bool {
		for handled.Load() < large {
			runtime.Gosched()
		}
		return true
	})
	for range small {
		writeUpdate(w, 0)
	}
	live := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	waiting := live()
	close(hold)
	ends(t, "small messages", func() bool {
		for handled.Load() < large+small {
			runtime.Gosched()
		}
		return true
	})
	if held := waiting - live(); held > small*(2<<10) {
		t.Errorf("%d small messages hold %d MiB", small, held/mib)
	}
}

// TestPeakMemoryForTheLargestMessage measures a process of its own that takes
// one message of 64 MiB through a connection.
func TestPeakMemoryForTheLargestMessage(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("this system does not tell the peak memory of a process")
	}
	if raceEnabled {
		t.Skip("the race detector multiplies memory")
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childMode+"=peak")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		writeUpdate(in, 63*mib)
		in.Close()
	}()
	var out strings.Builder
	cmd.Stderr = &out
	err = cmd.Run()
	if err != nil {
		t.Fatal(err)
	}
	peak, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatalf("child said %q", out.String())
	}
	t.Logf("peak %d MiB", peak>>10)
	if peak>>10 >= 3*63 {
		t.Errorf("peak of %d MiB for a message of 63 MiB", peak>>10)
	}
}

// childMode selects what the test binary does instead of running tests.
const childMode = "HERMES_RUNTIME_TEST_CHILD"

func child() {
	done := make(chan int, 1)
	c := rpc.NewConn(transport.Stdio(), handler{notify: func(_ context.Context, _ string, p json.RawMessage) error {
		done <- len(p)
		return nil
	}}, rpc.Options{})
	<-done
	<-c.Done()
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Println(strings.Fields(rest)[0]) // to standard error, see transport.Stdio
}
