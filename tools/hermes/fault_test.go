package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

// forgetful records nothing.
type forgetful struct{}

func (forgetful) Message(trace.Direction, []byte) error    { return nil }
func (forgetful) CutMessage(trace.Direction, []byte) error { return nil }
func (forgetful) Line([]byte) error                        { return nil }
func (forgetful) Note(string, ...any) error                { return nil }
func (forgetful) End(trace.Direction) error                { return nil }

// sizes notes what is written to it: short texts, and how much of the others.
type sizes struct {
	lines   []string
	rest    int // bytes of the line that is not complete
	largest int // write
}

func (s *sizes) Write(b []byte) (int, error) {
	s.largest = max(s.largest, len(b))
	for part := range bytes.Lines(b) {
		switch s.rest += len(part); {
		case part[len(part)-1] != '\n':
			continue
		case s.rest == len(part) && len(part) < 100:
			s.lines = append(s.lines, strings.TrimSpace(string(part)))
		default:
			s.lines = append(s.lines, fmt.Sprint(s.rest))
		}
		s.rest = 0
	}
	return len(b), nil
}

// A line is looked at before it passes, so it is held; but not one that no message is
// long enough for.
func TestABrokenLineHoldsNoEndlessLines(t *testing.T) {
	t.Parallel()
	const first, last = `{"jsonrpc":"2.0","method":"_first"}`, `{"jsonrpc":"2.0","method":"_last"}`
	const long = lint.MaxMessage + 1<<20
	for spec, want := range map[string][]string{
		"reorder:n=1": {fmt.Sprint(long + 1), first, last}, // after the long line, not inside it
		"drop:n=2":    {first, fmt.Sprint(long + 1)},       // nobody has read the long one
	} {
		var got []lint.Record
		f := &faults{got: func(_ trace.Direction, r lint.Record) { r.Bytes = nil; got = append(got, r) }}
		if err := f.Set(spec); err != nil {
			t.Fatal(err)
		}
		in := io.MultiReader(strings.NewReader(first+"\n"), io.LimitReader(endless{}, long), strings.NewReader("\n"+last+"\n"))
		var out sizes
		if ended := f.copy(&out, in, lines{w: forgetful{}, add: forgetful{}.Message, cut: forgetful{}.CutMessage, way: trace.ToClient}); !ended {
			t.Errorf("%s: the end is not reported", spec)
		}
		if !slices.Equal(out.lines, want) || out.largest > lint.MaxMessage+128<<10 {
			t.Errorf("%s: %q, at most %d bytes at once", spec, out.lines, out.largest)
		}
		if i := slices.IndexFunc(got, func(r lint.Record) bool { return r.Left > 0 }); i < 0 || got[i].Left != long+1 || len(got) != len(want) {
			t.Errorf("%s: what was passed on is told as %v", spec, got)
		}
	}
}

// endless is a line that never ends.
type endless struct{}

var xs = bytes.Repeat([]byte("x"), 64<<10)

func (endless) Read(b []byte) (int, error) {
	return copy(b, xs), nil
}
