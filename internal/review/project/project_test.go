package project

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/review/tree"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// rig is a folder under review.
type rig struct {
	*Project
	t           *testing.T
	state, root string
	opts        Options
	deafen      func() // ends what tell began

	mu     sync.Mutex
	edits  []review.Event // of the kind Edited
	looks  []string       // names of held files
	author []review.Author
}

func newRig(t *testing.T, files ...string) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, state: filepath.Join(dir, "state"), root: filepath.Join(dir, "project")}
	r.write(files...)
	if err := os.MkdirAll(r.root, 0o755); err != nil {
		t.Fatal(err)
	}
	r.opts = Options{home: filepath.Join(dir, "home")}
	r.open()
	return r
}

// open begins, and waits until it is known what the files are.
func (r *rig) open() {
	r.t.Helper()
	r.begin()
	r.wait()
}

func (r *rig) begin() {
	r.t.Helper()
	opts := r.opts
	opts.OnEvent = func(e review.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if e.Kind == review.Edited {
			r.edits = append(r.edits, e)
		}
	}
	opts.OnLook = func(author review.Author, name string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.looks, r.author = append(r.looks, name), append(r.author, author)
	}
	p, err := Open(r.state, r.root, opts)
	if err != nil {
		r.t.Fatal(err)
	}
	r.Project = p
	r.t.Cleanup(func() { p.Close() })
}

// reopen ends the program and begins it again.
func (r *rig) reopen() {
	r.t.Helper()
	if err := r.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.open()
}

func (r *rig) wait() {
	r.t.Helper()
	ctx := patience.Context(r.t, patience.Soon)
	if err := r.Wait(ctx); err != nil {
		r.t.Fatal(err)
	}
}

// until waits for something that is true of the project.
func (r *rig) until(what string, is func() bool) {
	r.t.Helper()
	for late := time.Now().Add(patience.Soon); ; time.Sleep(time.Millisecond) {
		r.Project.mu.Lock()
		ok := is()
		r.Project.mu.Unlock()
		if ok {
			return
		} else if time.Now().After(late) {
			r.t.Fatalf("not yet: %s", what)
		}
	}
}

func (r *rig) path(name string) string { return filepath.Join(r.root, name) }

