//go:build unix

package terminal

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
)

func TestWritesAreTheInputOfTheCommand(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]Options{"pipe": {Input: true}, "terminal": {PTY: &Size{24, 80}}} {
		m := manager(t, opts)
		id := create(t, m, "sh", "-c", "read a; read b; echo got $b$a")
		for _, text := range []string{"on", "e\n", "two\n"} {
			if err := m.Write(t.Context(), id, text); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		wait(t, m, id)
		if text, _, _ := output(t, m, id); !strings.Contains(text, "got twoone") {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestACommandWithoutInputReadsNothing(t *testing.T) {
	t.Parallel()
	m := manager(t, Options{})
	id := create(t, m, "cat")
	if err := m.Write(t.Context(), id, "x"); !errors.Is(err, ErrNoInput) {
		t.Error(err)
	}
	if s := wait(t, m, id); s.Code != 0 {
		t.Errorf("cat ended with %+v", s)
	}
	if err := m.Write(t.Context(), "other", "x"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

func TestAWriteThatNobodyReadsEndsWithItsContext(t *testing.T) {
	t.Parallel()
	m := manager(t, Options{Input: true})
	id := create(t, m, "sleep", "1000")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := m.Write(ctx, id, strings.Repeat("x", 1<<20)); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if err := m.Kill(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	patience.True(t, "a dead command takes no input", func() bool { return m.Write(t.Context(), id, "x") != nil })
}
