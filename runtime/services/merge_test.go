package services

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/files"
)

// desk is a session "s" in a folder, without a connection, and a file in it.
type desk struct {
	*Services
	t    *testing.T
	path string
}

func newDesk(t *testing.T, opts Options) *desk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	d := &desk{Services: New(opts), t: t, path: filepath.Join(dir, "a.txt")}
	t.Cleanup(func() { must(t, d.Services.Close()) })
	must(t, d.OpenSession("s", []string{dir}))
	must(t, d.OpenSession("other", []string{dir}))
	return d
}

// user writes the file as another program does.
func (d *desk) user(text string) { must(d.t, os.WriteFile(d.path, []byte(text), 0o644)) }

func (d *desk) disk() string {
	b, err := os.ReadFile(d.path)
	must(d.t, err)
	return string(b)
}

func (d *desk) read(session acp.SessionID, lines files.Range) string {
	d.t.Helper()
	r, err := d.ReadTextFile(d.t.Context(), &acp.ReadTextFileRequest{SessionID: session, Path: d.path, Line: lines.Line, Limit: lines.Limit})
	must(d.t, err)
	return r.Content
}

func (d *desk) write(session acp.SessionID, text string) error {
	_, err := d.WriteTextFile(d.t.Context(), &acp.WriteTextFileRequest{SessionID: session, Path: d.path, Content: text})
	return err
}

func span(line, limit uint32) files.Range {
	return files.Range{Line: acp.Some(line), Limit: acp.Some(limit)}
}

func TestAWriteChangesOnlyWhatTheAgentChanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, seen, now, write, want string
		opts                         files.Options
	}{
		{name: "nobody else wrote", seen: "a\nb\nc\n", now: "a\nb\nc\n", write: "x\n", want: "x\n"},
		{name: "the user wrote elsewhere", seen: "a\nb\nc\n", now: "mine\na\nb\nc\n", write: "a\nb\nC\n", want: "mine\na\nb\nC\n"},
		{name: "both wrote at the end", seen: "a\n", now: "a\nmine\n", write: "a\nits\n", want: "a\nmine\nits\n"},
		{name: "both wrote the same", seen: "a\n", now: "b\n", write: "b\n", want: "b\n"},
		{name: "the user changed all line ends", seen: "a\nb\n", now: "a\r\nb\r\n", write: "a\nB\n", want: "a\r\nB\r\n"},
		{name: "the file has CRLF", seen: "a\r\nb\r\n", now: "mine\r\na\r\nb\r\n", write: "a\nB\n", want: "mine\r\na\r\nB\r\n", opts: files.Options{KeepFormat: true}},
		{name: "the user added a byte order mark", seen: "a\nb\n", now: "\ufeffmine\na\nb\n", write: "a\nB\n", want: "\ufeffmine\na\nB\n", opts: files.Options{KeepFormat: true}},
		{name: "the user emptied it", seen: "a\n", now: "", write: "a\n", want: ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, Options{Files: c.opts})
			d.user(c.seen)
			d.read("s", files.Range{})
			d.user(c.now)
			if err := d.write("s", c.write); err != nil || d.disk() != c.want {
				t.Fatalf("%q, not %q; %v", d.disk(), c.want, err)
			}
			// The agent knows nothing of the merge: its next write starts from its own.
			if err := d.write("s", c.write); err != nil || d.disk() != c.want {
				t.Errorf("%q, not %q, written again; %v", d.disk(), c.want, err)
			}
		})
	}
}