// write writes files: names and texts in turn.
func (r *rig) write(files ...string) {
	r.t.Helper()
	for i := 0; i < len(files); i += 2 {
		path := files[i]
		if !filepath.IsAbs(path) {
			path = r.path(path)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) remove(name string) { r.t.Helper(); r.must(os.Remove(r.path(name))) }

// turn begins a turn of a session and returns its author.
func (r *rig) turn(session string) review.Author {
	r.t.Helper()
	ctx := patience.Context(r.t, patience.Soon)
	turn := fmt.Sprintf("turn %d", time.Now().UnixNano())
	r.must(r.Prompt(ctx, session, turn, "do it"))
	return review.Author{Session: session, Turn: turn}
}

func tool(a review.Author, call string) review.Author {
	a.Source, a.ToolCall = "tool", call
	return a
}

func (r *rig) ends(a review.Author) { r.t.Helper(); r.TurnEnded(a); r.wait() }

// files looks at files by a tool call.
func (r *rig) look(a review.Author, names ...string) {
	r.t.Helper()
	for _, name := range names {
		r.Look(a, Told{Path: r.path(name)})
	}
	r.wait()
}

// is compares what is pending: each file as its name, the sessions, how exact the
// newest author of the first hunk is, and the lines.
func (r *rig) is(want ...string) {
	r.t.Helper()
	var got []string
	for _, f := range r.Review().Files() {
		h := r.Review().Hunks(f.Path)
		a := h[0].Authors[len(h[0].Authors)-1]
		how := a.Source
		if a.Inferred {
			how += "?"
		}
		var lines string
		for _, h := range h {
			switch h.Kind {
			case review.Text:
				lines += " " + strings.TrimSpace(strings.Join(h.Old, "")) + ">" + strings.TrimSpace(strings.Join(h.New, ""))
			default:
				lines += " " + string(h.Kind)
			}
		}
		got = append(got, fmt.Sprintf("%s %s %s%s", f.Path, strings.Join(f.Sessions, "+"), how, lines))
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("under review:\n %s\nmust be:\n %s", strings.Join(got, "\n "), strings.Join(want, "\n "))
	}
}

// told compares the changes of agents that OnEvent got.
func (r *rig) told(want ...string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var got []string
	for _, e := range r.edits {
		got = append(got, e.Path+" "+e.Author.Source)
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("told %q, must be %q", got, want)
	}
}

func TestWhatChangesInATurnIsTheSessions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before []string
		change func(r *rig)
		want   []string
	}{
		"text":            {[]string{"f", "a\nb\n"}, func(r *rig) { r.write("f", "a\nB\n") }, []string{"f s disk? b>B"}},
		"created":         {nil, func(r *rig) { r.write("d/f", "a\n") }, []string{"d/f s disk? >a"}},
		"created, empty":  {nil, func(r *rig) { r.write("f", "") }, []string{"f s disk? created"}},
		"deleted":         {[]string{"f", "a\n"}, func(r *rig) { r.remove("f") }, []string{"f s disk? a>"}},
		"deleted, empty":  {[]string{"f", ""}, func(r *rig) { r.remove("f") }, []string{"f s disk? deleted"}},
		"emptied":         {[]string{"f", "a\n"}, func(r *rig) { r.write("f", "") }, []string{"f s disk? a>"}},
		"line ends":       {[]string{"f", "a\r\nb\r\n"}, func(r *rig) { r.write("f", "a\r\nB\r\n") }, []string{"f s disk? b>B"}},
		"only line ends":  {[]string{"f", "a\nb"}, func(r *rig) { r.write("f", "a\r\nb") }, []string{"f s disk? a>a"}},
		"binary":          {[]string{"f", "a\x00\nb\n"}, func(r *rig) { r.write("f", "a\x00\nc\n") }, []string{"f s disk? a\x00\nb>a\x00\nc"}},
		"mode":            {[]string{"f", "a\n"}, func(r *rig) { r.must(os.Chmod(r.path("f"), 0o755)) }, []string{"f s disk? mode"}},
		"link":            {nil, func(r *rig) { r.must(os.Symlink("/etc/passwd", r.path("l"))) }, []string{"l s disk? link"}},
		"file to link":    {[]string{"f", "a\n"}, func(r *rig) { r.remove("f"); r.must(os.Symlink("g", r.path("f"))) }, []string{"f s disk? link"}},
		"strange names":   {nil, func(r *rig) { r.write("a b$'\"\n\xff", "a\n") }, []string{"a b$'\"\n\xff s disk? >a"}},
		"made and gone":   {nil, func(r *rig) { r.write("f", "a\n"); r.remove("f") }, nil},
		"there and back":  {[]string{"f", "a\n"}, func(r *rig) { r.write("f", "b\n"); r.write("f", "a\n") }, nil},
		"what git has":    {[]string{".git/config", "a\n"}, func(r *rig) { r.write(".git/config", "b\n") }, nil},
		"ignored":         {[]string{".git/HEAD", "ref: refs/heads/main\n", ".gitignore", "*.log\n", "f.log", "a\n"}, func(r *rig) { r.write("f.log", "b\n") }, nil},
		"a folder leaves": {[]string{"d/a", "a\n", "d/b", "b\n"}, func(r *rig) { r.must(os.RemoveAll(r.path("d"))) }, []string{"d/a s disk? a>", "d/b s disk? b>"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.before...)
			a := r.turn("s")
			c.change(r)
			r.ends(a)
			r.is(c.want...)
			r.ends(a)
			r.reopen()
			r.is(c.want...)
		})
	}
}

func TestWhatChangesBetweenTurnsIsTheUsers(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\nb\nc\n", "g", "a\n")
	a := r.turn("s")
	r.write("f", "A\nb\nc\n")
	r.ends(a)
	r.write("f", "A\nb\nmine\n", "g", "mine\n", "new", "mine\n")
	a = r.turn("s")
	r.is("f s disk? a>A")
	r.write("g", "theirs\n")
	r.ends(a)
	r.is("f s disk? a>A", "g s disk? mine>theirs")
	if base, _, _ := r.Review().Known("g"); base.Text != "mine\n" {
		t.Errorf("the base of g is %q", base.Text)
	}
}

