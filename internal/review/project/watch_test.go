package project

import (
	"os"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// watches watches the files, and returns what waits until a file is something.
func (r *rig) watches() (until func(name, text string)) {
	r.t.Helper()
	stop, err := r.Watch()
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(stop)
	return func(name, text string) {
		r.t.Helper()
		for late := time.Now().Add(patience.Soon); ; time.Sleep(time.Millisecond) {
			if _, now, _ := r.Review().Known(name); now.Text == text {
				return
			} else if time.Now().After(late) {
				r.t.Fatalf("%s is %q, want %q", name, now.Text, text)
			}
		}
	}
}

// agentWrites lets a session write a file through the program.
func (r *rig) agentWrites(session, name, text string) {
	r.t.Helper()
	path := r.path(name)
	err := r.Write(review.Author{Session: session, Source: "write"}, path, text, func() error { return os.WriteFile(path, []byte(text), 0o600) })
	if err != nil {
		r.t.Fatal(err)
	}
}

func TestAWatchedChangeBetweenTurnsIsTheUsers(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a", "1\n", "d/b", "1\n")
	r.agentWrites("s", "a", "1\n2\n")
	until := r.watches() // of what is known, and of what becomes known
	r.agentWrites("s", "d/b", "1\n2\n")
	for _, name := range []string{"a", "d/b"} {
		r.write(name, "user\n1\n2\n")
		until(name, "user\n1\n2\n")
	}
	r.reported(`a s write true +"2\n" -""`, `d/b s write true +"2\n" -""`)
	if len(r.edits) != 2 {
		t.Errorf("%+v", r.edits)
	}
}

// Between the first look at the files and the moment when they are watched, the disk does
// not stand still.
func TestAChangeBeforeTheFilesAreWatchedIsNoticed(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a", "1\n", "b", "1\n")
	r.agentWrites("s", "a", "1\n2\n")
	r.reopen()
	r.wait() // until it was looked at
	r.write("a", "1\n")
	until := r.watches()
	until("a", "1\n")
	r.write("a", "1\n2\n") // as git stash and pop do
	until("a", "1\n2\n")
	r.is("a s write >2")
}

func TestAWatchedChangeDuringATurnIsTheSessionsInferred(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a", "1\n")
	r.agentWrites("s", "a", "1\n2\n")
	if err := r.Prompt(t.Context(), "s", "t", "go"); err != nil {
		t.Fatal(err)
	}
	until := r.watches()
	r.write("a", "1\n2\n3\n")
	until("a", "1\n2\n3\n")
	r.reported(`a s disk false +"2\n3\n" -""`)
	// A tool call that later says more about the change improves its author.
	r.Look(review.Author{Session: "s", Turn: "t", ToolCall: "c", Source: "tool"}, Told{Path: r.path("a")})
	r.wait()
	r.reported(`a s tool true +"2\n3\n" -""`)
}
