package project

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// patient waits for a text that is missing as long as it takes, hasty does not wait at all.
var (
	patient = settling{quiet: 10 * time.Millisecond, gone: 2 * patience.Soon, limit: 2 * patience.Soon}
	hasty   = settling{quiet: 1, gone: 1, limit: 1}
)

// vanish are ways in which programs begin to write a file.
var vanish = map[string]func(r *rig, name string){
	"emptied": func(r *rig, name string) { r.must(os.Truncate(r.path(name), 0)) },
	// ext4 notes the new time only when it has freed the blocks, which can wait for the
	// journal of the file system.
	"emptied, with its old time": func(r *rig, name string) {
		r.must(os.Truncate(r.path(name), 0))
		old := time.Now().Add(-time.Minute)
		r.must(os.Chtimes(r.path(name), old, old))
	},
	"removed": func(r *rig, name string) { r.must(os.Remove(r.path(name))) },
	"removed a while ago": func(r *rig, name string) {
		r.must(os.Remove(r.path(name)))
		old := time.Now().Add(-time.Minute)
		r.must(os.Chtimes(filepath.Dir(r.path(name)), old, old))
	},
}

// lookIn are the ways to look at a file.
var lookIn = map[string]func(r *rig, a review.Author, name string){
	"user's look": func(r *rig, _ review.Author, name string) {
		r.add(&job{user: true, files: toldOf([]string{r.path(name)})})
	},
	"user's scan": func(r *rig, _ review.Author, _ string) { r.add(&job{user: true, scan: true}) },
	"user's save": func(r *rig, _ review.Author, name string) { r.UserWrote(r.path(name)) },
	"agent's look": func(r *rig, a review.Author, name string) {
		r.Look(tool(a, "c"), Told{Path: r.path(name)})
	},
	"agent's scan": func(r *rig, a review.Author, _ string) { r.Scan(a) },
	"next prompt": func(r *rig, _ review.Author, _ string) {
		ctx, cancel := context.WithCancel(r.t.Context())
		cancel()
		r.Prompt(ctx, "s", "next", "next")
	},
}

// A look that sees a file in the middle of a write waits until it is written, if it can.
func TestAFileThatIsBeingWrittenIsSeenWhenItIsWritten(t *testing.T) {
	t.Parallel()
	for how, begin := range vanish {
		for who, look := range lookIn {
			t.Run(how+", "+who, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, "f", "one\ntwo\nthree\n")
				r.opts.settle = patient
				r.reopen()
				a := r.turn("s")
				begin(r, "f")
				look(r, a, "f")
				r.until("the look has seen the file", func() bool { return len(r.gone) == 1 })
				r.write("f", "one\nTWO\nthree\n")
				r.wait()
				base, now, known := r.Review().Known("f")
				if strings.HasPrefix(who, "user's") {
					if n := len(r.Review().Hunks("f")); n > 0 || known && base != now {
						t.Errorf("%d hunks, the base is %q", n, base.Text)
					}
					return
				}
				r.mu.Lock()
				n := len(r.edits)
				r.mu.Unlock()
				hunks := r.Review().Hunks("f")
				if n != 1 || len(hunks) != 1 || len(hunks[0].Old) != 1 || len(hunks[0].New) != 1 {
					t.Errorf("told %d times, hunks %+v", n, hunks)
				}
			})
		}
	}
}

// Pending changes are pending again when the file is written, whatever looks have
// seen meanwhile, and whether or not they have waited.
func TestHunksOutliveAFileThatIsBeingWritten(t *testing.T) {
	t.Parallel()
	for how, begin := range vanish {
		for who, look := range lookIn {
			for wait, settle := range map[string]settling{"patient": patient, "hasty": hasty} {
				t.Run(how+", "+who+", "+wait, func(t *testing.T) {
					t.Parallel()
					r := newRig(t, "f", "a\nb\n")
					r.opts.settle = settle
					r.reopen()
					a := r.turn("s")
					r.write("f", "a\nb\nagent\n")
					r.ends(a)
					r.is("f s disk? >agent")
					begin(r, "f")
					look(r, a, "f")
					if wait == "patient" && who != "user's save" { // which leaves it to a look
						r.until("the look has seen the file", func() bool { return len(r.gone) == 1 })
					} else {
						r.wait()
					}
					r.write("f", "a\nb\nagent\n")
					r.wait()
					r.add(&job{user: true, files: toldOf([]string{r.path("f")})})
					r.wait()
					if base, now, _ := r.Review().Known("f"); base.Text != "a\nb\n" || now.Text != "a\nb\nagent\n" {
						t.Errorf("the base is %q, the text %q", base.Text, now.Text)
					}
					if hunks := r.Review().Hunks("f"); len(hunks) != 1 || hunks[0].Session != "s" {
						t.Errorf("hunks %+v", hunks)
					}
				})
			}
		}
	}
}

// A scan has read a file while it was empty. By the time that the change is attributed,
// the file is written and has been left alone.
func TestAFileThatAScanHasSeenEmptyIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\nb\n")
	var once func()
	r.opts.Barrier = func(context.Context) {
		if f := once; f != nil {
			once = nil
			f()
		}
	}
	r.opts.settle = hasty
	r.reopen()
	a := r.turn("s")
	r.write("f", "a\nb\nagent\n")
	r.ends(a)
	r.is("f s disk? >agent")
	a = r.turn("s")
	r.must(os.Truncate(r.path("f"), 0))             // somebody begins to write the same text
	once = func() { r.write("f", "a\nb\nagent\n") } // the scan is over
	r.ends(a)
	r.turn("s")
	r.is("f s disk? >agent")
	if base, now, _ := r.Review().Known("f"); base.Text != "a\nb\n" || now.Text != "a\nb\nagent\n" {
		t.Errorf("the base is %q, the text %q", base.Text, now.Text)
	}
}

// A file that stays empty, or gone, is taken as such in the end.
func TestAFileThatStaysEmptyIsSeen(t *testing.T) {
	t.Parallel()
	for how, begin := range vanish {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "f", "a\nb\n")
			a := r.turn("s")
			begin(r, "f")
			r.ends(a)
			if _, now, _ := r.Review().Known("f"); now.Text != "" {
				t.Errorf("the file is %q", now.Text)
			}
			if n := len(r.gone); n > 0 {
				t.Errorf("%d files are still waited for", n)
			}
		})
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