func TestTheUsersSaveInATurnIsTheUsers(t *testing.T) {
	t.Parallel()
	for _, under := range []bool{false, true} {
		t.Run(fmt.Sprintf("under review %v", under), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "f", "a\nb\nc\n")
			a := r.turn("s")
			want := []string(nil)
			text := "a\nb\nc\n"
			if under {
				text = "A\nb\nc\n"
				r.write("f", text)
				r.look(tool(a, "c"), "f")
				want = []string{"f s tool a>A"}
			}
			r.write("f", text+"mine\n")
			r.UserWrote(r.path("f"))
			r.ends(a)
			r.is(want...)
			a = r.turn("s")
			r.write("f", text+"mine\nmore\n")
			r.UserWrote(r.path("f"))
			r.write("f", text+"mine\nmore\ntheirs\n")
			r.ends(a)
			if want == nil {
				want = []string{"f s disk? >theirs"}
			} else {
				want[0] += " >theirs"
			}
			r.is(want...)
		})
	}
}

// The scan sees the save, and only then the editor reports it.
func TestASaveThatIsToldLateIsTheUsers(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\n", "g", "a\n")
	var once sync.Once
	r.opts.Barrier = func(context.Context) { once.Do(func() { r.UserWrote(r.path("f")) }) }
	r.reopen()
	a := r.turn("s")
	r.write("f", "mine\n")
	r.ends(a)
	r.is()
	once = sync.Once{}
	a = r.turn("s")
	r.write("f", "mine, too\n", "g", "theirs\n")
	r.look(tool(a, "c"), "f", "g")
	r.is("g s tool a>theirs")
}

// An agent may do something to a file before the report of the user's save comes.
func TestWhatAnAgentDoesRightAfterASaveIsTheAgents(t *testing.T) {
	t.Parallel()
	const before, saved = "one\ntwo\n", "user\none\ntwo\n"
	for what, do := range map[string]func(r *rig){
		"nothing": func(*rig) {},
		"change":  func(r *rig) { r.write("f", "one\nagent\n") },
		"empty":   func(r *rig) { r.write("f", "") },
		"remove":  func(r *rig) { r.remove("f") },
		"link": func(r *rig) {
			r.remove("f")
			r.must(os.Symlink("other", r.path("f")))
		},
		"folder": func(r *rig) {
			r.remove("f")
			r.must(os.Mkdir(r.path("f"), 0o755))
		},
	} {
		for _, held := range []bool{false, true} {
			t.Run(fmt.Sprint(what, ", held ", held), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, "f", before)
				if held {
					r.must(r.Hold(r.path("f"), Text{Text: before}))
				}
				a := r.turn("s")
				r.write("f", saved)
				if do(r); held {
					r.must(r.Review().Edited("f", review.Edit{Lines: []string{"user\n"}}, false))
					r.UserSaved(r.path("f"), nil, nil)
				} else {
					r.UserSaved(r.path("f"), new(before), new(saved))
				}
				r.ends(a)
				r.Release(r.path("f"))
				r.wait()
				if base, _, known := r.Review().Known("f"); known && base.Text != saved {
					t.Errorf("the user's text is %q", base.Text)
				}
				if changed := len(r.Review().Files()) > 0; changed != (what != "nothing") {
					t.Errorf("under review: %v", r.Review().Files())
				}
			})
		}
	}
}

func TestOneChangeToldByThreeSourcesCountsOnce(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"write", "tool", "scan"}, {"write", "scan", "tool"}, {"scan", "tool", "tool"}, {"tool", "scan", "scan"}} {
		t.Run(strings.Join(order, ", "), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "f", "a\nb\n")
			a := r.turn("s")
			for i, how := range order {
				text := func() error { r.write("f", "a\nB\n"); return nil }
				if i == 0 && how != "write" {
					r.must(text())
				}
				switch how {
				case "write":
					w := a
					w.Source = "write"
					r.must(r.Write(w, r.path("f"), "a\nB\n", text))
				case "tool":
					r.look(tool(a, "c"), "f")
				case "scan":
					r.Scan(a)
					r.wait()
				}
			}
			r.ends(a)
			source := order[0]
			how := source
			if source == "scan" {
				source, how = "disk", "tool" // which is better known then
			}
			r.told("f " + source)
			r.is("f s " + how + " b>B")
		})
	}
}

