package project

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/review/tree"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// disk returns what the disk has.
func (r *rig) disk(name string) review.State {
	r.t.Helper()
	s, err := r.read(name)
	r.must(err)
	return s
}

func TestADecisionChangesTheDisk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before []string
		change func(r *rig)
	}{
		"text":         {[]string{"f", "a\nb\n"}, func(r *rig) { r.write("f", "a\nB\n") }},
		"no end":       {[]string{"f", "a\r\nb"}, func(r *rig) { r.write("f", "a\r\nB") }},
		"an end added": {[]string{"f", "a\nb"}, func(r *rig) { r.write("f", "a\nb\n") }},
		"CRLF":         {[]string{"f", "a\r\nb\r\n"}, func(r *rig) { r.write("f", "a\r\nB\r\nc\r\n") }},
		"CRLF lost":    {[]string{"f", "a\r\nb\r\n"}, func(r *rig) { r.write("f", "a\nb\n") }},
		"BOM":          {[]string{"f", "\ufeffa\nb\n"}, func(r *rig) { r.write("f", "\ufeffA\nb\n") }},
		"BOM lost":     {[]string{"f", "\ufeffa\nb\n"}, func(r *rig) { r.write("f", "a\nb\n") }},
		"no UTF-8":     {[]string{"f", "\xff\n\xfe\n"}, func(r *rig) { r.write("f", "\xff\n\xfd\n") }},
		"created":      {nil, func(r *rig) { r.write("f", "a\n") }},
		"made empty":   {nil, func(r *rig) { r.write("f", "") }},
		"emptied":      {[]string{"f", "a\n"}, func(r *rig) { r.write("f", "") }},
		"deleted":      {[]string{"f", "a\n"}, func(r *rig) { r.remove("f") }},
		"empty":        {[]string{"f", ""}, func(r *rig) { r.remove("f") }},
		"mode":         {[]string{"f", "a\n"}, func(r *rig) { r.must(os.Chmod(r.path("f"), 0o755)) }},
		"mode and all": {[]string{"f", "a\n"}, func(r *rig) { r.write("f", "b\n"); r.must(os.Chmod(r.path("f"), 0o600)) }},
		"link":         {nil, func(r *rig) { r.must(os.Symlink("x", r.path("f"))) }},
		"file to link": {[]string{"f", "a\n"}, func(r *rig) { r.remove("f"); r.must(os.Symlink("g", r.path("f"))) }},
		"binary":       {[]string{"f", "\x00a"}, func(r *rig) { r.write("f", "\x00b") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.before...)
			before := r.disk("f")
			a := r.turn("s")
			c.change(r)
			after := r.disk("f")
			r.ends(a)
			plan, err := r.Reject(review.Selection{Path: "f"}, false)
			r.must(err)
			r.must(r.Apply(plan, nil))
			if got := r.disk("f"); got != before {
				t.Errorf("after reject %+v, was %+v", got, before)
			}
			r.is()
			again, err := r.Undo(plan.Decision)
			r.must(err)
			r.must(r.Apply(again, nil))
			if got := r.disk("f"); got != after {
				t.Errorf("after undo %+v, was %+v", got, after)
			}
			if n := len(r.Review().Files()); n != 1 {
				t.Errorf("%d files are under review", n)
			}
			a = r.turn("s") // finds nothing of its own
			r.ends(a)
			r.reopen()
			plan, err = r.Restore(t.Context(), "1", RestoreOptions{})
			r.must(err)
			r.must(r.Apply(plan, nil))
			if got := r.disk("f"); got != before {
				t.Errorf("after restore %+v, was %+v", got, before)
			}
		})
	}
}

// Another program has changed the file, and nobody has reported it.
func TestADecisionLooksFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\nb\nc\nd\n")
	a := r.turn("s")
	r.write("f", "A\nb\nc\nd\n")
	r.ends(a)
	r.write("f", "A\nb\nc\nmine\n")
	plan, err := r.Reject(review.Selection{}, false)
	r.must(err)
	r.must(r.Apply(plan, nil))
	if got := r.disk("f").Text; got != "a\nb\nc\nmine\n" {
		t.Errorf("the disk has %q", got)
	}
}

