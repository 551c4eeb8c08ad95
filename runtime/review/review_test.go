package review

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/review/tree"
)

// memory is a store without a disk.
type memory struct {
	mu      sync.Mutex
	blobs   map[Hash][]byte
	records [][]byte
	fail    error
}

func newMemory() *memory { return &memory{blobs: make(map[Hash][]byte)} }

func (m *memory) Put(data []byte) (Hash, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return Hash{}, m.fail
	}
	h := store.HashOf(data)
	m.blobs[h] = slices.Clone(data)
	return h, nil
}

func (m *memory) Get(h Hash) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if data, ok := m.blobs[h]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func (m *memory) Append(record []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	m.records = append(m.records, slices.Clone(record))
	return nil
}

func (m *memory) Records() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, r := range m.records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (m *memory) Compact(records iter.Seq[[]byte]) error {
	if m.fail != nil {
		return m.fail
	}
	m.records = slices.Collect(records)
	return nil
}

// project is a review and the files it is about.
type project struct {
	*Review
	t     *testing.T
	store Store
	disk  map[string]State
}

func newProject(t *testing.T) *project {
	p := &project{t: t, store: newMemory(), disk: make(map[string]State)}
	p.open()
	return p
}

func (p *project) open() {
	p.t.Helper()
	r, err := Open(p.store, Options{})
	p.ok(err)
	for _, err := range r.Lost() {
		p.t.Error(err)
	}
	p.Review = r
}