// Naming a file is not enough to be called its author.
func TestAToolCallThatChangesNothingTakesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\nb\n")
	b := r.turn("b")
	r.write("f", "a\nB\n")
	r.ends(b)
	a := r.turn("a")
	r.look(tool(a, "c"), "f")
	r.is("f b disk? b>B")
}

func TestSessionsShareAFolder(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "1\n2\n3\n4\n5\n", "g", "1\n")
	a, b := r.turn("a"), r.turn("b")
	r.write("f", "A\n2\n3\n4\n5\n")
	r.look(tool(a, "1"), "f")
	r.write("f", "A\n2\n3\n4\nB\n")
	r.look(tool(b, "1"), "f")
	r.write("g", "g\n")
	r.ends(a) // whose it is, is inferred from who ended
	r.is("f a+b tool 1>A 5>B", "g a disk? 1>g")
	r.write("g", "h\n") // b still runs
	c := r.turn("a")
	r.ends(c)
	r.ends(b)
	if s := r.Review().Files()[1].Sessions; !slices.Contains(s, "b") {
		t.Errorf("g has changes of %q", s)
	}
}

// The user has never had it where it was first.
func TestAFileThatAnAgentMadeAndMovedIsANewOne(t *testing.T) {
	t.Parallel()
	for _, looked := range []bool{false, true} {
		r := newRig(t)
		a := r.turn("s")
		r.write("f", "one\n")
		r.look(tool(a, "c"), "f")
		r.must(os.Rename(r.path("f"), r.path("g")))
		if looked {
			r.look(tool(a, "d"), "f", "g")
		}
		r.ends(a)
		if files := r.Review().Files(); len(files) != 1 || files[0].Path != "g" || files[0].From != "" {
			t.Errorf("looked %v: %+v", looked, files)
		}
	}
}

func TestAMovedFileIsAMove(t *testing.T) {
	t.Parallel()
	const text = "one\ntwo\nthree\n"
	ways := map[string]func(r *rig, a review.Author){
		"scan": func(r *rig, _ review.Author) { r.must(os.Rename(r.path("f"), r.path("g"))) },
		"tool": func(r *rig, a review.Author) {
			r.must(os.Rename(r.path("f"), r.path("g")))
			r.look(tool(a, "c"), "f", "g")
		},
		"edits": func(r *rig, _ review.Author) {
			r.must(os.Rename(r.path("f"), r.path("g")))
			r.write("g", text+"four\n")
		},
		"looks": func(r *rig, a review.Author) {
			r.write("g", text)
			r.look(tool(a, "c"), "g")
			r.remove("f")
			r.look(tool(a, "d"), "f")
		},
		"twice": func(r *rig, a review.Author) {
			r.must(os.Rename(r.path("f"), r.path("h")))
			r.look(tool(a, "c"), "f", "h")
			r.must(os.Rename(r.path("h"), r.path("g")))
		},
		"linked": func(r *rig, _ review.Author) {
			r.must(os.Rename(r.path("f"), r.path("g")))
			r.must(os.Symlink("g", r.path("f")))
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "f", text, "other", "b\n")
			before := r.sees()
			a := r.turn("s")
			way(r, a)
			r.ends(a)
			files := r.Review().Files()
			if len(files) != 2 || files[0].To != "g" || files[1].From != "f" {
				t.Fatalf("%+v", files)
			}
			r.reopen()
			plan, err := r.Reject(review.Selection{Path: "g"}, false)
			r.must(err)
			r.must(r.Apply(plan, nil))
			if after := r.sees(); !maps.Equal(after, before) {
				t.Errorf("%q, was %q", after, before)
			}
			r.is()
		})
	}
	t.Run("back", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, "f", text)
		a := r.turn("s")
		r.must(os.Rename(r.path("f"), r.path("g")))
		r.look(tool(a, "c"), "f", "g")
		r.must(os.Rename(r.path("g"), r.path("f")))
		r.ends(a)
		r.is()
	})
}

