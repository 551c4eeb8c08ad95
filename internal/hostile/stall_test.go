//go:build unix

package hostile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

const answering = `HEAR
LINE {"jsonrpc":"2.0","id":$ID,"result":{}}
AGAIN`

// F3, F5: agents that make no progress, and how the ladder ends them: by end of
// input (no signal), TERM or KILL.
func TestAnAgentThatHangsIsReportedAndCanBeClosed(t *testing.T) {
	leak.Check(t)
	half := `PUT "{\"jsonrpc\":\"2.0\",\"method\":\"_x"` + "\n"
	cases := []struct {
		name, script, signal string
		fault                rpc.FaultKind // counted before the close; 0 for none
	}{
		{"never answers", ready + "EOF", "", 0},
		{"never answers, ignores the end of input", ready + "WAIT 1h", "terminated", 0},
		{"never answers, ignores TERM", "DEAF\n" + ready + "WAIT 1h", "killed", 0},
		{"stops inside a line", ready + half + "EOF", "", rpc.FaultStalled},
		{"stops inside a line, ignores TERM", "DEAF\n" + ready + half + "WAIT 1h", "killed", rpc.FaultStalled},
		{"is frozen", ready + "FREEZE", "killed", 0},
		{"is frozen inside a line", ready + half + "FREEZE", "killed", rpc.FaultStalled},
		{"is frozen with a child", "CHILD\n" + ready + "FREEZE", "killed", 0},
		{"one byte at a time", ready + "DRIP 1 1ms " + `{"jsonrpc":"2.0","method":"_unknown"}` + "\nWAIT 1h", "terminated", rpc.FaultUnknownMethod},
	}
	soak.Repeat(t, func(t *testing.T, _ int) {
		workers(len(cases), func(i int) {
			test := cases[i]
			p := start(t, test.script)
			w := newWitness()
			c := rpc.NewConn(p.Transport(), w, rpc.Options{Limits: rpc.Limits{Stall: 200 * time.Millisecond}})
			receive(t, "sign of life", w.ready)
			if strings.HasSuffix(test.script, "FREEZE") {
				stopped(t, p)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if err := receive(t, "end of the call", prompt(ctx, c)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: the call returned %v", test.name, err)
			}
			if test.fault != 0 {
				eventually(t, test.name+" is reported", func() bool { return c.Stats().Count(test.fault) == 1 })
			}
			if c.Err() != nil {
				t.Errorf("%s: the connection ended: %v", test.name, c.Err())
			}
			pending := prompt(t.Context(), c)
			closed(t, test.name, c, p)
			if err := receive(t, "end of the pending call", pending); !isA[*rpc.ClosedError](err) {
				t.Errorf("%s: the pending call returned %v", test.name, err)
			}
			if exit, _ := p.Err().(*launch.ExitError); exit == nil || exit.Signal != test.signal {
				t.Errorf("%s: %v", test.name, exit)
			}
		})
	})
}

// stopped waits until SIGSTOP has stopped an agent.
func stopped(t *testing.T, p *launch.Process) {
	t.Helper()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(p.PID(), &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Error("not stopped:", status, err)
	}
}

// F3: a peer that stops reading while much is to be sent costs a bounded queue,
// and ends the connection when the stall time is over.
func TestAnAgentThatStopsReadingIsDisconnected(t *testing.T) {
	leak.Check(t)
	soak.Repeat(t, func(t *testing.T, _ int) {
		for name, script := range map[string]string{"sleeps": "WAIT 1h", "is frozen": "FREEZE"} {
			p := start(t, script)
			c := rpc.NewConn(p.Transport(), nil, rpc.Options{Limits: rpc.Limits{
				Stall: 300 * time.Millisecond, QueueBytes: 4 << 20, Grace: 100 * time.Millisecond,
			}})
			block := acp.Raw(`["` + strings.Repeat("x", 1<<20) + `"]`)
			sent := 0
			for ; sent < 64; sent++ {
				if err := c.Notify(t.Context(), "_block", block); err != nil {
					if !isA[*rpc.ClosedError](err) {
						t.Errorf("%s: Notify returned %v", name, err)
					}
					break
				}
			}
			if sent > 8 {
				t.Errorf("%s: %d MiB were queued, the limit is 4", name, sent)
			}
			receive(t, "end of the connection", c.Done())
			if !isA[*rpc.StalledError](c.Err()) {
				t.Errorf("%s: ended with %v", name, c.Err())
			}
			closed(t, name, c, p)
		}
	})
}

// F3: agents in trouble do not slow others down.
func TestAHealthyAgentIsNotHeldUpByOthers(t *testing.T) {
	leak.Check(t)
	good := start(t, answering)
	c := rpc.NewConn(good.Transport(), nil, rpc.Options{})
	measure := func() time.Duration {
		times := make([]time.Duration, 300)
		for i := range times {
			began := time.Now()
			if err := c.Call(t.Context(), acp.MethodSessionPrompt, acp.Raw(params), nil); err != nil {
				t.Fatal(err)
			}
			times[i] = time.Since(began)
			time.Sleep(100 * time.Microsecond)
		}
		slices.Sort(times)
		return times[len(times)/2]
	}
	measure() // warm
	scripts := []string{
		"DRIP 1 50ms " + strings.Repeat("x", 1000), `PUT "{\"half\":"` + "\nWAIT 1h", "FREEZE", "WAIT 1h",
		"DEAF\nWAIT 1h", `PUT "{\"half\":"` + "\nFREEZE", "EOF", "DRIP 1 20ms " + strings.Repeat("y", 5000),
	}
	// Another program may slow down one of the two measurements, an engine in which
	// agents hold up each other slows down the second each time.
	beside := func() (slower bool) {
		idle := measure()
		var others []*rpc.Conn
		var processes []*launch.Process
		for _, s := range scripts {
			p := start(t, s)
			o := rpc.NewConn(p.Transport(), nil, rpc.Options{Limits: rpc.Limits{Stall: 100 * time.Millisecond, Grace: 100 * time.Millisecond}})
			for range 4 { // more than a pipe holds, so that the writer stands
				o.Notify(t.Context(), "_block", acp.Raw(`["`+strings.Repeat("x", 64<<10)+`"]`))
			}
			others, processes = append(others, o), append(processes, p)
		}
		beside := measure()
		t.Logf("median round trip: %v alone, %v beside %d agents in trouble", idle, beside, len(others))
		workers(len(others), func(i int) {
			closed(t, scripts[i][:min(len(scripts[i]), 20)], others[i], processes[i])
		})
		return beside > 2*idle+2*time.Millisecond
	}
	for tries := 1; beside(); tries++ {
		if tries == 10 {
			t.Error("round trips are slower beside agents in trouble")
			break
		}
	}
	closed(t, "healthy", c, good)
}

// F3: an agent that is frozen and then continues was only slow.
func TestAFrozenAgentThatContinuesWasOnlySlow(t *testing.T) {
	leak.Check(t)
	p := start(t, answering)
	c := rpc.NewConn(p.Transport(), nil, rpc.Options{Limits: rpc.Limits{Stall: 300 * time.Millisecond}})
	if err := receive(t, "answer", prompt(t.Context(), c)); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		syscall.Kill(p.PID(), syscall.SIGSTOP)
		stopped(t, p) // the signal is only on its way when Kill returns
		pending := prompt(t.Context(), c)
		time.Sleep(time.Duration(i) * 50 * time.Millisecond)
		select {
		case err := <-pending:
			t.Fatal(fmt.Errorf("a stopped agent answered: %v", err))
		default:
		}
		syscall.Kill(p.PID(), syscall.SIGCONT)
		if err := receive(t, "answer", pending); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, "frozen", c, p)
}