func TestAWriteOverLinesThatTheUserChangedIsRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 150)
	for _, c := range []struct{ name, seen, now, write, says string }{
		{"one line", "a\nb\nc\n", "mine\na\nB\nc\n", "a\nx\nc\n", "\nLine 3 is now:\n    B"},
		{"several", "a\nb\nc\nd\n", "a\nB\nC\nd\n", "a\nx\nd\n", "\nLines 2 to 3 are now:\n    B\n    C"},
		{"lines that are gone", "a\nb\nc\n", "a\nc\n", "a\nx\nc\n", "\nDeleted after line 1:\n    b"},
		{"a file that both made", "", "mine\n", "its\n", "\nLine 1 is now:\n    mine"},
		{"a long line", "a\n", long + "\n", "b\n", "\n    " + strings.Repeat("é", 100) + "…"},
		{"many lines", "a\n", strings.Repeat("mine\n", 30), "b\n", "\n    mine\n    and 20 more lines"},
		{"many places", strings.Repeat("a\nb\n", 9), strings.Repeat("A\nb\n", 9), strings.Repeat("x\nb\n", 9), "\nThere are 4 more such places."},
		{"a large file", strings.Repeat("a\n", 5<<20), "mine\n" + strings.Repeat("a\n", 5<<20), "x\n", "too large to merge. Read the whole file again,"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, Options{})
			d.user(c.seen)
			d.read("s", files.Range{})
			d.user(c.now)
			err := d.write("s", c.write)
			if d.disk() != c.now || !errors.Is(err, ErrOverlap) || code(err) != acp.ErrorCodeInvalidParams {
				t.Fatalf("%v; the file holds %.100q", err, d.disk())
			}
			for _, part := range []string{"fs/write_text_file " + d.path, "nothing was written: the file has changed since you last read or wrote it", "ead the ", c.says} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in %v", part, err)
				}
			}
			if n := len(err.Error()); n > 4<<10 {
				t.Errorf("%d bytes of error", n)
			}
			d.read("s", files.Range{})
			if err := d.write("s", c.write); err != nil || d.disk() != c.write {
				t.Errorf("after it read the file again: %v; the file holds %.100q", err, d.disk())
			}
		})
	}
}

func TestAFileThatNobodyReadIsReplaced(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Options{})
	d.user("mine\n")
	d.read("other", files.Range{}) // another session knows it
	must(t, d.write("s", "its\n"))
	if d.disk() != "its\n" {
		t.Errorf("%q", d.disk())
	}
	if err := d.write("other", "other\n"); !errors.Is(err, ErrOverlap) {
		t.Errorf("the other session overwrote what this one wrote: %v", err)
	}
	must(t, d.CloseSession("other"))
	must(t, d.OpenSession("other", []string{filepath.Dir(d.path)}))
	must(t, d.write("other", "other\n"))
}

func TestALinkAndItsFileAreOneFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Options{})
	d.user("a\nb\n")
	link := filepath.Join(filepath.Dir(d.path), "link")
	must(t, os.Symlink(d.path, link))
	_, err := d.ReadTextFile(t.Context(), &acp.ReadTextFileRequest{SessionID: "s", Path: link})
	must(t, err)
	d.user("mine\na\nb\n")
	must(t, d.write("s", "a\nB\n"))
	if d.disk() != "mine\na\nB\n" {
		t.Errorf("%q", d.disk())
	}
}

func TestWhatIsRememberedOfFilesIsBounded(t *testing.T) {
	t.Parallel()
	s := newShown()
	large := strings.Repeat("x", maxShownText)
	for i := range maxShownTexts/maxShownText + 3 {
		s.set(shownFile{"s", fmt.Sprint(i)}, large)
	}
	if s.bytes > maxShownTexts || s.bytes < maxShownTexts-maxShownText {
		t.Errorf("%d bytes", s.bytes)
	}
	if old, known := s.get(shownFile{"s", "0"}); !known || old.kept || old.sum == [32]byte{} {
		t.Errorf("of the oldest %t %t", known, old.kept)
	}
	for i := range maxShownFiles + 3 {
		s.set(shownFile{"t", fmt.Sprint(i)}, "")
	}
	if len(s.files) != maxShownFiles || s.recent.Len() != maxShownFiles || s.bytes != 0 {
		t.Errorf("%d files, %d bytes", len(s.files), s.bytes)
	}
	s.end("t")
	if len(s.files) != 0 || s.recent.Len() != 0 {
		t.Errorf("%d files of a session that is over", len(s.files))
	}
}

