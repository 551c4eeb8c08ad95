package project

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/internal/review/tree"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// sayings are what was not recorded.
type sayings struct {
	mu   sync.Mutex
	list []string
}

// says returns a function that returns what was reported as not recorded since its
// last call.
func (r *rig) says() func() []string {
	var s sayings
	r.opts.OnUnseen = func(a review.Author, u Unrecorded) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.list = append(s.list, a.Session+": "+u.Reason)
	}
	r.reopen()
	return func() []string {
		s.mu.Lock()
		defer s.mu.Unlock()
		said := s.list
		s.list = nil
		return said
	}
}

// hides are ways in which the file d/f leaves the looks at all files. Each names the place that
// leaves with it, and the reason that is reported.
var hides = map[string]struct {
	hide, show func(r *rig)
	place, why string
}{
	"too many files": {
		func(r *rig) { r.crowd("d") },
		func(r *rig) { r.uncrowd("d") },
		"d", "the project has too many files",
	},
	"a file that cannot be read": {
		func(r *rig) { r.must(os.Chmod(r.path("d/f"), 0)) },
		func(r *rig) { // its permissions are those that the umask gave it
			info, err := os.Stat(r.path("d/g"))
			r.must(err)
			r.must(os.Chmod(r.path("d/f"), info.Mode()))
		},
		"d/f", "permission denied",
	},
	"a folder that cannot be listed": {
		func(r *rig) { r.must(os.Chmod(r.path("d"), 0)) },
		func(r *rig) { r.must(os.Chmod(r.path("d"), 0o755)) },
		"d", "it cannot be read",
	},
	"a folder that cannot be searched": {
		func(r *rig) { r.must(os.Chmod(r.path("d"), 0o400)) },
		func(r *rig) { r.must(os.Chmod(r.path("d"), 0o755)) },
		"d", "it cannot be read",
	},
}

const crowd = 30 // files, which are too many

var crowded = tree.Limits{Files: crowd}

// crowd makes so many files in a folder that it is left out.
func (r *rig) crowd(dir string) {
	for i := range crowd {
		r.write(fmt.Sprintf("%s/x%d", dir, i), "x\n")
	}
}

func (r *rig) uncrowd(dir string) {
	for i := range crowd {
		r.remove(fmt.Sprintf("%s/x%d", dir, i))
	}
}

// hidden lists the ways that work for this user: nothing is unreadable for root.
func hidden() (names []string) {
	for name := range hides {
		if os.Geteuid() != 0 || name == "too many files" {
			names = append(names, name)
		}
	}
	return names
}

// A file that leaves the looks stays as it was last known, and is named. When it is back, its
// change is found.
func TestAFileThatLeavesTheLooksStaysAsItWasLastKnown(t *testing.T) {
	t.Parallel()
	for _, name := range hidden() {
		h := hides[name]
		for _, pending := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", pending ", pending), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, "d/f", "one\n", "d/g", "g\n")
				t.Cleanup(func() { os.Chmod(r.path("d"), 0o700) })
				r.opts.Limits = crowded
				said := r.says()
				var was []string
				if pending {
					a := r.turn("s")
					r.write("d/f", "two\n")
					r.ends(a)
					was = []string{"d/f s disk? one>two"}
				}
				r.is(was...)
				a := r.turn("s")
				if !pending { // what is pending is looked at by itself, and so not hidden by others
					r.write("d/f", "three\n")
				}
				h.hide(r)
				r.ends(a)
				r.is(was...)
				if got := said(); !slices.ContainsFunc(got, func(s string) bool {
					return strings.HasPrefix(s, "s: "+h.place+" cannot be reviewed: ") && strings.Contains(s, h.why)
				}) {
					t.Errorf("said %q", got)
				}
				if unseen := r.Unseen(); !slices.Contains(unseen, h.place) {
					t.Errorf("unseen are %q", unseen)
				}

				b := r.turn("s")
				r.ends(b) // nothing happens
				r.is(was...)
				if got := said(); len(got) > 0 {
					t.Errorf("said again: %q", got)
				}

				c := r.turn("s")
				h.show(r)
				r.write("d/f", "three\n")
				r.ends(c)
				r.is("d/f s disk? one>three")
				if unseen := r.Unseen(); len(unseen) > 0 {
					t.Errorf("still unseen: %q", unseen)
				}
				r.must(r.Apply(r.plan(), nil))
				if text, err := os.ReadFile(r.path("d/f")); err != nil || string(text) != "one\n" {
					t.Errorf("rejected: %q, %v", text, err)
				}
			})
		}
	}
}

func (r *rig) plan() *review.Plan {
	r.t.Helper()
	plan, err := r.Reject(review.Selection{}, false)
	r.must(err)
	return plan
}

