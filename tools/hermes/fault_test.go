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
	var got []lint.Record
	f := &faults{got: func(_ trace.Direction, r lint.Record) { r.Bytes = nil; got = append(got, r) }}
	if err := f.Set("reorder:n=1"); err != nil {
		t.Fatal(err)
	}
	in := io.MultiReader(strings.NewReader(first+"\n"), io.LimitReader(endless{}, long), strings.NewReader("\n"+last+"\n"))
	var out sizes
	if ended := f.copy(&out, in, lines{w: forgetful{}, add: forgetful{}.Message, cut: forgetful{}.CutMessage, way: trace.ToClient}); !ended {
		t.Error("the end is not reported")
	}
	want := []string{fmt.Sprint(long + 1), first, last} // after the long line, not inside it
	if !slices.Equal(out.lines, want) || out.largest > lint.MaxMessage+128<<10 {
		t.Errorf("%q, at most %d bytes at once", out.lines, out.largest)
	}
	if len(got) != len(want) || got[0].Left != long+1 {
		t.Errorf("what was passed on is told as %v", got)
	}
}

// endless is a line that never ends.
type endless struct{}

var xs = bytes.Repeat([]byte("x"), 64<<10)

func (endless) Read(b []byte) (int, error) {
	return copy(b, xs), nil
}

// In version 2 a session is replayed by session/resume with replayFrom, and by nothing else.
func TestAReplayOfVersion2IsTruncated(t *testing.T) {
	t.Parallel()
	const update = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"state_update","state":"idle"}}}`
	for params, want := range map[string]string{
		`{"sessionId":"s1","cwd":"/w","replayFrom":{"type":"start"}}`: "lost",
		`{"sessionId":"s1","cwd":"/w","replayFrom":null}`:             "",
		`{"sessionId":"s1","cwd":"/w"}`:                               "",
		`{"sessionId":"s1","cwd":"/w","replayFrom":`:                  "", // it is not a message
	} {
		f := &faults{}
		if err := f.Set("truncate:n=2"); err != nil {
			t.Fatal(err)
		}
		got := ""
		say := func(way trace.Direction, text string) {
			if one := f.choose(way, []byte(text)); one != nil {
				got += "lost"
			}
		}
		say(trace.ToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/resume","params":`+params+`}`)
		for range 2 {
			say(trace.ToClient, fmt.Sprintf(update, "s2")) // of another session
			say(trace.ToClient, fmt.Sprintf(update, "s1"))
		}
		say(trace.ToClient, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		for range 3 {
			say(trace.ToClient, fmt.Sprintf(update, "s1")) // after the replay
		}
		if got != want {
			t.Errorf("%s: %q, want %q", params, got, want)
		}
	}
}

// The client may answer a line the moment it has it. Its answer to the last line of an
// agent that is restarted is for the next process, so the old one gets nothing more by
// then.
func TestTheLastLineOfAnAgentPassesAfterItsEndHasBegun(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"restart:from=agent", "restart:from=agent,n=2"} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			one, err := bear([]string{self(t), "demo-agent"})
			if err != nil {
				t.Fatal(err)
			}
			agent := newLives(one)
			t.Cleanup(func() {
				agent.kill()
				one.cmd.Wait()
				one.stdout.Close()
				one.stderr.Close()
			})
			f := &faults{agent: agent, got: func(trace.Direction, lint.Record) {}}
			if err := f.Set(spec); err != nil {
				t.Fatal(err)
			}
			var ending []bool
			client := writerFunc(func(b []byte) (int, error) {
				ending = append(ending, agent.restarts())
				return len(b), nil
			})
			said := strings.NewReader(strings.Repeat(`{"jsonrpc":"2.0","method":"_one"}`+"\n", 3))
			f.copy(client, said, lines{w: forgetful{}, add: forgetful{}.Message, cut: forgetful{}.CutMessage, way: trace.ToClient})
			if n := len(ending); n == 0 || !ending[n-1] || slices.Contains(ending[:n-1], true) {
				t.Errorf("the end had begun when each line passed: %v", ending)
			}
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
