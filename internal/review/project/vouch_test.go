package project

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// supervised is an agent in a shim: what it changes is in a journal and is reported.
type supervised struct {
	r        *rig
	agent    string
	events   *os.File
	contents *store.Store
	seq      uint64
}

func (r *rig) shim(agent string) *supervised {
	r.t.Helper()
	dir := filepath.Join(store.Dir(r.state, r.root), "shim", agent)
	r.must(os.MkdirAll(dir, 0o700))
	st, err := store.Open(filepath.Join(dir, "store"), store.Options{})
	r.must(err)
	r.t.Cleanup(func() { st.Close() })
	f, err := os.Create(filepath.Join(dir, "events.jsonl"))
	r.must(err)
	r.t.Cleanup(func() { f.Close() })
	s := &supervised{r: r, agent: agent, events: f, contents: st}
	s.add(journal.Event{Time: time.Now(), Op: journal.Start, Path: r.root, Text: "shim " + agent, Agent: agent})
	return s
}

func (s *supervised) add(e journal.Event) {
	s.r.t.Helper()
	line, err := json.Marshal(e)
	s.r.must(err)
	_, err = s.events.Write(append(line, '\n'))
	s.r.must(err)
}

// changes writes a file, nil for none, and returns the report of that.
func (s *supervised) changes(name string, after *string) feed.Report {
	s.r.t.Helper()
	path := s.r.path(name)
	version := func() *journal.Version {
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return &journal.Version{Absent: true}
		}
		s.r.must(err)
		h, err := s.contents.Put(text)
		s.r.must(err)
		return &journal.Version{Size: int64(len(text)), Hash: h}
	}
	said := func(v *journal.Version) *feed.Version {
		if v.Absent {
			return &feed.Version{Absent: true}
		}
		return &feed.Version{Hash: v.Hash, Size: v.Size}
	}
	s.seq++
	e := journal.Event{Seq: s.seq, Phase: journal.Post, Op: journal.Write, Path: path, Before: version()}
	kind := feed.Write
	if after == nil {
		s.r.remove(name)
		e.Op, kind = journal.Remove, feed.Remove
	} else {
		s.r.write(name, *after)
	}
	// Reports say when in milliseconds. Two of them in one are in an order that nobody knows.
	for began := time.Now().Truncate(time.Millisecond); !time.Now().Truncate(time.Millisecond).After(began); {
		time.Sleep(100 * time.Microsecond)
	}
	e.Time, e.After = time.Now(), version()
	s.add(e)
	return feed.Report{
		Kind: kind, Path: path, Agent: s.agent, Author: review.Author{Source: "shim"}, Before: said(e.Before), After: said(e.After),
		At: e.Time, Producer: "shim " + s.agent, Seq: s.seq,
	}
}

// chmods changes the permissions of a file, and returns the report of that.
func (s *supervised) chmods(name string, mode os.FileMode) feed.Report {
	s.r.t.Helper()
	info, err := os.Stat(s.r.path(name))
	s.r.must(err)
	s.r.must(os.Chmod(s.r.path(name), mode))
	text, err := os.ReadFile(s.r.path(name))
	s.r.must(err)
	h, err := s.contents.Put(text)
	s.r.must(err)
	s.seq++
	r := feed.Report{Kind: feed.Write, Path: s.r.path(name), Agent: s.agent, Author: review.Author{Source: "shim"}, At: time.Now(), Producer: "shim " + s.agent, Seq: s.seq}
	version := func(mode os.FileMode) (*journal.Version, *feed.Version) {
		return &journal.Version{Size: int64(len(text)), Hash: h, Mode: fmt.Sprintf("%o", mode)}, &feed.Version{Size: int64(len(text)), Hash: h, Mode: &mode}
	}
	e := journal.Event{Time: r.At, Seq: s.seq, Phase: journal.Post, Op: journal.Chmod, Path: r.Path}
	e.Before, r.Before = version(info.Mode().Perm())
	e.After, r.After = version(mode)
	s.add(e)
	return r
}

// appends writes lines to the end of a file.
func (s *supervised) appends(name, lines string) feed.Report {
	s.r.t.Helper()
	text, _ := os.ReadFile(s.r.path(name))
	after := string(text) + lines
	return s.changes(name, &after)
}

func (r *rig) appends(name, lines string) {
	r.t.Helper()
	text, _ := os.ReadFile(r.path(name))
	r.write(name, string(text)+lines)
}

// looks is a look outside of turns, as when the system says that a file has changed.
func (r *rig) noticesFile(name string) {
	r.t.Helper()
	r.add(&job{user: true, files: []Told{{Path: r.path(name)}}})
	r.wait()
}