func (p *project) ok(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func text(s string) State { return State{Kind: Regular, Text: s, Mode: 0o644} }

// agent lets an agent change a file on the disk.
func (p *project) agent(session, path string, to State) {
	p.t.Helper()
	before := p.disk[path]
	p.disk[path] = to
	p.ok(p.Changed(Author{Session: session, Turn: session, Source: "disk"}, path, &before, to))
}

// user lets the user.
func (p *project) user(path string, to State) {
	p.t.Helper()
	p.disk[path] = to
	p.ok(p.Wrote(path, to, false))
}

func (p *project) apply(plan *Plan, err error) {
	p.t.Helper()
	p.ok(err)
	p.ok(plan.Apply(func(c Change) error {
		if p.disk[c.Path] != c.Before {
			return fmt.Errorf("%+v is not %+v", p.disk[c.Path], c.Before)
		}
		lines := split(c.Before.Text)
		for _, e := range slices.Backward(c.Edits) {
			lines = slices.Replace(lines, e.Start, e.End, e.Lines...)
		}
		if got := strings.Join(lines, ""); got != c.After.Text {
			return fmt.Errorf("the edits %v give %q, not %q", c.Edits, got, c.After.Text)
		}
		p.disk[c.Path] = c.After
		return nil
	}))
}

func (p *project) accept(s Selection) {
	p.t.Helper()
	_, err := p.Accept(s)
	p.ok(err)
}

func (p *project) summary(path string) string {
	var out []string
	for _, h := range p.Hunks(path) {
		s := string(h.Kind) + " " + h.Session
		if h.Kind == Text {
			s += fmt.Sprintf(" -%s+%s", strings.Join(slices.Concat(h.Old, h.Others), ""), strings.Join(h.New, ""))
		}
		out = append(out, s)
	}
	return strings.ReplaceAll(strings.Join(out, "; "), "\n", "/")
}

func TestFilesAreReviewed(t *testing.T) {
	t.Parallel()
	executable := State{Kind: Regular, Text: "a\n", Mode: 0o755}
	link := State{Kind: Link, Target: "b"}
	for _, c := range []struct {
		name       string
		base       State
		to         []State // of agent s, then t
		user       *State
		hunks      string
		reject     State // after everything is rejected
		acceptBase State // after everything is accepted
	}{
		{name: "a change", base: text("a\n"), to: []State{text("b\n")}, hunks: "text s -a/+b/", reject: text("a\n"), acceptBase: text("b\n")},
		{name: "a creation", to: []State{text("a\nb\n")}, hunks: "text s -+a/b/", acceptBase: text("a\nb\n")},
		{name: "an empty file", to: []State{text("")}, hunks: "created s", acceptBase: text("")},
		{name: "a deletion", base: text("a\n"), to: []State{{}}, hunks: "text s -a/+", reject: text("a\n")},
		{name: "the deletion of an empty file", base: text(""), to: []State{{}}, hunks: "deleted s", reject: text("")},
		{name: "a file that is emptied", base: text("a\n"), to: []State{text("")}, hunks: "text s -a/+", reject: text("a\n"), acceptBase: text("")},
		{name: "permission bits", base: text("a\n"), to: []State{executable}, hunks: "mode s", reject: text("a\n"), acceptBase: executable},
		{name: "permission bits of a deleted file", base: executable, to: []State{{}}, hunks: "text s -a/+", reject: executable},
		{name: "permission bits of a created file", to: []State{executable}, hunks: "text s -+a/", acceptBase: executable},
		{name: "text and permission bits", base: text("b\n"), to: []State{executable}, hunks: "mode s; text s -b/+a/", reject: text("b\n"), acceptBase: executable},
		{name: "a link", to: []State{link}, hunks: "link s", acceptBase: link},
		{name: "a link to another target", base: link, to: []State{{Kind: Link, Target: "c"}}, hunks: "link s", reject: link, acceptBase: State{Kind: Link, Target: "c"}},
		{name: "a file that becomes a link", base: executable, to: []State{link}, hunks: "link s", reject: executable, acceptBase: link},
		{name: "a link that becomes a file", base: link, to: []State{text("a\n")}, hunks: "link s", reject: link, acceptBase: text("a\n")},
		{name: "a link that is deleted", base: link, to: []State{{}}, hunks: "deleted s", reject: link},
		{name: "created and deleted", to: []State{text("a\n"), {}}, hunks: "text t -a/+"},
		{name: "deleted and created again", base: text("a\nb\n"), to: []State{{}, text("a\nb\n")}, reject: text("a\nb\n"), acceptBase: text("a\nb\n"), hunks: ""},
		{name: "created by one, continued by another", to: []State{text("a\n"), text("a\nb\n")}, hunks: "text s -+a/; text t -+b/", acceptBase: text("a\nb\n")},
		{name: "created, and the user writes into it", to: []State{text("a\n")}, user: &State{Kind: Regular, Text: "a\nu\n", Mode: 0o644}, hunks: "text s -+a/", reject: text("u\n"), acceptBase: text("a\nu\n")},
		{name: "deleted, and the user writes it again", base: text("a\nb\n"), to: []State{{}}, user: &State{Kind: Regular, Text: "a\nu\n", Mode: 0o644}, hunks: "text s -b/+", reject: text("a\nb\nu\n"), acceptBase: text("a\nu\n")},
		{name: "binary", base: text("a\x00\n\xff"), to: []State{text("b\x00\xfe")}, hunks: "text s -a\x00/\xff+b\x00\xfe", reject: text("a\x00\n\xff"), acceptBase: text("b\x00\xfe")},
		{name: "CRLF", base: text("a\r\nb\r\n"), to: []State{text("a\r\nc\r\n")}, hunks: "text s -b\r/+c\r/", reject: text("a\r\nb\r\n"), acceptBase: text("a\r\nc\r\n")},
		{name: "no last newline", base: text("a\nb"), to: []State{text("a\nb\nc")}, hunks: "text s -b+b/c", reject: text("a\nb"), acceptBase: text("a\nb\nc")},
	} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/restart %v", c.name, restart), func(t *testing.T) {
				start := func() *project {
					p := newProject(t)
					const path = "a b'\"$\n\xff"
					p.disk[path] = c.base
					for i, to := range c.to {
						p.agent(string(rune('s'+i)), path, to)
					}
					if c.user != nil {
						p.user(path, *c.user)
					}
					if restart {
						p.open()
					}
					if got := p.summary(path); got != c.hunks {
						t.Errorf("hunks %q, not %q", got, c.hunks)
					}
					if _, now, _ := p.Known(path); now != p.disk[path] {
						t.Errorf("%+v, not %+v", now, p.disk[path])
					}
					return p
				}
				const path = "a b'\"$\n\xff"
				p := start()
				for n := 0; len(p.Files()) > 0 && n < 9; n++ {
					p.apply(p.Reject(Selection{}, true))
				}
				if p.disk[path] != c.reject {
					t.Errorf("rejected, it is %+v, not %+v", p.disk[path], c.reject)
				}
				if base, _, _ := p.Known(path); base != c.reject {
					t.Errorf("rejected, the base is %+v, not %+v", base, c.reject)
				}
				p = start()
				for n := 0; len(p.Files()) > 0 && n < 9; n++ {
					p.accept(Selection{})
				}
				base, now, _ := p.Known(path)
				if base != c.acceptBase || now != c.acceptBase {
					t.Errorf("accepted, it is %+v and the base %+v, not %+v", now, base, c.acceptBase)
				}
				// One hunk after the other is the same, and nothing is left over.
				p = start()
				hunks := len(p.Hunks(path))
				if strings.Contains(c.hunks, " t ") {
					hunks = 9 // there may be more behind them
				}
				for n := 0; len(p.Files()) > 0 && n < hunks; n++ {
					p.apply(p.Reject(Selection{Hunk: p.Hunks(path)[0].ID}, true))
				}
				if p.disk[path] != c.reject {
					t.Errorf("rejected hunk by hunk, it is %+v, not %+v", p.disk[path], c.reject)
				}
				if files := p.Files(); len(files) > 0 {
					t.Errorf("after rejecting every hunk there is %+v", files)
				}
				p = start()
				for n := 0; len(p.Files()) > 0 && n < hunks; n++ {
					p.accept(Selection{Hunk: p.Hunks(path)[0].ID})
				}
				if base, _, _ := p.Known(path); base != c.acceptBase {
					t.Errorf("accepted hunk by hunk, the base is %+v, not %+v", base, c.acceptBase)
				}
				if files := p.Files(); len(files) > 0 {
					t.Errorf("after accepting every hunk there is %+v", files)
				}
				// A decision that is undone is as if it had not been.
				p = start()
				if len(p.Files()) == 0 {
					return
				}
				before := p.disk[path]
				plan, err := p.Reject(Selection{}, true)
				p.apply(plan, err)
				if restart {
					p.open()
				}
				p.apply(p.Undo(plan.Decision))
				if p.disk[path] != before || p.summary(path) != c.hunks {
					t.Errorf("undone, it is %+v with %q, not %+v with %q", p.disk[path], p.summary(path), before, c.hunks)
				}
			})
		}
	}
}

