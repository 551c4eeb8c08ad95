// Package patience is how tests wait for concurrent work: for the event itself,
// and for so long that a test fails only if the event never happens.
package patience

import (
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
func True(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(Soon); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// Value returns what comes through a channel.
func Value[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(Soon):
		t.Fatalf("no %s", what)
		panic("unreachable")
	}
}