// What another program has yet to report is known before something is taken back: here a save
// that a look has found first, and taken for the agent's.
func TestADecisionKnowsWhatIsReportedLate(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]func(r *rig) (*review.Plan, error){
		"reject": func(r *rig) (*review.Plan, error) { return r.Reject(review.Selection{}, false) },
		"restore": func(r *rig) (*review.Plan, error) {
			return r.Restore(r.t.Context(), r.Review().Checkpoints()[0].ID, RestoreOptions{})
		},
		"undo": func(r *rig) (*review.Plan, error) {
			plan, err := r.Review().Reject(review.Selection{Path: "g"}, false)
			r.must(err)
			r.must(r.Apply(plan, nil))
			return r.Undo(plan.Decision)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "f", "a\nb\nc\nd\n", "g", "a\nb\nc\nd\n")
			stop, err := r.Listen()
			r.must(err)
			defer stop()
			a := r.turn("s")
			for _, file := range []string{"f", "g"} {
				r.write(file, "A\nb\nc\nd\n")
				r.look(a, file)
			}
			r.write("f", "A\nb\nc\nmine\n")
			r.Scan(a)
			r.wait()
			var c *feed.Client
			ready := make(chan struct{})
			c, err = feed.Join(t.Context(), feed.Path(store.Dir(r.state, r.root)), func() {
				<-ready
				was, is := "A\nb\nc\nd\n", "A\nb\nc\nmine\n"
				r.must(c.Tell(t.Context(), feed.Report{
					Kind: feed.Write, Path: r.path("f"), User: true, Author: review.Author{Source: "user"},
					Before: &feed.Version{Text: &was, Size: -1}, After: &feed.Version{Text: &is, Size: -1},
				}))
			})
			r.must(err)
			defer func() { c.Close(); <-c.Done() }()
			_, err = c.Resume(t.Context(), "nobody") // it has joined
			r.must(err)
			close(ready)
			plan, err := decide(r)
			r.must(err)
			r.must(r.Apply(plan, nil))
			want := "a\nb\nc\nmine\n"
			if name == "undo" { // of another file: the agent's hunk is still there, and has one line
				want = "A\nb\nc\nmine\n"
				r.reported(`f s  true +"A\n" -"a\n"`, `g s  true +"A\n" -"a\n"`)
			}
			if got := r.disk("f").Text; got != want {
				t.Errorf("the disk has %q", got)
			}
		})
	}
}

func TestADecisionDoesNotOverwriteWhatChangesMeanwhile(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\nb\n", "g", "a\n")
	a := r.turn("s")
	r.write("f", "A\nb\n", "g", "b\n")
	r.ends(a)
	plan, err := r.Reject(review.Selection{}, false)
	r.must(err)
	r.write("f", "A\nmine\n")
	if err := r.Apply(plan, nil); !errors.Is(err, review.ErrStale) {
		t.Errorf("%v", err)
	}
	if f, g := r.disk("f").Text, r.disk("g").Text; f != "A\nmine\n" || g != "a\n" {
		t.Errorf("the disk has %q and %q", f, g)
	}
}

// A look at a file while a decision writes it finds the decision, and no change of the
// user's.
func TestALookInADecisionIsNotAChange(t *testing.T) {
	t.Parallel()
	for name, rounds := range map[string]int{"on the disk": 100, "in a buffer": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			held := name == "in a buffer"
			r := newRig(t)
			a := r.turn("s")
			r.write("f", "n\n")
			r.ends(a)
			if held {
				r.must(r.Hold(r.path("f"), Text{Text: "n\n"}))
			}
			look := func() { r.look(review.Author{}, "f") }
			user := func() {
				r.add(&job{user: true, files: []Told{{Path: r.path("f")}}})
				r.wait()
			}
			editor := func(c review.Change) error { // as Neovim does
				if c.After.Kind == review.Absent {
					r.remove("f")
				} else {
					r.write("f", c.After.Text)
				}
				user()
				look()
				return nil
			}
			stop, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				for !held {
					select {
					case <-stop:
						return
					default:
						user()
					}
				}
			}()
			defer func() { close(stop); <-done }()
			for range rounds {
				plan, err := r.Reject(review.Selection{}, false)
				r.must(err)
				r.must(r.Apply(plan, editor))
				r.is()
				plan, err = r.Undo(plan.Decision)
				r.must(err)
				r.must(r.Apply(plan, editor))
				r.is("f s disk? >n")
				if t.Failed() {
					break
				}
			}
		})
	}
}

// A write by somebody else while Neovim makes a decision is found afterwards.
func TestWhatIsWrittenInADecisionIsFound(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\nb\n")
	a := r.turn("s")
	r.write("f", "A\nb\n")
	r.ends(a)
	r.must(r.Hold(r.path("f"), Text{Text: "A\nb\n"}))
	plan, err := r.Reject(review.Selection{}, false)
	r.must(err)
	r.must(r.Apply(plan, func(c review.Change) error {
		r.write("f", c.After.Text)
		r.write("f", "a\nmine\n")
		r.look(review.Author{}, "f")
		return nil
	}))
	r.wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.looks) == 0 {
		t.Error("the editor was not asked to look")
	}
}

// A directory above the file has become a link, which leads out of the folder.
func TestADecisionDoesNotWriteOutOfTheFolder(t *testing.T) {
	t.Parallel()
	r := newRig(t, "d/f", "a\n")
	a := r.turn("s")
	r.write("d/f", "b\n")
	r.ends(a)
	plan, err := r.Reject(review.Selection{}, false)
	r.must(err)
	r.must(os.RemoveAll(r.path("d")))
	r.write(r.root+"/../out/f", "b\n")
	r.must(os.Symlink("../out", r.path("d")))
	if err := r.Apply(plan, nil); err == nil {
		t.Error("it is written")
	}
	if text, _ := os.ReadFile(r.root + "/../out/f"); string(text) != "b\n" {
		t.Errorf("outside there is %q", text)
	}
}