// A user and two agents write one file. An agent knows what it has read and
// written, sometimes only a part; it writes what it knows, changed somewhere.
// Every line is unique.
func TestNoLineOfTheUserIsLostThatTheAgentHasNotRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Options{})
	merged, refused := 0, 0
	for round := range 150 {
		r := rand.New(rand.NewPCG(7, uint64(round)))
		session := func(s string) acp.SessionID { return acp.SessionID(fmt.Sprint(s, round)) }
		must(t, d.OpenSession(session("a"), []string{filepath.Dir(d.path)}))
		must(t, d.OpenSession(session("b"), []string{filepath.Dir(d.path)}))
		next := 0
		line := func(of string) string { next++; return fmt.Sprintf("%s%d\n", of, next) }
		change := func(text, by string) string {
			lines := lines(text)
			for range 1 + r.IntN(2) {
				i := r.IntN(len(lines) + 1)
				switch {
				case r.IntN(3) == 0 && i < len(lines):
					lines = append(lines[:i], lines[i+1:]...)
				case r.IntN(2) == 0 && i < len(lines):
					lines[i] = line(by)
				default:
					lines = append(lines[:i], append([]string{line(by)}, lines[i:]...)...)
				}
			}
			return strings.Join(lines, "")
		}
		start := ""
		for range 12 {
			start += line("start")
		}
		d.user(start)
		views := map[acp.SessionID]string{}
		seen := map[acp.SessionID]map[string]bool{}
		log := []string{fmt.Sprintf("%q", start)}
		for range 25 {
			id := session([]string{"a", "b"}[r.IntN(2)])
			if seen[id] == nil {
				seen[id] = map[string]bool{}
			}
			see := func(text string) {
				for _, l := range lines(text) {
					seen[id][l] = true
				}
			}
			before := d.disk()
			switch what := r.IntN(8); {
			case what < 3:
				d.user(change(before, "user"))
				log = append(log, fmt.Sprintf("the user makes it %q", d.disk()))
			case what == 3 || views[id] == "":
				views[id] = d.read(id, files.Range{})
				see(views[id])
				log = append(log, fmt.Sprintf("%s reads", id))
			case what == 4:
				at := span(1+uint32(r.IntN(12)), uint32(r.IntN(6)))
				part := d.read(id, at)
				see(part)
				log = append(log, fmt.Sprintf("%s reads %q", id, part))
			default:
				text := change(views[id], "agent")
				err := d.write(id, text)
				log = append(log, fmt.Sprintf("%s writes %q: %v; %q", id, text, err, d.disk()))
				after := d.disk()
				if err != nil {
					if refused++; !errors.Is(err, ErrOverlap) || after != before {
						t.Fatalf("round %d\n%s", round, strings.Join(log, "\n"))
					}
					continue
				}
				if after != text {
					merged++
				}
				views[id] = text
				see(text)
				for _, l := range lines(before) {
					if !seen[id][l] && !strings.Contains(after, l) {
						t.Fatalf("round %d: %q is lost\n%s", round, l, strings.Join(log, "\n"))
					}
				}
				for _, l := range lines(text) {
					if strings.HasPrefix(l, "agent") && !strings.Contains(before, l) && !strings.Contains(start, l) && !strings.Contains(after, l) && !knewBefore(log, l) {
						t.Fatalf("round %d: %q of the agent is lost without an error\n%s", round, l, strings.Join(log, "\n"))
					}
				}
			}
		}
		must(t, d.CloseSession(session("a")))
		must(t, d.CloseSession(session("b")))
	}
	if merged < 50 || refused < 50 {
		t.Errorf("%d merged and %d refused writes prove little", merged, refused)
	}
}

// knewBefore reports whether a line is in the log before its last entry.
func knewBefore(log []string, l string) bool {
	return strings.Contains(strings.Join(log[:len(log)-1], ""), strings.TrimSuffix(l, "\n")+`\n`)
}