func TestWhatWasWrittenBetweenTwoReportsIsTheUsers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		play func(r *rig, a, b *supervised, tell func(feed.Report))
		want []string
	}{
		"before the first": {func(r *rig, a, _ *supervised, tell func(feed.Report)) {
			r.appends("f", "me\n")
			tell(a.appends("f", "agent\n"))
		}, []string{`f a shim true +"agent\n" -""`}},
		"between two": {func(r *rig, a, _ *supervised, tell func(feed.Report)) {
			tell(a.appends("f", "one\n"))
			r.appends("f", "me\n")
			tell(a.appends("f", "two\n"))
		}, []string{`f a shim true +"one\n" -""`, `f a shim true +"two\n" -""`}},
		"between two that come late": {func(r *rig, a, _ *supervised, tell func(feed.Report)) {
			one := a.appends("f", "one\n")
			r.appends("f", "me\n")
			two := a.appends("f", "two\n")
			tell(one)
			tell(two)
		}, []string{`f a shim true +"one\n" -""`, `f a shim true +"two\n" -""`}},
		"a look comes first": {func(r *rig, a, _ *supervised, tell func(feed.Report)) {
			tell(a.appends("f", "zero\n"))
			one := a.appends("f", "one\n")
			r.noticesFile("f")
			r.appends("f", "me\n")
			two := a.appends("f", "two\n")
			r.noticesFile("f")
			tell(one)
			tell(two)
		}, []string{`f a shim true +"zero\none\n" -""`, `f a shim true +"two\n" -""`}},
		"two agents, out of order": {func(r *rig, a, b *supervised, tell func(feed.Report)) {
			one := a.appends("f", "one\n")
			r.appends("f", "me\n")
			two := b.appends("f", "two\n")
			tell(two)
			tell(one)
		}, []string{`f a shim true +"one\n" -""`, `f b shim true +"two\n" -""`}},
		"the agent removes it": {func(r *rig, a, _ *supervised, tell func(feed.Report)) {
			r.appends("f", "me\n")
			tell(a.changes("f", nil))
		}, []string{`f a shim true +"" -"x\nme\n"`}},
		"the user made it": {func(r *rig, a, _ *supervised, tell func(feed.Report)) {
			r.write("new", "me\n")
			tell(a.appends("new", "agent\n"))
		}, []string{`new a shim true +"agent\n" -""`}},
		"the user removed it": {func(r *rig, a, _ *supervised, tell func(feed.Report)) {
			r.remove("f")
			tell(a.appends("f", "agent\n"))
		}, []string{`f a shim true +"agent\n" -""`}},
		"binary": {func(r *rig, a, _ *supervised, tell func(feed.Report)) {
			r.write("f", "\x00me\n")
			agent := "\x00agent\n"
			tell(a.changes("f", &agent))
		}, []string{`f a shim true +"\x00agent\n" -"\x00me\n"`}},
		"told again": {func(r *rig, a, _ *supervised, tell func(feed.Report)) {
			one := a.appends("f", "one\n")
			tell(one)
			r.appends("f", "me\n")
			tell(one)
			tell(a.appends("f", "two\n"))
		}, []string{`f a shim true +"one\n" -""`, `f a shim true +"two\n" -""`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "f", "x\n")
			c.play(r, r.shim("a"), r.shim("b"), r.tell())
			r.reported(c.want...)
			plan, err := r.Reject(review.Selection{}, true)
			r.must(err)
			r.must(r.Apply(plan, nil))
			for _, f := range []string{"f", "new"} {
				text, _ := os.ReadFile(r.path(f))
				if strings.ContainsAny(string(text), "gnwz") {
					t.Errorf("after the rejection %s is %q", f, text)
				}
			}
		})
	}
}

// A buffer may have edits that are not saved.
func TestWhatWasWrittenOutsideReachesABufferAsTheUsers(t *testing.T) {
	t.Parallel()
	for _, mine := range []string{"", "unsaved\n"} {
		r := newRig(t, "f", "x\n")
		a, tell := r.shim("a"), r.tell()
		r.must(r.Hold(r.path("f"), Text{Text: mine + "x\n"}))
		r.appends("f", "me\n")
		one := a.appends("f", "one\n")
		r.appends("f", "me too\n")
		two := a.appends("f", "two\n")
		tell(one)
		tell(two)
		text := mine + "x\nme\none\nme too\ntwo\n" // what the editor makes of it
		author := r.author[len(r.author)-1]
		r.must(r.Changed(author, r.path("f"), nil, text))
		r.reported(`f a shim true +"one\n" -""`, `f a shim true +"two\n" -""`)
		// The editor may have read the file before the report came.
		r.appends("f", "me\n")
		r.must(r.Hold(r.path("f"), Text{Text: text + "me\n", Reloaded: true}))
		r.noticesFile("f")
		three := a.appends("f", "three\n")
		r.must(r.Hold(r.path("f"), Text{Text: text + "me\nthree\n", Reloaded: true}))
		if mine == "" {
			tell(three)
			r.reported(`f a shim true +"one\n" -""`, `f a shim true +"two\n" -""`, `f a shim true +"three\n" -""`)
		}
	}
}

