//go:build unix

package launch_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// clock is a clock whose time passes only in pauses.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	pauses []time.Duration
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.pass(d)
	c.mu.Lock()
	c.pauses = append(c.pauses, d)
	c.mu.Unlock()
	return ctx.Err()
}

func supervise(cmd launch.Command, policy launch.Restarts) (*launch.Supervisor, *clock) {
	s, c := launch.Supervise(cmd, policy), &clock{now: time.Now()}
	s.Clock(c.time, c.sleep)
	return s, c
}

// crash is an agent that dies at once.
func crash() launch.Command { return shell("echo broken >&2; exit 4") }

// live starts the agent and waits for its end.
func live(t *testing.T, s *launch.Supervisor) error {
	t.Helper()
	p, err := s.Start(t.Context())
	if err != nil {
		return err
	}
	ended(t, p)
	return p.Transport().Close()
}

// F7, T25.
func TestACrashLoopEndsAfterFourRestartsInThreeMinutes(t *testing.T) {
	t.Parallel()
	var told []int
	s, c := supervise(crash(), launch.Restarts{OnPause: func(n int, d time.Duration, cause error) {
		told = append(told, n)
		if exit := (*launch.ExitError)(nil); !errors.As(cause, &exit) || exit.Code != 4 || d <= 0 {
			t.Errorf("restart %d after %v because of %v", n, d, cause)
		}
	}})
	for i := range 5 {
		if err := live(t, s); err != nil {
			t.Fatalf("start %d: %v", i, err)
		}
	}
	err := live(t, s)
	var enough *launch.RestartError
	var exit *launch.ExitError
	if !errors.As(err, &enough) || enough.Restarts != 4 || enough.Within != 3*time.Minute || !errors.As(err, &exit) || exit.Code != 4 {
		t.Fatalf("%+v", err)
	}
	if text := err.Error(); !strings.Contains(text, "gave up after 4 restarts in 3m0s") || !strings.Contains(text, "broken") {
		t.Error(text)
	}
	if fmt.Sprint(told) != "[1 2 3 4]" {
		t.Errorf("notified of the restarts %v", told)
	}
	for i, d := range c.pauses {
		least := 500 * time.Millisecond << i
		if d < least || d > least+least/2 {
			t.Errorf("pause %d is %v, want %v and up to half of it more", i, d, least)
		}
	}
	if err := live(t, s); !errors.As(err, &enough) {
		t.Error("asking again helps:", err)
	}
}

func TestRestartsLongAgoDoNotCount(t *testing.T) {
	t.Parallel()
	s, c := supervise(crash(), launch.Restarts{})
	for i := range 20 {
		if err := live(t, s); err != nil {
			t.Fatalf("start %d: %v", i, err)
		}
		c.pass(time.Minute)
	}
	for i, d := range c.pauses {
		if d > 3*time.Second { // at most two restarts are within three minutes
			t.Errorf("pause %d is %v", i, d)
		}
	}
}

func TestThePauseIsAtMostEightSeconds(t *testing.T) {
	t.Parallel()
	s, c := supervise(crash(), launch.Restarts{Max: 8})
	for range 9 {
		if err := live(t, s); err != nil {
			t.Fatal(err)
		}
	}
	for i, d := range c.pauses {
		if d > 8*time.Second || i >= 4 && d != 8*time.Second {
			t.Errorf("pause %d is %v", i, d)
		}
	}
}

func TestPausesDiffer(t *testing.T) {
	t.Parallel()
	seen := map[time.Duration]bool{}
	for range 4 {
		s, c := supervise(crash(), launch.Restarts{})
		for range 2 {
			if err := live(t, s); err != nil {
				t.Fatal(err)
			}
		}
		seen[c.pauses[0]] = true
	}
	if len(seen) < 2 {
		t.Errorf("all pauses are %v", seen)
	}
}

func TestResetMakesTheNextStartTheFirst(t *testing.T) {
	t.Parallel()
	s, c := supervise(crash(), launch.Restarts{Max: 1})
	for range 3 {
		for range 2 {
			if err := live(t, s); err != nil {
				t.Fatal(err)
			}
		}
		var enough *launch.RestartError
		if err := live(t, s); !errors.As(err, &enough) {
			t.Fatal(err)
		}
		s.Reset()
	}
	if len(c.pauses) != 3 {
		t.Errorf("%d pauses", len(c.pauses))
	}
}

