package project

import (
	"os"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/runtime/review"
)

// Programs empty or remove a file before they write it. A look in between must
// not take that for their change.
func TestAFileThatIsBeingWrittenIsSeenWhenItIsWritten(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(r *rig, path string) error{
		"emptied": func(_ *rig, path string) error { return os.Truncate(path, 0) },
		"removed": func(_ *rig, path string) error { return os.Remove(path) },
	} {
		for how, look := range map[string]func(r *rig, a review.Author){
			"look": func(r *rig, a review.Author) { r.Look(tool(a, "call"), Told{Path: r.path("a.txt")}) },
			"scan": func(r *rig, a review.Author) { r.Scan(a) },
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				for range 100 {
					r := newRig(t, "a.txt", "one\ntwo\nthree\n")
					a := r.turn("s")
					begin := time.Now()
					r.must(before(r, r.path("a.txt")))
					look(r, a)
					time.Sleep(settleTime / 4)
					r.write("a.txt", "one\nTWO\nthree\n")
					if time.Since(begin) > settleTime/2 {
						continue // the machine is busy elsewhere
					}
					r.wait()
					r.mu.Lock()
					n := len(r.edits)
					r.mu.Unlock()
					hunks := r.Review().Hunks("a.txt")
					if n != 1 || len(hunks) != 1 || len(hunks[0].Old) != 1 || len(hunks[0].New) != 1 {
						t.Errorf("told %d times, hunks %+v", n, hunks)
					}
					return
				}
				t.Skip("the machine is too busy")
			})
		}
	}
}

// A file that is written all the time is looked at nevertheless.
func TestAFileThatNeverSettlesIsSeen(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a.txt", "one\n")
	a := r.turn("s")
	done := make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(done)
		f, err := os.OpenFile(r.path("a.txt"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				f.WriteString("more\n")
			}
		}
	}()
	r.write("b.txt", "new\n")
	r.look(tool(a, "call"), "a.txt", "b.txt")
	close(stop)
	<-done
	if len(r.Review().Hunks("b.txt")) != 1 {
		t.Error("the other file was not seen")
	}
	r.ends(a)
	if len(r.Review().Hunks("a.txt")) != 1 {
		t.Error("the file was not seen")
	}
}