// A file that an agent makes and that no look can review is reported by name.
func TestANewFileThatCannotBeReviewedIsNamed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		make func(r *rig)
		root bool // also for root
		want string
	}{
		"too many":            {func(r *rig) { r.crowd("new") }, true, "s: new cannot be reviewed: the project has too many files"},
		"too deep":            {func(r *rig) { r.write("a/b/c/d/e/f", "x\n") }, true, "s: a/b/c/d/e cannot be reviewed: it is too deep"},
		"too large":           {func(r *rig) { r.write("new", ""); r.must(os.Truncate(r.path("new"), 17<<20)) }, true, "s: new cannot be reviewed: it is larger than 16 MiB"},
		"a file":              {func(r *rig) { r.write("new", "x\n"); r.must(os.Chmod(r.path("new"), 0)) }, false, "s: new cannot be reviewed: it cannot be read"},
		"a folder":            {func(r *rig) { r.write("new/f", "x\n"); r.must(os.Chmod(r.path("new"), 0)) }, false, "s: new cannot be reviewed: it cannot be read"},
		"several":             {func(r *rig) { r.crowd("new"); r.crowd("other") }, true, "s: new cannot be reviewed: the project has too many files (1 more)"},
		"what is no file":     {func(r *rig) { r.must(os.MkdirAll(r.path("new"), 0o755)) }, true, ""},
		"what was not looked": {func(r *rig) { r.write("new", "x\n"); r.remove("new") }, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if os.Geteuid() == 0 && !test.root {
				t.Skip("nothing is unreadable for root")
			}
			r := newRig(t, "f", "one\n")
			t.Cleanup(func() { os.Chmod(r.path("new"), 0o700) })
			r.opts.Limits = tree.Limits{Files: crowd, Depth: 4}
			said := r.says()
			a := r.turn("s")
			test.make(r)
			r.ends(a)
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			if got := said(); !slices.Equal(got, want) {
				t.Errorf("said %q, want %q", got, want)
			}
			if unseen := r.Unseen(); (len(unseen) > 0) != (test.want != "") {
				t.Errorf("unseen are %q", unseen)
			}
			r.reopen() // it is still known
			if list := UnrecordedIn(r.store); (len(list) > 0) != (test.want != "") {
				t.Errorf("stored is %+v", list)
			}
		})
	}
}

// A file that was there before, but could not be looked at then, is not shown
// as new.
func TestWhatComesIntoSightIsNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t, "d/f", "one\n")
	r.crowd("d")
	r.opts.Limits = crowded
	said := r.says()
	a := r.turn("s")
	r.write("d/f", "two\n")
	r.uncrowd("d")
	r.ends(a)
	r.is()
	if got := said(); !slices.Equal(got, []string{"s: d cannot be reviewed: the project had too many files before"}) {
		t.Errorf("said %q", got)
	}
}

// A tool call names a file whose content was too large to keep.
func TestATextThatWasNotKeptIsNamed(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int64{"not kept": 5 << 20, "too large": 17 << 20} {
		for _, tooled := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", by a tool call ", tooled), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, "f", "")
				r.must(os.Truncate(r.path("f"), size))
				said := r.says()
				a := r.turn("s")
				r.write("f", "small\n")
				if tooled {
					r.look(tool(a, "call"), "f")
				} else {
					r.ends(a)
				}
				r.is()
				if got := said(); !slices.Equal(got, []string{"s: f cannot be reviewed: the store does not have its content"}) {
					t.Errorf("said %q", got)
				}
			})
		}
	}
}

// A folder that an agent replaces by a file takes its files with it, whoever looks.
func TestAFolderThatBecomesAFileHasNoFiles(t *testing.T) {
	t.Parallel()
	for _, tooled := range []bool{false, true} {
		t.Run(fmt.Sprint("by a tool call ", tooled), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "d/f", "one\n")
			said := r.says()
			a := r.turn("s")
			r.must(os.RemoveAll(r.path("d")))
			r.write("d", "file\n")
			if tooled {
				r.look(tool(a, "call"), "d/f", "d")
			}
			r.ends(a)
			if got := r.Review().Files(); len(got) != 2 || got[0].Path != "d" || got[1].Path != "d/f" || got[1].Current != review.Absent {
				t.Errorf("under review: %+v", got)
			}
			if got := said(); len(got) > 0 {
				t.Errorf("said %q", got)
			}
		})
	}
}

// For a file that no look has had, a tool call can say what it is, but not what it
// was.
func TestAFileThatNoLookHadIsNamedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, "d/f", "one\n")
	r.crowd("d")
	r.opts.Limits = crowded
	said := r.says()
	a := r.turn("s")
	r.look(tool(a, "call"), "d/f")
	r.write("d/f", "two\n")
	r.look(tool(a, "call 2"), "d/f")
	r.is("d/f s tool one>two")
	if got := said(); len(got) != 1 || !strings.HasPrefix(got[0], "s: d/f cannot be reviewed: what it was before is not known") {
		t.Errorf("said %q", got)
	}
}