func TestAFailedStartCountsAsARestart(t *testing.T) {
	t.Parallel()
	s, _ := supervise(launch.Command{Path: "no-such-agent-program"}, launch.Restarts{Max: 2})
	var missing *launch.StartError
	for range 3 {
		if err := live(t, s); !errors.As(err, &missing) || !errors.Is(err, exec.ErrNotFound) {
			t.Fatal(err)
		}
	}
	var enough *launch.RestartError
	if err := live(t, s); !errors.As(err, &enough) || !errors.Is(err, exec.ErrNotFound) {
		t.Fatal(err)
	}
}

func TestOnlyOneProcessRunsAtATime(t *testing.T) {
	t.Parallel()
	s, _ := supervise(shell("cat"), launch.Restarts{})
	first, err := s.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-first.Done():
	default:
		t.Error("two agents run")
	}
	first.Transport().Close()
	second.Transport().Close()
}

// The clock is the real one: the pause must end with the context.
func TestAPauseEndsWithItsContextAndDoesNotCountAsARestart(t *testing.T) {
	t.Parallel()
	pausing := make(chan int, 4)
	s := launch.Supervise(crash(), launch.Restarts{Pause: time.Hour, MaxPause: time.Hour, OnPause: func(n int, _ time.Duration, _ error) { pausing <- n }})
	if err := live(t, s); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		done, other := make(chan error, 1), make(chan error, 1)
		go func() { _, err := s.Start(ctx); done <- err }()
		if n := <-pausing; n != 1 {
			t.Errorf("restart %d", n)
		}
		go func() { _, err := s.Start(ctx); other <- err }() // waits for its turn
		cancel()
		for _, ch := range []chan error{done, other} {
			select {
			case err := <-ch:
				if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			case <-time.After(patience.Soon):
				t.Fatal("the pause did not end")
			}
		}
	}
}

func TestRunServesEachAgentProcessInTurn(t *testing.T) {
	t.Parallel()
	s, _ := supervise(plays(agent), launch.Restarts{})
	lives := 0
	err := s.Run(t.Context(), func(ctx context.Context, p *launch.Process) error {
		lives++
		c := rpc.NewConn(p.Transport(), acp.ClientSide(new(updates)), rpc.Options{})
		defer c.Close()
		text := "COUNT 10\nEXIT 3"
		if lives == 3 {
			text = "COUNT 10"
		}
		_, err := prompt(ctx, c, text)
		return err
	})
	if err != nil || lives != 3 {
		t.Errorf("%d lives, %v", lives, err)
	}
}

func TestRunEndsACrashLoop(t *testing.T) {
	t.Parallel()
	s, _ := supervise(crash(), launch.Restarts{})
	lives := 0
	err := s.Run(t.Context(), func(ctx context.Context, p *launch.Process) error {
		lives++
		c := rpc.NewConn(p.Transport(), acp.ClientSide(new(updates)), rpc.Options{})
		defer c.Close()
		_, err := acp.Agent{Conn: c}.Initialize(ctx, &acp.InitializeRequest{ProtocolVersion: 1})
		return err
	})
	var enough *launch.RestartError
	if !errors.As(err, &enough) || lives != 5 {
		t.Errorf("%d lives, %v", lives, err)
	}
}

func TestRunReturnsErrorsOtherThanTheEndOfTheAgent(t *testing.T) {
	t.Parallel()
	want := errors.New("the caller has enough")
	s, c := supervise(shell("cat"), launch.Restarts{})
	var served *launch.Process
	err := s.Run(t.Context(), func(_ context.Context, p *launch.Process) error {
		served = p
		return want
	})
	if !errors.Is(err, want) || len(c.pauses) != 0 {
		t.Error(err, c.pauses)
	}
	ended(t, served)

	s, _ = supervise(launch.Command{Path: filepath.Join(t.TempDir(), "agent")}, launch.Restarts{})
	var missing *launch.StartError
	if err := s.Run(t.Context(), nil); !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s, _ := supervise(shell("cat"), launch.Restarts{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := s.Run(ctx, func(_ context.Context, p *launch.Process) error {
		cancel()
		<-p.Done()
		return p.Err()
	})
	var exit *launch.ExitError
	if !errors.As(err, &exit) {
		t.Error(err)
	}
}