func TestRestoringKeepsWhatTheUserDidUnlessTold(t *testing.T) {
	t.Parallel()
	for _, everything := range []bool{false, true} {
		r := newRig(t, "f", "a\nb\nc\nd\n", "mine", "1\n", "kept", "1\n")
		a := r.turn("s")
		r.write("f", "A\nb\nc\nd\n", "new", "n\n")
		r.ends(a)
		r.write("f", "A\nb\nc\nD\n", "mine", "2\n")
		b := r.turn("s")
		r.write("f", "A\nb\nc\nD\nE\n")
		r.ends(b)
		plan, err := r.Restore(t.Context(), "1", RestoreOptions{Everything: everything})
		r.must(err)
		r.must(r.Apply(plan, nil))
		want := map[bool][3]string{false: {"a\nb\nc\nD\n", "", "2\n"}, true: {"a\nb\nc\nd\n", "", "1\n"}}[everything]
		if got := [3]string{r.disk("f").Text, r.disk("new").Text, r.disk("mine").Text}; got != want || r.disk("new").Kind != review.Absent {
			t.Errorf("everything %v: %q", everything, got)
		}
		points := r.Review().Checkpoints()
		if len(points) != 3 {
			t.Fatalf("%d checkpoints", len(points))
		}
		plan, err = r.Restore(t.Context(), points[2].ID, RestoreOptions{Everything: true})
		r.must(err)
		r.must(r.Apply(plan, nil))
		if got := [3]string{r.disk("f").Text, r.disk("new").Text, r.disk("mine").Text}; got != [3]string{"A\nb\nc\nD\nE\n", "n\n", "2\n"} {
			t.Errorf("everything %v, and back: %q", everything, got)
		}
	}
	r := newRig(t)
	if _, err := r.Restore(t.Context(), "7", RestoreOptions{}); !errors.Is(err, review.ErrNoCheckpoint) {
		t.Errorf("%v", err)
	}
}

// An editor's state directory may be in the folder.
func TestTheStateOfReviewsIsNotUnderReview(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\n")
	r.must(r.Close())
	r.state = r.path("home/state")
	r.opts.home = t.TempDir()
	r.open()
	for range 3 {
		a := r.turn("s")
		r.write("home/x", "x\n")
		r.ends(a)
	}
	r.is("home/x s disk? >x")
	s, err := tree.Load(r.store, r.Review().Checkpoints()[2].Tree)
	r.must(err)
	if len(s.Entries) != 2 {
		t.Errorf("the snapshot has %+v", s.Entries)
	}
}

// A scan while a file is being replaced sees its temporary file.
func TestATemporaryFileOfAWriteIsNotUnderReview(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\n")
	a := r.turn("s")
	dir, err := os.OpenRoot(r.root)
	r.must(err)
	defer dir.Close()
	old, err := dir.Lstat("f")
	r.must(err)
	r.must(atomicfile.Replace(dir, "f", "b\n", old, 0o644, func(string) error {
		r.Scan(a)
		r.wait()
		return nil
	}))
	r.ends(a)
	r.is("f s disk? a>b")
	r.told("f disk")
}

// A decision writes a file, and then it is recorded. No buffer of the file is held in between.
func TestABufferThatIsHeldDuringADecisionDoesNotDisturbIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\n", "g", "")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { // what is written of others takes its time
		defer close(stopped)
		text := strings.Repeat("line\n", 10000)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				r.Review().Changed(review.Author{Session: "other"}, "g", nil, review.State{Kind: review.Regular, Text: fmt.Sprint(i, text), Mode: 0o644})
			}
		}
	}()
	defer func() {
		close(stop)
		<-stopped
	}()
	for range 60 {
		a := r.turn("s")
		r.write("f", "b\n")
		r.look(a, "f")
		r.ends(a)
		plan, err := r.Reject(review.Selection{Path: "f"}, false)
		r.must(err)
		held := make(chan error, 1)
		go func() {
			for {
				if text, _ := os.ReadFile(r.path("f")); string(text) == "a\n" {
					held <- r.Hold(r.path("f"), Text{Text: "a\nmine, not saved\n"})
					return
				}
			}
		}()
		r.must(r.Apply(plan, func(review.Change) error { return errors.New("the editor is not asked") }))
		r.must(patience.Value(t, "the buffer is held", held))
		r.Release(r.path("f"))
		r.wait()
		if hunks := r.Review().Hunks("f"); len(hunks) > 0 {
			t.Errorf("still under review: %v", hunks)
		}
	}
}