func TestAnAgentThatTakesAFactBackLeavesNothing(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.disk["mode"] = text("a\n")
	executable := State{Kind: Regular, Text: "a\n", Mode: 0o755}
	p.agent("s", "mode", executable)
	p.agent("s", "mode", text("a\n"))
	p.agent("s", "created", text(""))
	p.agent("s", "created", State{})
	if got := p.Files(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	// An accepted change makes pending changes before it moot.
	p.agent("s", "mode", executable)
	p.agent("t", "mode", State{Kind: Regular, Text: "a\n", Mode: 0o700})
	p.accept(Selection{Session: "t"})
	if got := p.summary("mode"); got != "" {
		t.Error(got)
	}
	// Text in a created file is the user's before the file is accepted.
	p.agent("s", "new", text("x\n"))
	p.user("new", text("x\nu\n"))
	if base, _, _ := p.Known("new"); base != text("u\n") {
		t.Errorf("%+v", base)
	}
}

func TestAFileIsCapturedOnce(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.disk["a"] = text("a\n")
	p.ok(p.Track("a", text("a\n")))
	p.agent("s", "a", text("b\n"))
	p.ok(p.Track("a", text("b\n")))
	late := text("b\n")
	p.ok(p.Changed(Author{Session: "s"}, "a", &late, text("c\n")))
	if base, _, _ := p.Known("a"); base != text("a\n") {
		t.Errorf("%+v", base)
	}
	if err := p.Changed(Author{}, "unknown", nil, text("")); !errors.Is(err, ErrUnknown) {
		t.Errorf("a change of a file without what it was before: %v", err)
	}
}

func TestTheSameChangeCountsOnce(t *testing.T) {
	t.Parallel()
	var events []Event
	p := newProject(t)
	p.opts.OnEvent = func(e Event) { events = append(events, e) }
	base := text("a\n")
	guess := Author{Session: "s", Source: "disk", Inferred: true}
	exact := Author{Session: "s", Source: "write"}
	call := Author{Session: "s", Source: "tool", ToolCall: "1"}
	for _, a := range []Author{guess, {Session: "t", Inferred: true, ToolCall: "2"}, exact, call, guess, exact, {Session: "t", ToolCall: "3"}} {
		p.ok(p.Changed(a, "a", &base, text("b\n")))
	}
	edited := slices.DeleteFunc(slices.Clone(events), func(e Event) bool { return e.Kind != Edited })
	if len(edited) != 1 || edited[0].Before != base || edited[0].After != text("b\n") {
		t.Errorf("events %+v", events)
	}
	hunks := p.Hunks("a")
	if len(hunks) != 1 || len(hunks[0].Authors) != 1 {
		t.Fatalf("%+v", hunks)
	}
	got := hunks[0].Authors[0]
	if got.ToolCall != "1" || got.Session != "s" || got.Inferred {
		t.Errorf("the author is %+v", got)
	}
}

func TestRejectingOneSessionLeavesTheOther(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.disk["a"] = text("1\n2\n3\n")
	p.agent("s", "a", text("1\ns\n3\n"))
	p.user("a", text("u\n1\ns\n3\n"))
	p.agent("t", "a", text("u\n1\ns\nt\n3\nt\n"))
	p.agent("s", "a", text("u\n1\nt\n3\nt\nS\n")) // takes its own line back
	p.apply(p.Reject(Selection{Session: "s"}, false))
	if want := text("u\n1\n2\nt\n3\nt\n"); p.disk["a"] != want {
		t.Errorf("%+v, not %+v", p.disk["a"], want)
	}
	if got := p.summary("a"); got != "text t -+t/; text t -+t/" {
		t.Error(got)
	}
	if f := p.Files(); len(f) != 1 || !slices.Equal(f[0].Sessions, []string{"t"}) || f[0].Added != 2 {
		t.Errorf("%+v", f)
	}
}

func TestRejectingADeletionBringsTheOtherSessionsLineBack(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.disk["a"] = text("1\n")
	p.agent("s", "a", text("1\nx\n"))
	p.agent("t", "a", text("1\n"))
	p.apply(p.Reject(Selection{Hunk: p.Hunks("a")[0].ID}, false))
	if got := p.summary("a"); got != "text s -+x/" || p.disk["a"] != text("1\nx\n") {
		t.Errorf("%q, %+v", got, p.disk["a"])
	}
}

func TestRejectingAsksFirstWhereTheUserWrote(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.disk["a"] = text("1\n2\n3\n")
	p.agent("s", "a", text("1\nx\ny\n3\n"))
	p.user("a", text("1\nx\nu\ny\n3\n"))
	_, err := p.Reject(Selection{}, false)
	var touched *TouchedError
	if !errors.As(err, &touched) || touched.Path != "a" || !slices.Equal(touched.Lines, []int{2}) {
		t.Fatalf("%v", err)
	}
	p.apply(p.Reject(Selection{}, true))
	if want := text("1\n2\nu\n3\n"); p.disk["a"] != want {
		t.Errorf("%+v, not %+v", p.disk["a"], want)
	}
	p.disk["b"] = text("\x00b")
	p.agent("s", "b", text("x\ny\n"))
	p.user("b", text("x\nu\ny\n"))
	var mixed *MixedError
	if _, err := p.Reject(Selection{Path: "b"}, true); !errors.As(err, &mixed) {
		t.Errorf("rejecting would put binary and text together: %v", err)
	}
}

func TestAFailedWriteLeavesTheHunkPending(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.agent("s", "a", text("a\n"))
	p.agent("s", "b", text("b\n"))
	plan, err := p.Reject(Selection{}, false)
	p.ok(err)
	full := errors.New("no space left on device")
	err = plan.Apply(func(c Change) error {
		if c.Path == "a" {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || p.summary("a") == "" || p.summary("b") != "" {
		t.Errorf("%v: a has %q, b has %q", err, p.summary("a"), p.summary("b"))
	}
	plan, err = p.Reject(Selection{}, false)
	p.ok(err)
	err = plan.Apply(func(c Change) error { return p.Wrote("a", text("a\nu\n"), false) })
	if !errors.Is(err, ErrStale) || p.summary("a") != "text s -+a/" {
		t.Errorf("the user typed meanwhile: %v, %q", err, p.summary("a"))
	}
	if err := plan.Apply(func(Change) error { t.Error("a stale plan writes"); return nil }); !errors.Is(err, ErrStale) {
		t.Error(err)
	}
}

func TestAnErrorOfTheStoreLosesNothing(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	m := p.store.(*memory)
	p.agent("s", "a", text("a\n"))
	m.fail = errors.New("no space left on device")
	if err := p.Wrote("a", text("a\nu\n"), false); !errors.Is(err, m.fail) {
		t.Error(err)
	}
	none := State{}
	if err := p.Changed(Author{Session: "s"}, "b", &none, text("b\n")); !errors.Is(err, m.fail) {
		t.Error(err)
	}
	if _, err := p.Accept(Selection{Path: "a"}); !errors.Is(err, m.fail) {
		t.Error(err)
	}
	if err := p.Compact(); !errors.Is(err, m.fail) {
		t.Error(err)
	}
	if _, err := p.Checkpoint(Checkpoint{}); !errors.Is(err, m.fail) || len(p.Checkpoints()) != 0 {
		t.Error(err)
	}
	for h := range m.blobs {
		if !slices.Contains(slices.Collect(p.Blobs()), h) {
			t.Errorf("the store may prune %v, which the journal names", h)
		}
	}
	old, err := Open(m, Options{})
	p.ok(err)
	if n := len(old.Hunks("a")); n != 1 {
		t.Errorf("what was stored has %d hunks", n)
	}
	m.fail = nil
	p.ok(p.Flush())
	p.open()
	if p.summary("a") != "" || p.summary("b") != "text s -+b/" {
		t.Errorf("a has %q, b has %q", p.summary("a"), p.summary("b"))
	}
}

func TestAChangeThatWasIntendedIsTheAgents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		disk State
		want string
	}{
		"written":        {text("a\nb\n"), "text s -+b/"},
		"not written":    {text("a\n"), ""},
		"something else": {text("a\nu\n"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			p.ok(p.Track("a", text("a\n")))
			p.ok(p.Intend(Author{Session: "s"}, "a", text("a\nb\n")))
			p.open() // the program was killed
			p.ok(p.Synced("a", c.disk, time.Now()))
			if got := p.summary("a"); got != c.want {
				t.Errorf("%q, not %q", got, c.want)
			}
			p.open()
			p.ok(p.Synced("a", text("a\nb\n"), time.Now()))
			if got := p.summary("a"); got != c.want {
				t.Errorf("an intent counts twice: %q, not %q", got, c.want)
			}
		})
	}
	// A rejection that was written but not recorded.
	p := newProject(t)
	p.disk["a"] = text("a\n")
	p.agent("s", "a", text("b\nc\n"))
	p.open()
	p.ok(p.Synced("a", text("a\n"), time.Now()))
	if base, now, _ := p.Known("a"); p.summary("a") != "" || base != text("a\n") || now != base {
		t.Errorf("%q, %+v", p.summary("a"), base)
	}
}

func TestEditsInABufferAreTheUsers(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.disk["a"] = text("1\n2\n3\n")
	p.agent("s", "a", text("1\nx\n3\n"))
	p.ok(p.Edited("a", Edit{0, 0, []string{"u\n"}}, false))
	p.ok(p.Edited("a", Edit{4, 4, []string{"v\n"}}, false))
	p.ok(p.Edited("a", Edit{1, 2, nil}, false))
	base, now, _ := p.Known("a")
	if base != text("u\n2\n3\nv\n") || now != text("u\nx\n3\nv\n") {
		t.Errorf("%+v, %+v", base, now)
	}
	for _, e := range []Edit{{-1, 0, nil}, {0, 5, nil}, {2, 1, nil}} {
		if err := p.Edited("a", e, false); err == nil {
			t.Errorf("%v is accepted", e)
		}
	}
	p.disk["b"] = text("\x00")
	p.agent("s", "b", text("\x00\x00"))
	if err := p.Edited("b", Edit{0, 1, nil}, false); !errors.Is(err, ErrOpaque) {
		t.Error(err)
	}
	edited := p.Review
	p.open()
	if base, _, _ := p.Known("a"); base != text("1\n2\n3\n") {
		t.Errorf("an edit is stored before Flush: %+v", base)
	}
	p.ok(edited.Flush())
	n := len(p.store.(*memory).records)
	p.ok(edited.Flush())
	if p.open(); n != len(p.store.(*memory).records) {
		t.Error("Flush stores what is stored")
	}
	if base, _, _ := p.Known("a"); base != text("u\n2\n3\nv\n") {
		t.Errorf("an edit is not stored by Flush: %+v", base)
	}
}

func TestAStateHasOnlyWhatItsKindHas(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	link := State{Kind: Link, Target: "b"}
	p.ok(p.Track("a", State{Text: "x", Mode: 0o644}))
	p.ok(p.Changed(Author{Session: "s"}, "a", nil, State{Kind: Link, Target: "b", Mode: 0o777, Text: "x"}))
	if base, now, _ := p.Known("a"); base != (State{}) || now != link {
		t.Errorf("%+v, %+v", base, now)
	}
	p.ok(p.Changed(Author{Session: "s"}, "b", &State{}, State{Kind: Regular, Mode: fs.ModeSticky | 0o644}))
	if _, now, _ := p.Known("b"); now != text("") {
		t.Errorf("%+v", now)
	}
}

func TestARenameIsADeletionAndACreation(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.disk["a"] = text("a\n")
	p.agent("s", "a", State{})
	p.agent("s", "b", text("a\n"))
	p.ok(p.Renamed("a", "b"))
	p.open()
	files := p.Files()
	if len(files) != 2 || files[0].To != "b" || files[1].From != "a" || files[0].Current != Absent || files[1].Base != Absent {
		t.Errorf("%+v", files)
	}
	if err := p.Renamed("a", "c"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

// A move is decided as one thing, by either name and by any of its hunks.
func TestAMoveIsDecidedAsOne(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"from", "to", "hunk of from", "hunk of to"} {
		for _, reject := range []bool{false, true} {
			p := newProject(t)
			p.disk["b"] = text("a\n")
			p.agent("s", "b", State{})
			p.agent("s", "a", text("a\nmore\n"))
			p.agent("s", "c", text("c\n"))
			p.ok(p.Renamed("b", "a"))
			p.open()
			s := map[string]Selection{
				"from": {Path: "b"}, "to": {Path: "a"},
				"hunk of from": {Hunk: p.Hunks("b")[0].ID}, "hunk of to": {Hunk: p.Hunks("a")[0].ID, Path: "a"},
			}[by]
			if !reject {
				p.accept(s)
			} else {
				plan, err := p.Reject(s, false)
				p.ok(err)
				if len(plan.Changes) != 2 || plan.Changes[0].Path != "b" || plan.Changes[1].After.Kind != Absent {
					t.Errorf("by the %s: %+v", by, plan.Changes) // what comes back is there first
				}
				p.ok(plan.Apply(func(c Change) error { p.disk[c.Path] = c.After; return nil }))
				if p.disk["b"] != text("a\n") || p.disk["a"] != (State{}) {
					t.Errorf("by the %s: %+v", by, p.disk)
				}
			}
			if files := p.Files(); len(files) != 1 || files[0].Path != "c" {
				t.Errorf("by the %s, reject %v: %+v", by, reject, files)
			}
		}
	}
}

func TestTheOnlyCopyOfAMovedFileIsNotRemoved(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.disk["b"] = text("a\n")
	p.agent("s", "b", State{})
	p.agent("s", "a", text("a\n"))
	p.ok(p.Renamed("b", "a"))
	plan, err := p.Reject(Selection{}, false)
	p.ok(err)
	full := errors.New("the disk is full")
	err = plan.Apply(func(c Change) error {
		if c.After.Kind == Absent {
			t.Errorf("%s is removed", c.Path)
		}
		return full
	})
	if !errors.Is(err, full) || !errors.Is(err, ErrOnlyCopy) {
		t.Error(err)
	}
	if files := p.Files(); len(files) != 2 {
		t.Errorf("%+v", files)
	}
}

func TestBlameNamesTheAuthorOfALine(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.disk["a"] = text("1\n")
	p.agent("s", "a", text("1\ns\ns2\n"))
	p.accept(Selection{})
	p.user("a", text("1\ns\nu\ns2\n"))
	p.agent("t", "a", text("1\ns\nu\ns2\nt\n"))
	p.open()
	var got []string
	for _, b := range p.Blame("a") {
		got = append(got, fmt.Sprintf("%d %d %s %v", b.Start, b.End, b.Author.Session, b.Pending))
	}
	if want := []string{"1 2 s false", "3 4 s false", "4 5 t true"}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}

func TestFilesOfATurn(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.StartTurn("s", "1")
	p.agent("s", "b", text("b\n"))
	p.agent("s", "a", text("a\n"))
	p.agent("t", "c", text("c\n"))
	if got := p.TurnFiles("s"); !slices.Equal(got, []string{"a", "b"}) {
		t.Error(got)
	}
	p.StartTurn("s", "2")
	if got := p.TurnFiles("s"); len(got) != 0 {
		t.Error(got)
	}
}

// tree returns a snapshot of the disk.
func (p *project) tree() *Snapshot {
	p.t.Helper()
	snapshot := new(tree.Snapshot)
	for _, path := range slices.Sorted(maps.Keys(p.disk)) {
		switch s := p.disk[path]; s.Kind {
		case Link:
			snapshot.Entries = append(snapshot.Entries, tree.Entry{Path: path, Mode: fs.ModeSymlink, Link: s.Target})
		case Regular:
			h, err := p.store.Put([]byte(s.Text))
			p.ok(err)
			snapshot.Entries = append(snapshot.Entries, tree.Entry{Path: path, Mode: s.Mode, Size: int64(len(s.Text)), Hash: h, Kept: true})
		}
	}
	return snapshot
}

func TestACheckpointIsRestored(t *testing.T) {
	t.Parallel()
	// Session s works for two turns, the user and session t in between.
	start := func(t *testing.T) (*project, Checkpoint, *Snapshot) {
		p := newProject(t)
		p.disk["a"], p.disk["gone"], p.disk["other"] = text("1\n2\n3\n4\n"), State{Kind: Regular, Text: "g\n", Mode: 0o755}, text("o\n")
		turn := func(n, path string, to State) {
			before := p.disk[path]
			p.disk[path] = to
			p.ok(p.Changed(Author{Session: "s", Turn: n}, path, &before, to))
		}
		turn("1", "a", text("1\nx\n2\n3\n4\n"))
		then := p.tree()
		c, err := p.Checkpoint(Checkpoint{Name: "second prompt", Session: "s", Turn: "2"})
		p.ok(err)
		turn("2", "a", text("1\n3\ny\n4\n")) // takes x of turn 1 back too
		turn("2", "gone", State{})
		turn("2", "new", text("n\n"))
		turn("2", "mine", text("m\n"))
		p.accept(Selection{Path: "a"})
		p.user("a", text("u\n1\n3\ny\n4\n"))
		p.user("mine", text("m\nu\n"))
		p.agent("t", "a", text("u\n1\n3\ny\n4\nt\n"))
		p.user("other", text("o\nu\n")) // not under review
		p.open()
		return p, c, then
	}
	t.Run("without what the user did since", func(t *testing.T) {
		p, c, _ := start(t)
		plan, err := p.Restore(c.ID, RestoreOptions{Session: "s", Tree: store.HashOf(nil)})
		p.ok(err)
		before := maps.Clone(p.disk)
		if len(p.Checkpoints()) != 1 || !maps.Equal(before, p.disk) {
			t.Error("a plan has done something")
		}
		p.apply(plan, err)
		want := map[string]State{
			"a": text("u\n1\nx\n2\n3\n4\nt\n"), "gone": {Kind: Regular, Text: "g\n", Mode: 0o755}, "new": {}, "mine": text("u\n"), "other": text("o\nu\n"),
		}
		if !maps.Equal(p.disk, want) {
			t.Errorf("%+v, not %+v", p.disk, want)
		}
		points := p.Checkpoints()
		if len(points) != 2 || points[1].Tree != store.HashOf(nil) {
			t.Fatalf("%+v", points)
		}
		p.apply(p.Undo(plan.Decision))
		if !maps.Equal(p.disk, before) {
			t.Errorf("undone: %+v, not %+v", p.disk, before)
		}
	})
	t.Run("exactly", func(t *testing.T) {
		p, c, then := start(t)
		before, now := maps.Clone(p.disk), p.tree()
		p.apply(p.Restore(c.ID, RestoreOptions{Then: then, Now: now}))
		want := map[string]State{
			"a": text("1\nx\n2\n3\n4\n"), "gone": {Kind: Regular, Text: "g\n", Mode: 0o755}, "new": {}, "mine": {}, "other": text("o\n"),
		}
		if !maps.Equal(p.disk, want) {
			t.Errorf("%+v, not %+v", p.disk, want)
		}
		last := p.Checkpoints()[1]
		p.apply(p.Restore(last.ID, RestoreOptions{Then: now, Now: p.tree()}))
		if !maps.Equal(p.disk, before) {
			t.Errorf("%+v, not %+v", p.disk, before)
		}
	})
	t.Run("exactly, but for what snapshots leave out", func(t *testing.T) {
		p, c, then := start(t)
		now := p.tree()
		p.agent("s", "ignored", text("i\n"))
		p.agent("s", "/elsewhere/file", text("e\n"))
		p.agent("s", "build/out", text("b\n"))
		now.Entries = slices.Insert(now.Entries, 1, tree.Entry{Path: "build/out", Hash: store.HashOf(nil)})
		then.Left = []tree.Left{{Path: "build", Reason: tree.Ignored}}
		p.apply(p.Restore(c.ID, RestoreOptions{Then: then, Now: now}))
		for _, path := range []string{"ignored", "/elsewhere/file", "build/out"} {
			if p.disk[path].Kind == Absent {
				t.Errorf("%s is gone", path)
			}
		}
		p, c, then = start(t)
		then.Entries[2].Hash = store.HashOf([]byte("too large for the store"))
		if _, err := p.Restore(c.ID, RestoreOptions{Then: then, Now: p.tree()}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a content that is not kept: %v", err)
		}
	})
	t.Run("some files", func(t *testing.T) {
		p, c, _ := start(t)
		p.apply(p.Restore(c.ID, RestoreOptions{Paths: []string{"new"}}))
		if p.disk["new"] != (State{}) || p.disk["gone"] != (State{}) {
			t.Errorf("%+v", p.disk)
		}
	})
	t.Run("as far as it is remembered", func(t *testing.T) {
		p := newProject(t)
		p.opts.Remember = 100
		p.disk["a"] = text("1\n")
		_, err := p.Checkpoint(Checkpoint{})
		p.ok(err)
		restore := func() Change {
			plan, err := p.Restore("1", RestoreOptions{})
			p.ok(err)
			return plan.Changes[0]
		}
		p.agent("s", "a", text("2\n"))
		p.accept(Selection{})
		if c := restore(); c.Incomplete || c.After != text("1\n") {
			t.Errorf("%+v", c)
		}
		p.agent("s", "a", text(strings.Repeat("3\n", 60)))
		p.accept(Selection{})
		p.agent("s", "a", text("4\n"))
		p.accept(Selection{})
		p.open()
		if c := restore(); !c.Incomplete || c.After != text("") {
			t.Errorf("%+v", c)
		}
	})
	t.Run("not if it is forgotten", func(t *testing.T) {
		p, c, _ := start(t)
		p.ok(p.Forget(c.ID))
		p.open()
		if _, err := p.Restore(c.ID, RestoreOptions{}); !errors.Is(err, ErrNoCheckpoint) || len(p.Checkpoints()) != 0 {
			t.Error(err)
		}
	})
}

func TestManyCheckpointsAreKept(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	for i := range 20 {
		_, err := p.Checkpoint(Checkpoint{Name: fmt.Sprint(i)})
		p.ok(err)
	}
	p.open()
	ids := make(map[string]bool)
	for _, c := range p.Checkpoints() {
		ids[c.ID] = true
	}
	if len(ids) != 20 {
		t.Errorf("%d checkpoints", len(ids))
	}
}

func TestCompactingKeepsEverythingThatIsPending(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.disk["a"], p.disk["b"] = text("a\n"), text("b\n")
	p.agent("s", "a", text("a\nx\n"))
	for i := range 50 {
		p.agent("s", "b", text(fmt.Sprint(i)))
	}
	p.accept(Selection{Path: "b"})
	_, err := p.Checkpoint(Checkpoint{Name: "c"})
	p.ok(err)
	p.files["a"].changed = time.Now().Add(-15 * 24 * time.Hour)
	p.files["b"].changed = p.files["a"].changed
	hunks := p.Hunks("a")
	p.ok(p.Compact())
	if n := len(p.store.(*memory).records); n != 3 {
		t.Errorf("%d records", n)
	}
	p.open()
	if got := p.Hunks("a"); !reflect.DeepEqual(strip(got), strip(hunks)) {
		t.Errorf("%+v, not %+v", got, hunks)
	}
	if _, _, known := p.Known("b"); known || len(p.Checkpoints()) != 1 {
		t.Error("a file that was decided long ago is still known")
	}
	p.agent("s", "a", text("a\nx\ny\n"))
	p.agent("t", "a", text("a\nx\ny\nz\n"))
	if got := p.Hunks("a"); got[1].ID == hunks[0].ID || len(got[0].Authors) != 2 {
		t.Errorf("numbers are given twice: %+v", got)
	}
}

// strip removes what a clock says in another way after it was stored.
func strip(hunks []Hunk) []Hunk {
	hunks = slices.Clone(hunks)
	for i := range hunks {
		hunks[i].Authors = slices.Clone(hunks[i].Authors)
		for j := range hunks[i].Authors {
			hunks[i].Authors[j].At = time.Time{}
		}
	}
	return hunks
}

func TestWhatCannotBeReadIsToldAndLetGo(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.agent("s", "a", text("a\n"))
	p.agent("s", "b", text("b\n"))
	m := p.store.(*memory)
	delete(m.blobs, p.files["a"].blob)
	m.records = append(m.records, []byte("{"))
	r, err := Open(m, Options{})
	p.ok(err)
	if len(r.Lost()) != 2 || len(r.Hunks("b")) != 1 || len(r.Hunks("a")) != 0 {
		t.Errorf("%v", r.Lost())
	}
}

func TestAReviewIsStoredOnTheDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() (*store.Store, *Review) {
		s, err := store.Open(dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Open(s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s, r
	}
	s, r := open()
	base := text("a\n")
	if err := r.Changed(Author{Session: "s"}, "a", &base, text("b\n")); err != nil {
		t.Fatal(err)
	}
	if err := r.Compact(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prune(r.Blobs(), 0); err != nil {
		t.Fatal(err)
	}
	want := r.Hunks("a")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s, r = open()
		if got := r.Hunks("a"); !reflect.DeepEqual(strip(got), strip(want)) {
			t.Errorf("%+v, not %+v", got, want)
		}
		if _, err := s.Prune(r.Blobs(), 0); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEventsAreToldInOrder(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var changes []ChangeID
	var r *Review
	r, err := Open(newMemory(), Options{OnEvent: func(e Event) {
		if e.Kind == Edited {
			mu.Lock()
			changes = append(changes, e.Change)
			mu.Unlock()
		}
		r.Hunks(e.Path) // a listener may call the review
	}})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			path, none := fmt.Sprint(worker), State{}
			for i := range 50 {
				if err := r.Changed(Author{Session: path}, path, &none, text(fmt.Sprint(i))); err != nil {
					t.Error(err)
				}
				r.Files()
				if i%10 == 9 {
					if _, err := r.Accept(Selection{Path: path}); err != nil {
						t.Error(err)
					}
				}
				if err := r.Edited(path, Edit{0, 0, []string{"u\n"}}, false); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := r.Flush(); err != nil { // reports the events that are left
		t.Fatal(err)
	}
	if len(changes) != 200 || !slices.IsSorted(changes) {
		t.Errorf("%d events: %v", len(changes), changes)
	}
}

func TestWhatComesBackIsThereBeforeAnythingGoesIfItsPlaceIsFree(t *testing.T) {
	t.Parallel()
	back, gone, other := State{Kind: Regular}, State{}, State{Kind: Other}
	for _, c := range []struct {
		changes []Change
		want    string
	}{
		{[]Change{{Path: "new", Before: back, After: gone}, {Path: "old", Before: gone, After: back}}, "old new"},
		{[]Change{{Path: "a", Before: gone, After: back}, {Path: "a/in", Before: back, After: gone}}, "a/in a"},
		{[]Change{{Path: "a", Before: other, After: back}, {Path: "a/in", Before: back, After: gone}}, "a/in a"},
		{[]Change{{Path: "a", Before: gone, After: back}, {Path: "a/b/in", Before: back, After: gone}, {Path: "a/b/in2", Before: back, After: gone}}, "a/b/in2 a/b/in a"},
		{[]Change{{Path: "d", Before: back, After: gone}, {Path: "d/e/x", Before: gone, After: back}}, "d d/e/x"},
		{[]Change{{Path: "ab", Before: gone, After: back}, {Path: "a/in", Before: back, After: gone}, {Path: "a", Before: gone, After: back}}, "ab a/in a"},
	} {
		p := &Plan{Changes: slices.Clone(c.changes)}
		p.order()
		var got []string
		for _, c := range p.Changes {
			got = append(got, c.Path)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
}