func TestAFolderThatAToolCallNamesIsLookedThrough(t *testing.T) {
	t.Parallel()
	r := newRig(t, "d/a", "a\n", "d/e/b", "b\n", "f", "f\n")
	a := r.turn("s")
	r.must(os.RemoveAll(r.path("d")))
	r.write("f", "F\n")
	r.look(tool(a, "c"), "d")
	r.is("d/a s tool a>", "d/e/b s tool b>", "f s disk? f>F")
}

// Git ignores them, or they are outside of the folder.
func TestFilesThatNoSnapshotHasAreKnownBeforeTheyChange(t *testing.T) {
	t.Parallel()
	r := newRig(t, ".git/HEAD", "ref: refs/heads/main\n", ".gitignore", ".env\nout/\n", ".env", "a\n", "out/x", "a\n")
	outside := filepath.Join(filepath.Dir(r.root), "outside")
	r.write(outside, "a\n")
	paths := []string{r.path(".env"), r.path("out/x"), r.path("out/new"), outside}
	a := r.turn("s")
	r.Expect(paths...)
	r.write(".env", "b\n", "out/x", "b\n", "out/new", "b\n", outside, "b\n")
	for _, path := range paths {
		r.Look(tool(a, "c"), Told{Path: path})
	}
	r.wait()
	want := []string{".env s tool a>b", outside + " s tool a>b", "out/new s tool >b", "out/x s tool a>b"}
	slices.Sort(want)
	r.is(want...)
	r.write(".env", "b\nmine\n", outside, "b\nmine\n")
	a = r.turn("s")
	r.is(want...)
	r.write(outside, "b\nmine\ntheirs\n")
	r.ends(a)
	want[slices.Index(want, outside+" s tool a>b")] += " >theirs"
	r.is(want...)
	r.must(r.Close())
	r.write(".env", "b\nmine\nmore\n")
	r.open()
	r.is(want...)
}

// A tool call says what the file was. That is used only if it is the whole text
// and nothing else is known.
func TestATextThatAToolCallTellsCountsIfNothingElseIsKnown(t *testing.T) {
	t.Parallel()
	r := newRig(t, ".git/HEAD", "ref: refs/heads/main\n", ".gitignore", "*.x\n", "f", "real\n", "1.x", "was\n", "2.x", "was\n", "3.x", "was\n")
	old, now, part := "was\n", "is\n", "i"
	a := r.turn("s")
	r.write("1.x", "is\n", "2.x", "is\n", "3.x", "is\n", "f", "is\n")
	r.Look(tool(a, "c"), Told{Path: r.path("1.x"), Before: &old, After: &now}, Told{Path: r.path("2.x"), After: &now}, Told{Path: r.path("3.x"), Before: &old, After: &part}, Told{Path: r.path("f"), Before: &old, After: &now})
	r.wait()
	r.is("1.x s tool was>is", "2.x s tool >is", "f s tool real>is")
}

func TestAHomeFolderIsNotScanned(t *testing.T) {
	t.Parallel()
	for _, home := range []string{"", "below/user"} {
		r := newRig(t, "f", "a\n", "g", "a\n", "below/user/x", "")
		r.must(r.Close())
		r.opts.home = filepath.Join(r.root, home)
		r.open()
		a := r.turn("s")
		r.Expect(r.path("f"))
		r.write("f", "b\n", "g", "b\n")
		r.look(tool(a, "c"), "f", "g")
		r.ends(a)
		r.is("f s tool a>b")
		if c := r.Review().Checkpoints(); len(c) != 1 || !c[0].Tree.IsZero() {
			t.Errorf("checkpoints %+v", c)
		}
		r.write("f", "b\nmine\n")
		a = r.turn("s")
		r.write("f", "b\nmine\ntheirs\n")
		r.ends(a)
		r.is("f s tool a>b >theirs")
	}
}

