// Package patience is how tests wait for concurrent work: for the event itself,
// and for so long that a test fails only if the event never happens.
package patience

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"
)

// Soon is how long something that should happen may take on a busy machine.
var Soon = stretched(2 * time.Minute)

// Turn is how long a turn with a published agent may take. Six programs of Node.js that start at
// once on a cold machine with two processors are silent for more than half a minute.
var Turn = stretched(5 * time.Minute)

// stretched returns a time as many times as long as HERMES_PATIENCE says. A machine that is slower
// than all others needs that, and no test is changed.
func stretched(d time.Duration) time.Duration {
	if factor, err := strconv.ParseFloat(os.Getenv("HERMES_PATIENCE"), 64); err == nil && factor > 1 {
		return time.Duration(float64(d) * factor)
	}
	return d
}

// True waits for a condition.
func True(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for left := from(Soon); !ok(); time.Sleep(time.Millisecond) {
		if left.over() {
			t.Fatalf("never: %s", what)
		}
	}
}

// Context returns a context of the test for what has to end within Soon, or Turn.
func Context(t testing.TB, limit time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// Ends returns what a function returns that must not hang.
func Ends[T any](t testing.TB, what string, f func() T) T {
	t.Helper()
	done := make(chan T, 1)
	go func() { done <- f() }()
	return Value(t, "end of "+what, done)
}

// Value returns what comes through a channel.
func Value[T any](t testing.TB, what string, ch <-chan T) T {
	t.Helper()
	for left := from(Soon); !left.over(); {
		select {
		case v := <-ch:
			return v
		case <-time.After(tick):
		}
	}
	t.Fatalf("no %s", what)
	panic("unreachable")
}

// countdown is the time that is left. A machine that stood still, because it slept or had no
// memory, gets the time back: what is waited for could not happen either.
type countdown struct {
	left time.Duration
	last time.Time
}

// tick is the most time that is taken off at once.
const tick = 100 * time.Millisecond

func from(d time.Duration) *countdown { return &countdown{d, time.Now()} }

func (c *countdown) over() bool {
	now := time.Now()
	c.left -= min(now.Sub(c.last), tick)
	c.last = now
	return c.left <= 0
}
