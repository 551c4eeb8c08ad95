package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/terminal"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// TestDefaultLimits holds every limit against its documented number.
func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	near, far := transport.Pair()
	c := rpc.NewConn(near, nil, rpc.Options{})
	defer c.Close()
	defer far.Close()
	want := rpc.Limits{
		Message: 160 << 20, Notice: 8 << 20,
		Depth: 512, SendDepth: 100,
		Messages: 10_000, Bytes: 8 << 20, Ahead: 8,
		QueueMessages: 10_000, QueueBytes: 64 << 20,
		Requests: 1024, Questions: 64, ID: 1024,
		Stall: 60 * time.Second, Initialize: 60 * time.Second, NewSession: 60 * time.Second, Grace: time.Second,
	}
	if got := rpc.LimitsOf(c); got != want {
		t.Errorf("defaults are %+v, want %+v", got, want)
	}
	for name, bytes := range map[string][2]int{
		"all connections":         {rpc.DefaultBudget, 256 << 20},
		"stderr":                  {launch.StderrTail, 256 << 10},
		"a line of stderr":        {launch.StderrLine, 8 << 10},
		"output of a terminal":    {terminal.DefaultMaxOutput, 1 << 20},
		"a file an agent reads":   {files.DefaultMaxRead, 64 << 20},
		"what is set stays as is": {rpc.LimitsOf(small(t)).Message, 7},
	} {
		if bytes[0] != bytes[1] {
			t.Errorf("%s: %d bytes, want %d", name, bytes[0], bytes[1])
		}
	}
}

func small(t *testing.T) *rpc.Conn {
	c, _ := dial(t, nil, rpc.Options{Limits: rpc.Limits{Message: 7}})
	return c
}

func TestDefaultRestarts(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "agent")
	synctest.Test(t, func(t *testing.T) {
		var pauses []time.Duration
		s := launch.Supervise(launch.Command{Path: missing}, launch.Restarts{
			OnPause: func(_ int, pause time.Duration, _ error) { pauses = append(pauses, pause) },
		})
		var spent *launch.RestartError
		for range 6 {
			if _, err := s.Start(t.Context()); errors.As(err, &spent) {
				break
			}
		}
		if spent == nil || spent.Restarts != 4 || spent.Within != 3*time.Minute {
			t.Fatalf("ended with %+v", spent)
		}
		for i, p := range pauses {
			if least := 500 * time.Millisecond << i; p < least || p > least*3/2 || p > 8*time.Second {
				t.Errorf("pause %d is %v", i, p)
			}
		}
	})
}

func TestInitializeAndNewSessionAreNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	const for60 = 60 * time.Second
	for _, test := range []struct {
		name, method string
		limits       rpc.Limits
		deadline     time.Duration // of the caller; 0: none
		want         time.Duration // 0: the caller's deadline ends it
	}{
		{"initialize", "initialize", rpc.Limits{}, 0, for60},
		{"session/new", "session/new", rpc.Limits{}, 0, for60},
		{"set", "session/new", rpc.Limits{NewSession: time.Hour}, 0, time.Hour},
		{"for ever", "initialize", rpc.Limits{Initialize: -1}, 0, 0},
		{"longer deadline", "initialize", rpc.Limits{}, 2 * time.Minute, 0},
		{"shorter deadline", "session/new", rpc.Limits{}, time.Second, 0},
		{"login", "authenticate", rpc.Limits{}, 0, 0},
		{"prompt", "session/prompt", rpc.Limits{}, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, w := dial(t, nil, rpc.Options{Limits: test.limits})
				ctx, cancel := context.WithCancel(t.Context())
				if test.deadline > 0 {
					ctx, cancel = context.WithTimeout(t.Context(), test.deadline)
				}
				defer cancel()
				go func() {
					w.Read(nil)
					if test.want == 0 && test.deadline == 0 {
						time.Sleep(24 * time.Hour)
						cancel()
					}
				}()
				began := time.Now()
				err := c.Call(ctx, test.method, raw("{}"), nil)
				took := time.Since(began)
				var limit *rpc.TimeoutError
				switch isLimit := errors.As(err, &limit); {
				case test.want == 0 && isLimit:
					t.Errorf("ended after %v: %v", took, err)
				case test.want == 0 && test.deadline > 0 && (took != test.deadline || !errors.Is(err, context.DeadlineExceeded)):
					t.Errorf("ended after %v: %v", took, err)
				case test.want == 0 && test.deadline == 0 && !errors.Is(err, context.Canceled):
					t.Errorf("ended after %v: %v", took, err)
				case test.want > 0 && (!isLimit || took != test.want || !errors.Is(err, context.DeadlineExceeded)):
					t.Errorf("ended after %v: %v", took, err)
				case test.want > 0 && err.Error() != test.method+": not answered within "+test.want.String():
					t.Error(err)
				}
				cancelled := w.hear()
				if want := `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`; cancelled != want {
					t.Errorf("the peer was sent %s", cancelled)
				}
			})
		})
	}
}

// Names that a peer sends are not kept once their messages are handled.
func TestLongNamesAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := handler{
			request: func(context.Context, string, json.RawMessage) (acp.Appender, error) {
				time.Sleep(time.Millisecond / 2) // slow enough to be remembered
				return raw("{}"), nil
			},
			notify: func(context.Context, string, json.RawMessage) error { return nil },
		}
		const count, size = 64, 1 << 20
		long := strings.Repeat("x", size)
		for name, message := range map[string]string{
			"session": `{"jsonrpc":"2.0","method":"m","params":{"sessionId":"%d%s"}}`,
			"method":  `{"jsonrpc":"2.0","id":1,"method":"m%d%s"}`,
		} {
			c, w := dial(t, slow, rpc.Options{})
			before := heapInUse()
			for i := range count {
				w.say(message, i, long)
				if name == "method" {
					w.hear()
				}
			}
			eventually(t, "all are handled", func() bool { return c.Stats().Received == count })
			eventually(t, "the "+name+" names are let go", func() bool { return heapInUse() < before+count*size/4 })
			goruntime.KeepAlive(c)
		}
	})
}

func heapInUse() uint64 {
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A reader that takes over from one that handles a request keeps to the limits.
func TestReadersThatTakeOverKeepToTheLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		t.Cleanup(func() { close(stuck) }) // before the connection closes
		c, w := dial(t, handler{
			request: func(context.Context, string, json.RawMessage) (acp.Appender, error) {
				<-stuck
				return raw("{}"), nil
			},
		}, rpc.Options{Limits: rpc.Limits{Messages: 4, Grace: shortly}})
		go func() {
			for i := range 64 {
				if w.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"m%d"}`, i, i)) != nil {
					return
				}
			}
		}()
		synctest.Wait()
		if n := c.Stats().Received; n < 4 || n > 5 { // one passes before the reader looks
			t.Errorf("%d messages were read, the limit is 4", n)
		}
	})
}