func TestOneProgramHasAProject(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\n")
	_, err := Open(r.state, r.root+"/.", Options{})
	var locked *store.LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("the second gets %v", err)
	}
	r.reopen()
}

func TestAFolderThatIsNotThereIsNotReviewed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{filepath.Join(dir, "none"), file} {
		if _, err := Open(filepath.Join(dir, "state"), root, Options{}); err == nil {
			t.Errorf("%s is under review", root)
		}
	}
}

func TestAFileHasOneName(t *testing.T) {
	t.Parallel()
	r := newRig(t, "d/f", "a\n", "e/x", "")
	dir := filepath.Dir(r.root)
	r.must(os.Symlink(r.root, filepath.Join(dir, "alias")))
	r.must(os.Symlink("d", r.path("link")))
	r.must(os.Symlink("d/f", r.path("to-f")))
	for path, want := range map[string]string{
		r.path("d/f"):                       "d/f",
		"d/f":                               "d/f",
		r.path("d//./e/../f"):               "d/f",
		filepath.Join(dir, "alias/d/f"):     "d/f",
		r.path("link/f"):                    "d/f",
		r.path("to-f"):                      "d/f",
		r.path("link/new/deep"):             "d/new/deep",
		r.path("new"):                       "new",
		r.root:                              r.root,
		r.root + "x/f":                      r.root + "x/f",
		filepath.Join(r.root, "../alias/n"): "n",
	} {
		if got := r.Name(path); got != want {
			t.Errorf("%s is named %q, not %q", path, got, want)
		}
	}
	a := r.turn("s")
	r.write("d/f", "b\n")
	r.look(tool(a, "c"), "to-f")
	r.is("d/f s tool a>b")
}

// A link under the folder leads out of it.
func TestALookDoesNotFollowALinkOut(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\n")
	secret := filepath.Join(filepath.Dir(r.root), "secret")
	r.write(secret, "secret\n")
	a := r.turn("s")
	r.must(os.Symlink(secret, r.path("l")))
	r.Expect(r.path("l"))
	text := "secret\n"
	r.Look(tool(a, "c"), Told{Path: r.path("l"), After: &text})
	r.ends(a)
	r.is("l s tool link")
	if slices.Contains(r.Review().Paths(), secret) {
		t.Error("it is under review")
	}
}

func TestWhatAWriteFindsIsNotTheUsers(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "1\n2\n3\n4\n5\n")
	a := r.turn("s")
	r.write("f", "A\n2\n3\n4\n5\n") // by a command of the agent
	a.Source = "write"
	r.must(r.Write(a, r.path("f"), "", func() error { r.write("f", "A\n2\n3\n4\nB\n"); return nil }))
	r.is("f s disk? 1>A 5>B")
	r.ends(a)
	r.is("f s disk? 1>A 5>B")
	r.told("f disk", "f write")
}

func TestAWriteThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\n")
	a := r.turn("s")
	broken := errors.New("broken")
	if err := r.Write(a, r.path("f"), "b\n", func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	r.ends(a)
	r.is()
}

func TestAWriteThatWasNotRecordedIsTheAgents(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\n")
	r.must(os.Chmod(r.path("f"), 0o644))
	a := r.turn("s")
	a.Source = "write"
	r.must(r.Review().Track("f", review.State{Kind: review.Regular, Text: "a\n", Mode: 0o644}))
	r.must(r.Review().Intend(a, "f", review.State{Kind: review.Regular, Text: "b\n", Mode: 0o644}))
	r.write("f", "b\n") // and the program is killed
	r.reopen()
	r.is("f s write a>b")
}