// A report without a journal may claim anything.
func TestAForgedReportOfAShimDecidesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "x\n", ".gitignore", "ignored\n", "ignored", "x\n")
	a, tell := r.shim("a"), r.tell()
	report := a.appends("f", "agent\n")
	evil := "evil\n"
	report.Before = &feed.Version{Text: &evil, Size: -1}
	tell(report)
	r.reported(`f a shim true +"agent\n" -""`)
}

func TestAFolderThatAShimReportedGoesWithItsFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "x\n")
	r.must(os.Mkdir(r.path("mine"), 0o755))
	a, tell := r.shim("a"), r.tell()
	for _, dir := range []string{"d", "d/e", "mine/e"} {
		r.must(os.Mkdir(r.path(dir), 0o755))
		a.seq++
		e := journal.Event{Time: time.Now(), Seq: a.seq, Phase: journal.Post, Op: journal.Mkdir, Path: r.path(dir), Before: &journal.Version{Absent: true}, After: &journal.Version{Dir: true}}
		a.add(e)
		tell(feed.Report{Kind: feed.Read, Path: e.Path, Agent: "a", Author: review.Author{Source: "shim"}, Before: &feed.Version{Absent: true}, At: e.Time, Producer: "shim a", Seq: a.seq})
		tell(a.appends(dir+"/f", "x\n"))
	}
	plan, err := r.Reject(review.Selection{}, false)
	r.must(err)
	r.must(r.Apply(plan, nil))
	for dir, want := range map[string]bool{"d": false, "mine": true, "mine/e": false} {
		if _, err := os.Stat(r.path(dir)); (err == nil) != want {
			t.Errorf("that %s is there must be %v", dir, want)
		}
	}
}

// An agent in a shim changes the permissions of a file, and so does the user.
func TestPermissionsThatAShimReportedAreExact(t *testing.T) {
	t.Parallel()
	for name, user := range map[string]os.FileMode{"the agent's": 0, "after the user's": 0o600} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "f", "x\n", "g", "x\n")
			a, tell := r.shim("a"), r.tell()
			if user != 0 {
				r.must(os.Chmod(r.path("f"), user))
			}
			before := r.sees()
			tell(a.chmods("f", 0o755))
			tell(a.appends("f", "y\n"))
			if h := r.Review().Hunks("f"); len(h) != 2 || h[0].Authors[0].Inferred || h[0].Authors[0].Source != "shim" {
				t.Fatalf("%+v", h)
			}
			plan, err := r.Reject(review.Selection{}, false)
			r.must(err)
			r.must(r.Apply(plan, nil))
			if after := r.sees(); !maps.Equal(after, before) {
				t.Errorf("%q, was %q", after, before)
			}
		})
	}
}

func TestAnExactReportWaitsForTheEditorOnlyIfItHasTheFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, "held", "1\n", "a", "1\n", "b", "1\n")
	tell, s := r.tell(), r.shim("x")
	var waits atomic.Int32
	r.Project.opts.Barrier = func(context.Context) { waits.Add(1) }
	r.must(r.Hold(r.path("held"), Text{Text: "1\n"}))
	for _, name := range []string{"a", "b", "made"} {
		tell(s.appends(name, "agent\n"))
	}
	if n := waits.Load(); n != 0 {
		t.Errorf("waited %d times for files that are in no buffer", n)
	}
	tell(s.appends("held", "agent\n"))
	if waits.Load() == 0 {
		t.Error("did not wait for the edits of a buffer")
	}
}

func TestASaveThatTheEditorReportsAfterAnExactReportIsTheUsers(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a", "1\n")
	tell, s := r.tell(), r.shim("x")
	r.write("a", "user\n1\n") // the editor is busy and reports the save later
	tell(s.appends("a", "agent\n"))
	r.UserWrote(r.path("a"))
	r.wait()
	r.reported(`a x shim true +"agent\n" -""`)
}

// Two programs report over two connections, so the later change may come first. After a crash
// both come again, and count once.
func TestReportsThatCameInAnotherOrderCountOnceAfterACrash(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "1\n2\n")
	a, b := r.shim("a"), r.shim("b")
	with, without := "1\na\n2\n", "1\n2\nb\n"
	reports := []feed.Report{a.changes("f", &with), b.changes("f", &without)}
	tell := r.tell()
	tell(reports[1])
	tell(reports[0])
	r.wait()
	want := r.pending()
	r.deafen()
	r.must(r.store.Save(feedCache, nil)) // how far it has heard
	r.reopen()
	r.tell()
	r.must(r.Replayed(patience.Context(t, patience.Soon)))
	r.wait()
	r.reported(want)
	r.reject(review.Selection{}, nil)
	if text, err := os.ReadFile(r.path("f")); err != nil || string(text) != "1\n2\n" {
		t.Errorf("after a rejection it is %q, %v", text, err)
	}
}