func TestABufferComesBeforeTheDisk(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\nb\nc\n")
	r.must(r.Hold(r.path("f"), Text{Text: "a\nb\nc\nmine, not saved\n"}))
	a := r.turn("s")
	r.write("f", "A\nb\nc\n")
	r.look(tool(a, "c"), "f")
	r.is()
	if !slices.Equal(r.looks, []string{"f"}) || r.author[0].ToolCall != "c" {
		t.Fatalf("the editor is to look at %q, of %v", r.looks, r.author)
	}
	r.must(r.Changed(tool(a, "c"), r.path("f"), nil, "A\nb\nc\nmine, not saved\n"))
	r.is("f s tool a>A")
	r.must(r.Review().Edited("f", review.Edit{Start: 1, End: 2, Lines: []string{"mine\n"}}, false))
	r.write("f", "A\nmine\nc\nmine, not saved\n") // :w
	r.UserWrote(r.path("f"))
	r.ends(a)
	r.is("f s tool a>A")
	if len(r.looks) != 1 {
		t.Errorf("the editor is to look at %q", r.looks)
	}
	r.told("f tool")
	r.Release(r.path("f"))
	r.wait()
	r.is("f s tool a>A")
}

func TestABufferThatIsGoneLeavesTheDisk(t *testing.T) {
	t.Parallel()
	for _, seen := range []bool{false, true} {
		r := newRig(t, "f", "a\nb\n")
		r.must(r.Hold(r.path("f"), Text{Text: "a\nb\nnot saved\n"}))
		want := []string(nil)
		if seen {
			a := r.turn("s")
			r.write("f", "A\nb\n")
			r.ends(a)
			want = []string{"f s disk? a>A"}
		}
		r.Release(r.path("f")) // without its edits
		r.wait()
		if seen { // what was not saved is gone, which the agent did not do
			if h := r.Review().Hunks("f"); len(h) == 0 || h[0].Old[0] != "a\n" {
				t.Errorf("%+v", h)
			}
			continue
		}
		r.is(want...)
		if _, now, _ := r.Review().Known("f"); now.Text != "a\nb\n" {
			t.Errorf("the review has %q", now.Text)
		}
	}
}

// The disk goes back and forth faster than the editor reads it.
func TestABufferThatWasReadWhileTheDiskWentOnIsTheUsersDoing(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\nb\n")
	a := r.turn("s")
	r.write("f", "A\nb\n")
	r.ends(a)
	r.must(r.Hold(r.path("f"), Text{Text: "A\nb\n"}))
	r.is("f s disk? a>A")
	r.must(r.Hold(r.path("f"), Text{Text: "a\nb\n", Reloaded: true})) // which the disk has no more
	r.is()
	r.must(r.Hold(r.path("f"), Text{Text: "A\nb\n", Reloaded: true}))
	r.is("f s disk? a>A")
}

// A program that begins while git has removed the file learns of the buffer later.
func TestABufferThatHasWhatWentAwayBringsItsHunksBack(t *testing.T) {
	t.Parallel()
	for _, meanwhile := range []string{"", "a\nb\n"} {
		r := newRig(t, "f", "a\nb\n")
		a := r.turn("s")
		r.write("f", "A\nb\n")
		r.ends(a)
		if r.remove("f"); meanwhile != "" {
			r.write("f", meanwhile)
		}
		r.reopen()
		r.wait()
		r.must(r.Hold(r.path("f"), Text{Text: "A\nb\n"}))
		r.is("f s disk? a>A")
		r.write("f", "A\nb\n")
		r.must(r.Hold(r.path("f"), Text{Text: "A\nb\n", Reloaded: true}))
		r.is("f s disk? a>A")
	}
}

// The buffer was read from the disk before anybody reported the change.
func TestABufferThatHasTheDisksTextIsNotTheUsersInATurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\nb\n")
	a := r.turn("s")
	r.write("f", "A\nb\n")
	r.look(tool(a, "c"), "f")
	r.write("f", "A\nB\n")
	r.must(r.Hold(r.path("f"), Text{Text: "A\nB\n"}))
	r.ends(a)
	r.is("f s disk? a\nb>A\nB")
}

func TestAPromptWaitsForItsCheckpointAndNotForever(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\n")
	a := r.turn("s")
	r.ends(a)
	points := r.Review().Checkpoints()
	if len(points) != 1 || points[0].Name != "do it" || points[0].Session != "s" || points[0].Turn != a.Turn || points[0].Tree.IsZero() {
		t.Errorf("checkpoints %+v", points)
	}
	release := make(chan struct{})
	r.Project.opts.Barrier = func(context.Context) { <-release }
	r.write("f", "b\n")
	r.Scan(a)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := r.Prompt(ctx, "s", "2", "again"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	close(release)
	r.wait()
	if n := len(r.Review().Checkpoints()); n != 2 {
		t.Errorf("%d checkpoints", n)
	}
}

func TestManyLooksAreFew(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\n")
	a := r.turn("s")
	release := make(chan struct{})
	r.Project.opts.Barrier = func(context.Context) { <-release }
	r.write("f", "b\n")
	for i := range 5000 {
		r.Look(tool(a, fmt.Sprint(i%1000)), Told{Path: r.path("f")})
		r.Look(tool(a, "same"), Told{Path: r.path(fmt.Sprint(i))})
		r.Look(tool(a, "same"), Told{Path: r.path(fmt.Sprint(i))})
	}
	r.Project.mu.Lock()
	n := len(r.jobs)
	r.Project.mu.Unlock()
	if n > maxJobs {
		t.Errorf("%d looks wait", n)
	}
	close(release)
	r.wait()
}

func TestOldCheckpointsGo(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\n")
	for range maxCheckpoints + 5 {
		_, err := r.Review().Checkpoint(review.Checkpoint{Name: "p"})
		r.must(err)
	}
	a := r.turn("s")
	r.write("f", "b\n")
	r.ends(a)
	r.must(r.Tidy())
	if n := len(r.Review().Checkpoints()); n > maxCheckpoints {
		t.Errorf("%d checkpoints", n)
	}
	r.reopen()
	r.is("f s disk? a>b")
	a = r.turn("s")
	r.write("f", "c\n")
	r.ends(a)
	r.is("f s disk? a>c")
}

// Writes, saves, looks and scans at once: nothing of the agent is the user's and
// the review has what the disk has.
func TestSourcesMayComeAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const files, rounds = 6, 30
	for i := range files {
		r.write(fmt.Sprint("f", i), "base\n")
	}
	a := r.turn("s")
	var group sync.WaitGroup
	for i := range files {
		group.Go(func() {
			name := fmt.Sprint("f", i)
			text := "base\n"
			for n := range rounds {
				text += fmt.Sprintf("line %d\n", n)
				switch n % 3 {
				case 0:
					w := a
					w.Source = "write"
					if err := r.Write(w, r.path(name), text, func() error { return replace(r.path(name), text) }); err != nil {
						t.Error(err)
					}
				case 1:
					if err := replace(r.path(name), text); err != nil {
						t.Error(err)
					}
					r.Look(tool(a, fmt.Sprint(n)), Told{Path: r.path(name)})
				case 2:
					if err := replace(r.path(name), text); err != nil {
						t.Error(err)
					}
					r.Scan(a)
				}
			}
		})
	}
	group.Wait()
	r.ends(a)
	for i := range files {
		base, now, _ := r.Review().Known(fmt.Sprint("f", i))
		disk, err := os.ReadFile(r.path(fmt.Sprint("f", i)))
		if err != nil || base.Text != "base\n" || now.Text != string(disk) {
			t.Errorf("f%d: base %q, now %q, on disk %q, %v", i, base.Text, now.Text, disk, err)
		}
	}
}

func replace(path, text string) error {
	if err := os.WriteFile(path+".tmp", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// A prompt does not wait for ever for the look that comes before it. Changes after the
// prompt are the session's, and changes before it the user's.
func TestAChangeAfterAPromptThatDidNotWaitIsTheSessions(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\n", "g", "a\n", "gone", "a\n")
	r.write("f", "mine\n")
	old := time.Now().Add(-time.Minute)
	r.must(os.Chtimes(r.path("f"), old, old))
	goOn := make(chan struct{})
	r.add(&job{then: func(*tree.Snapshot) { <-goOn }})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Prompt(ctx, "s", "t", "do it"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	r.write("g", "theirs\n", "made", "theirs\n")
	r.remove("gone")
	close(goOn)
	r.wait()
	r.is("g s disk? a>theirs", "gone s disk? a>", "made s disk? >theirs")
}
