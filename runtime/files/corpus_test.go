//go:build unix

package files

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
)

// tree makes the folders that the path tests share: a root ws, a second root
// extra, and out, which no access may reach.
func tree(t *testing.T) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"ws/a.txt": "a\n", "ws/dir/b.txt": "b\n", "ws/dir/sub/c.txt": "c\n", "ws/.git/config": "[core]\n",
		"ws/spaced name.txt": "s\n", "ws/ünï.txt": "u\n", "ws/...": "dots\n", "ws/~": "tilde\n", "ws/Makefile": "all:\n",
		"extra/e.txt": "e\n", "extra/deep/f.txt": "f\n", "ws-other/x.txt": "x\n",
		"out/secret.txt": "secret\n", "out/dir/s.txt": "s\n",
	} {
		p := filepath.Join(base, name)
		must(t, os.MkdirAll(filepath.Dir(p), 0o755))
		must(t, os.WriteFile(p, []byte(text), 0o644))
	}
	for name, target := range map[string]string{
		"in-file": "a.txt", "in-dir": "dir", "in-dotted": "dir/../a.txt", "dir/up-in": "../a.txt",
		"in-chain": "in-chain2", "in-chain2": "in-file", "in-abs": base + "/ws/a.txt", "in-abs-dir": base + "/ws/dir",
		"to-extra": base + "/extra/e.txt", "to-extra-dir": base + "/extra", "to-extra-rel": "../extra/e.txt",
		"around": "../ws/a.txt", "around-dir": "dir/../../ws/dir",
		"out-file": base + "/out/secret.txt", "out-dir": base + "/out", "out-rel": "../out/secret.txt", "out-rel-dir": "../out",
		"out-deep": "dir/../../out/secret.txt", "out-chain": "out-file", "out-chain-dir": "out-dir/dir", "out-self": "in-dir/../../out",
		"dangling": "nothing", "dangling-dir": "nothing/x", "dangling-abs": base + "/ws/nothing", "dangling-out": base + "/out/new.txt",
		"dangling-out-rel": "../out/new.txt", "loop": "loop", "loop-a": "loop-b", "loop-b": "loop-a",
		"etc": "/etc", "passwd": "/etc/passwd", "proc": "/proc/self", "null": "/dev/null", "slash": "/", "dot": ".", "dotdot": "..",
		"git-link": ".git", "make-link": "Makefile",
	} {
		must(t, os.Symlink(target, filepath.Join(base, "ws", name)))
	}
	must(t, os.Symlink(base+"/ws", base+"/ws-link"))
	must(t, os.Link(base+"/out/secret.txt", base+"/ws/hard.txt"))
	must(t, syscall.Mkfifo(base+"/ws/fifo", 0o644))
	must(t, os.Symlink("fifo", base+"/ws/fifo-link"))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: shortSocket(t), Net: "unix"})
	must(t, err)
	t.Cleanup(func() { l.Close() })
	must(t, os.Rename(l.Addr().String(), base+"/ws/socket"))
	return base
}

func shortSocket(t *testing.T) string {
	d, err := os.MkdirTemp("", "s")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(d) })
	return d + "/s"
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// state describes everything below dir, so that a change shows.
func state(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v", p, info.Mode())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(data))
		}
		b.WriteByte('\n')
		return nil
	}))
	return b.String()
}

func open(t *testing.T, opts Options, roots ...string) *Workspace {
	t.Helper()
	w, err := Open(roots, opts)
	must(t, err)
	t.Cleanup(func() { w.Close() })
	return w
}

const ok = "" // the path is served

// corpus lists paths ($B is the base folder) and what reading must say: the
// text, or the error. Writing gives the same error unless write says otherwise.
var corpus = []struct {
	path  string
	text  string
	err   error
	write error
}{
	// plain files, every harmless spelling
	{"$B/ws/a.txt", "a\n", nil, nil},
	{"$B/ws//a.txt", "a\n", nil, nil},
	{"$B/ws/./a.txt", "a\n", nil, nil},
	{"$B//ws/././/a.txt", "a\n", nil, nil},
	{"//$B/ws/a.txt", "a\n", nil, nil},
	{"$B/ws/dir/b.txt", "b\n", nil, nil},
	{"$B/ws/dir//sub/./c.txt", "c\n", nil, nil},
	{"$B/ws/spaced name.txt", "s\n", nil, nil},
	{"$B/ws/ünï.txt", "u\n", nil, nil},
	{"$B/ws/...", "dots\n", nil, nil},
	{"$B/ws/~", "tilde\n", nil, nil},
	{"$B/extra/e.txt", "e\n", nil, nil},
	{"$B/extra/deep/f.txt", "f\n", nil, nil},
	// roots by another name
	{"$B/ws-link/a.txt", "a\n", nil, nil},
	{"$B/ws-link/dir/b.txt", "b\n", nil, nil},
	{"$B/ws/../ws/a.txt", ok, ErrPath, nil},
	// missing files are made
	{"$B/ws/new.txt", ok, fs.ErrNotExist, nil},
	{"$B/ws/made/up/new.txt", ok, fs.ErrNotExist, nil},
	{"$B/ws/in-dir/new2.txt", ok, fs.ErrNotExist, nil},
	{"$B/ws/in-abs-dir/new3/n.txt", ok, fs.ErrNotExist, nil},
	{"$B/ws/to-extra-dir/new4.txt", ok, fs.ErrNotExist, nil},
	{"$B/extra/new5/n.txt", ok, fs.ErrNotExist, nil},
	{"$B/ws/a\\b.txt", ok, fs.ErrNotExist, nil},
	{"$B/ws/%2e%2e/x", ok, fs.ErrNotExist, nil},
	{"$B/ws/..%2fout", ok, fs.ErrNotExist, nil},
	{"$B/ws/.. ", ok, fs.ErrNotExist, nil},
	{"$B/ws/$(id).txt", ok, fs.ErrNotExist, nil},
	{"$B/ws/`id`.txt", ok, fs.ErrNotExist, nil},
	{"$B/ws/|ls", ok, fs.ErrNotExist, nil},
	{"$B/ws/+quit", ok, fs.ErrNotExist, nil},
	{"$B/ws/*", ok, fs.ErrNotExist, nil},
	// below something that is not a directory
	{"$B/ws/a.txt/x", ok, syscall.ENOTDIR, nil},
	{"$B/ws/in-file/x", ok, syscall.ENOTDIR, nil},
	{"$B/ws/fifo/x", ok, syscall.ENOTDIR, nil},
	// a file is not a directory, and no directory replaces a file
	{"$B/ws/a.txt/", ok, ErrNotDir, nil},
	{"$B/ws/a.txt//", ok, ErrNotDir, nil},
	{"$B/ws/a.txt/.", ok, ErrNotDir, nil},
	{"$B/ws/a.txt/./", ok, ErrNotDir, nil},
	{"$B/ws/./a.txt/././/", ok, ErrNotDir, nil},
	{"$B/ws/in-file/", ok, ErrNotDir, nil},
	{"$B/ws/in-chain/.", ok, ErrNotDir, nil},
	{"$B/ws/to-extra/", ok, ErrNotDir, nil},
	{"$B/extra/e.txt/", ok, ErrNotDir, nil},
	{"$B/ws/fifo/", ok, ErrNotDir, nil},
	{"$B/ws/new.txt/", ok, ErrNotDir, nil},
	{"$B/ws/made/new.txt/.", ok, ErrNotDir, nil},
	{"$B/ws/in-dir/", ok, ErrNotRegular, nil},
	// outside
	{"$B/out/secret.txt", ok, ErrOutside, nil},
	{"$B/out/new.txt", ok, ErrOutside, nil},
	{"$B/out", ok, ErrOutside, nil},
	{"$B", ok, ErrOutside, nil},
	{"/", ok, ErrOutside, nil},
	{"//", ok, ErrOutside, nil},
	{"/etc/passwd", ok, ErrOutside, nil},
	{"/etc/shadow", ok, ErrOutside, nil},
	{"/proc/self/environ", ok, ErrOutside, nil},
	{"/proc/self/cwd/go.mod", ok, ErrOutside, nil},
	{"/proc/self/root/etc/passwd", ok, ErrOutside, nil},
	{"/dev/null", ok, ErrOutside, nil},
	{"/dev/full", ok, ErrOutside, nil},
	{"/dev/stdin", ok, ErrOutside, nil},
	{"/nowhere/at/all", ok, ErrOutside, nil},
	// prefixes that are not parents
	{"$B/ws-other/x.txt", ok, ErrOutside, nil},
	{"$B/ws-other", ok, ErrOutside, nil},
	{"$B/ws2/x", ok, ErrOutside, nil},
	{"$B/w", ok, ErrOutside, nil},
	{"$B/wsa.txt", ok, ErrOutside, nil},
	{"$B/extra.txt", ok, ErrOutside, nil},
	{"$B/WS/a.txt", ok, ErrOutside, nil},
	{"$B/Extra/e.txt", ok, ErrOutside, nil},
	// dot-dot in every position
	{"$B/ws/..", ok, ErrPath, nil},
	{"$B/ws/../out/secret.txt", ok, ErrPath, nil},
	{"$B/ws/dir/../../out/secret.txt", ok, ErrPath, nil},
	{"$B/ws/dir/../a.txt", ok, ErrPath, nil},
	{"$B/ws/./../out/secret.txt", ok, ErrPath, nil},
	{"$B/ws/in-dir/../../out/secret.txt", ok, ErrPath, nil},
	{"$B/ws/in-dir/../a.txt", ok, ErrPath, nil},
	{"$B/ws/out-dir/../a.txt", ok, ErrPath, nil},
	{"$B/ws/missing/../a.txt", ok, ErrPath, nil},
	{"$B/ws/a.txt/..", ok, ErrPath, nil},
	{"$B/ws/a.txt/../a.txt", ok, ErrPath, nil},
	{"/../etc/passwd", ok, ErrPath, nil},
	{"$B/../../../../../../etc/passwd", ok, ErrPath, nil},
	{"$B/out/../ws/a.txt", ok, ErrPath, nil},
	// not absolute
	{"", ok, ErrPath, nil},
	{".", ok, ErrPath, nil},
	{"a.txt", ok, ErrPath, nil},
	{"./a.txt", ok, ErrPath, nil},
	{"../ws/a.txt", ok, ErrPath, nil},
	{"~/a.txt", ok, ErrPath, nil},
	{"~root/a.txt", ok, ErrPath, nil},
	{"$HOME/a.txt", ok, ErrPath, nil},
	{"file://$B/ws/a.txt", ok, ErrPath, nil},
	{"file:$B/ws/a.txt", ok, ErrPath, nil},
	{"term://id", ok, ErrPath, nil},
	{"C:\\ws\\a.txt", ok, ErrPath, nil},
	{"\\\\host\\share\\a.txt", ok, ErrPath, nil},
	{" $B/ws/a.txt", ok, ErrPath, nil},
	// characters that end or change a name for some reader
	{"$B/ws/a.txt\x00", ok, ErrPath, nil},
	{"$B/ws/a.txt\x00.png", ok, ErrPath, nil},
	{"\x00$B/ws/a.txt", ok, ErrPath, nil},
	{"$B/ws/a\n.txt", ok, ErrPath, nil},
	{"$B/ws/a\r.txt", ok, ErrPath, nil},
	{"$B/ws/a\x1b[2J.txt", ok, ErrPath, nil},
	{"$B/ws/a\x7f.txt", ok, ErrPath, nil},
	{"$B/ws/a\xff.txt", ok, ErrPath, nil},
	{"$B/ws/\xc0\xae\xc0\xae/out", ok, ErrPath, nil},
	{"$B/ws/" + strings.Repeat("x", 300), ok, syscall.ENAMETOOLONG, nil},
	{"$B/ws/" + strings.Repeat("x/", 3000) + "x", ok, ErrPath, nil},
	// links inside
	{"$B/ws/in-file", "a\n", nil, nil},
	{"$B/ws/in-dir/b.txt", "b\n", nil, nil},
	{"$B/ws/in-dir/sub/c.txt", "c\n", nil, nil},
	{"$B/ws/in-dotted", "a\n", nil, nil},
	{"$B/ws/dir/up-in", "a\n", nil, nil},
	{"$B/ws/in-dir/up-in", "a\n", nil, nil},
	{"$B/ws/in-chain", "a\n", nil, nil},
	{"$B/ws/in-abs", "a\n", nil, nil},
	{"$B/ws/in-abs-dir/b.txt", "b\n", nil, nil},
	{"$B/ws/in-abs-dir/up-in", "a\n", nil, nil},
	{"$B/ws/dot/dot/a.txt", "a\n", nil, nil},
	{"$B/ws/around", "a\n", nil, nil},
	{"$B/ws/around-dir/b.txt", "b\n", nil, nil},
	// links from one root into another
	{"$B/ws/to-extra", "e\n", nil, nil},
	{"$B/ws/to-extra-dir/deep/f.txt", "f\n", nil, nil},
	{"$B/ws/to-extra-rel", "e\n", nil, nil},
	// links out
	{"$B/ws/out-file", ok, ErrOutside, nil},
	{"$B/ws/out-dir", ok, ErrOutside, nil},
	{"$B/ws/out-dir/secret.txt", ok, ErrOutside, nil},
	{"$B/ws/out-dir/new.txt", ok, ErrOutside, nil},
	{"$B/ws/out-dir/new/new.txt", ok, ErrOutside, nil},
	{"$B/ws/out-rel", ok, ErrOutside, nil},
	{"$B/ws/out-rel-dir/secret.txt", ok, ErrOutside, nil},
	{"$B/ws/out-rel-dir/dir/s.txt", ok, ErrOutside, nil},
	{"$B/ws/out-deep", ok, ErrOutside, nil},
	{"$B/ws/out-chain", ok, ErrOutside, nil},
	{"$B/ws/out-chain-dir/s.txt", ok, ErrOutside, nil},
	{"$B/ws/out-self/secret.txt", ok, ErrOutside, nil},
	{"$B/ws/etc/passwd", ok, ErrOutside, nil},
	{"$B/ws/passwd", ok, ErrOutside, nil},
	{"$B/ws/proc/environ", ok, ErrOutside, nil},
	{"$B/ws/null", ok, ErrOutside, nil},
	{"$B/ws/dotdot/out/secret.txt", ok, ErrOutside, nil},
	{"$B/ws/slash/etc/passwd", ok, ErrOutside, nil},
	{"$B/ws/dot/out-file", ok, ErrOutside, nil},
	{"$B/ws-link/out-file", ok, ErrOutside, nil},
	// links that lead nowhere
	{"$B/ws/dangling", ok, ErrLink, nil},
	{"$B/ws/dangling-dir", ok, ErrLink, nil},
	{"$B/ws/dangling/x", ok, ErrLink, nil},
	{"$B/ws/dangling-abs", ok, ErrLink, nil},
	{"$B/ws/dangling-out", ok, ErrOutside, nil},
	{"$B/ws/dangling-out-rel", ok, ErrOutside, nil},
	{"$B/ws/loop", ok, ErrLink, nil},
	{"$B/ws/loop-a", ok, ErrLink, nil},
	{"$B/ws/loop/x", ok, ErrLink, nil},
	// not regular files
	{"$B/ws", ok, ErrNotRegular, nil},
	{"$B/ws/", ok, ErrNotRegular, nil},
	{"$B/ws/.", ok, ErrNotRegular, nil},
	{"$B/ws/dir", ok, ErrNotRegular, nil},
	{"$B/ws/dir/", ok, ErrNotRegular, nil},
	{"$B/ws/in-dir", ok, ErrNotRegular, nil},
	{"$B/ws/around-dir", ok, ErrNotRegular, nil},
	{"$B/ws/fifo", ok, ErrNotRegular, nil},
	{"$B/ws/fifo-link", ok, ErrNotRegular, nil},
	{"$B/ws/socket", ok, ErrNotRegular, nil},
	{"$B/extra", ok, ErrNotRegular, nil},
	// more than one name
	{"$B/ws/hard.txt", ok, ErrHardLink, nil},
	{"$B/ws/dot/hard.txt", ok, ErrHardLink, nil},
	// protected names can be read, not written
	{"$B/ws/.git/config", "[core]\n", nil, ErrProtected},
	{"$B/ws/git-link/config", "[core]\n", nil, ErrProtected},
	{"$B/ws/.git/hooks/pre-commit", ok, fs.ErrNotExist, ErrProtected},
	{"$B/ws/dir/.git", ok, fs.ErrNotExist, ErrProtected},
	{"$B/ws/Makefile", "all:\n", nil, ErrProtected},
	{"$B/ws/make-link", "all:\n", nil, ErrProtected},
	{"$B/ws/.GIT/config", ok, fs.ErrNotExist, ErrProtected},
}

// C125, FS03, FS07, FS09, T01-T05, T07.
func TestPathCorpus(t *testing.T) {
	t.Parallel()
	base := tree(t)
	outside := []string{base + "/out", base + "/ws-other"}
	before := state(t, outside[0]) + state(t, outside[1])
	for _, c := range corpus {
		path := strings.ReplaceAll(c.path, "$B", base)
		within(t, path, func() {
			w := open(t, Options{}, base+"/ws", base+"/extra")
			got, err := w.ReadText(path, Range{})
			if got != c.text || !errors.Is(err, c.err) {
				t.Errorf("read %q: %q, %v; want %q, %v", c.path, got, err, c.text, c.err)
			}
			checkMessage(t, opRead, path, err)

			_, err = w.Resolve(path)
			if want := c.err; want == fs.ErrNotExist && err == nil {
				// a missing file resolves
			} else if !errors.Is(err, want) {
				t.Errorf("resolve %q: %v, want %v", c.path, err, want)
			}

			want := c.write
			if want == nil && !errors.Is(c.err, fs.ErrNotExist) {
				want = c.err
			}
			before := state(t, base)
			err = w.WriteText(path, c.text)
			if !errors.Is(err, want) {
				t.Errorf("write %q: %v, want %v", c.path, err, want)
			}
			checkMessage(t, opWrite, path, err)
			if err != nil && state(t, base) != before {
				t.Errorf("write %q was refused (%v) and yet changed something", c.path, err)
			}
			if loc, err := w.ResolveDir(path); err == nil {
				if info, statErr := os.Stat(loc.Real); statErr != nil || !info.IsDir() ||
					!strings.HasPrefix(loc.Real+"/", base+"/ws/") && !strings.HasPrefix(loc.Real+"/", base+"/extra/") {
					t.Errorf("resolve directory %q: %+v", c.path, loc)
				}
			}
		})
	}
	if after := state(t, outside[0]) + state(t, outside[1]); after != before {
		t.Errorf("something outside changed:\n%s\nwas\n%s", after, before)
	}
	if len(corpus) < 100 {
		t.Errorf("the corpus has only %d cases", len(corpus))
	}
}

func within(t *testing.T, what string, f func()) {
	t.Helper()
	patience.Ends(t, what, func() bool { f(); return true })
}

// checkMessage checks that an error names operation and path and shows no control
// character.
func checkMessage(t *testing.T, op, path string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var e *Error
	if !errors.As(err, &e) || e.Op != op || e.Path != path || !strings.HasPrefix(err.Error(), op+" ") {
		t.Errorf("%q: error %q does not name operation and path", path, err)
	}
	if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.Errorf("error %q contains a control character", err)
	}
}

func TestErrorsReadWell(t *testing.T) {
	t.Parallel()
	base := tree(t)
	w := open(t, Options{}, base+"/ws", base+"/extra")
	for path, want := range map[string]string{
		"/w/a.go":              "fs/write_text_file /w/a.go: outside the session roots (" + base + "/ws, " + base + "/extra)",
		base + "/ws/dir":       "fs/write_text_file " + base + "/ws/dir: not a regular file: it is a directory",
		base + "/ws/.git/x":    "fs/write_text_file " + base + "/ws/.git/x: protected file (version control internals): never written on behalf of an agent",
		base + "/ws/Makefile":  "fs/write_text_file " + base + "/ws/Makefile: protected file (build): needs the explicit approval of the user",
		base + "/ws/a\u202eb/": "fs/write_text_file \"" + base + "/ws/a\\u202eb/\": x",
	} {
		err := w.WriteText(path, "x")
		if strings.HasSuffix(want, ": x") {
			err = &Error{opWrite, path, errors.New("x")}
		}
		if err == nil || err.Error() != want {
			t.Errorf("%v\nwant\n%s", err, want)
		}
	}
}

func TestRootsMustBeAbsoluteDirectories(t *testing.T) {
	t.Parallel()
	base := tree(t)
	for _, roots := range [][]string{{}, {"ws"}, {base + "/none"}, {base + "/ws/a.txt"}, {base + "/ws", ""}} {
		if w, err := Open(roots, Options{}); err == nil {
			w.Close()
			t.Errorf("opened %q", roots)
		}
	}
}

func TestResolveNamesThePlace(t *testing.T) {
	t.Parallel()
	base := tree(t)
	w := open(t, Options{}, base+"/ws-link", base+"/ws/dir")
	for path, want := range map[string]Location{
		base + "/ws-link/in-file":    {base + "/ws-link", "a.txt", base + "/ws-link/a.txt", base + "/ws/a.txt", true, false},
		base + "/ws/a.txt":           {base + "/ws-link", "a.txt", base + "/ws-link/a.txt", base + "/ws/a.txt", true, false},
		base + "/ws/dir/b.txt":       {base + "/ws/dir", "b.txt", base + "/ws/dir/b.txt", base + "/ws/dir/b.txt", true, false},
		base + "/ws-link/new/x.txt":  {base + "/ws-link", "new/x.txt", base + "/ws-link/new/x.txt", base + "/ws/new/x.txt", false, false},
		base + "/ws/dir/../../ws/a":  {},
		base + "/ws-link/in-abs-dir": {},
	} {
		got, err := w.Resolve(path)
		if got != want || (err != nil) != (want == Location{}) {
			t.Errorf("%s: %+v, %v; want %+v", path, got, err, want)
		}
	}
	dir, err := w.ResolveDir(base + "/ws-link/in-dir/sub")
	if err != nil || dir.Real != base+"/ws/dir/sub" {
		t.Errorf("%+v, %v", dir, err)
	}
	if _, err := w.ResolveDir(base + "/ws-link/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := w.ResolveDir(base + "/ws-link/a.txt"); !errors.Is(err, ErrNotDir) {
		t.Error(err)
	}
}

func TestHardLinksAreServedWhenAllowed(t *testing.T) {
	t.Parallel()
	base := tree(t)
	w := open(t, Options{AllowHardLinks: true}, base+"/ws")
	if text, err := w.ReadText(base+"/ws/hard.txt", Range{}); text != "secret\n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	must(t, w.WriteText(base+"/ws/hard.txt", "mine\n"))
	if data, _ := os.ReadFile(base + "/out/secret.txt"); string(data) != "secret\n" {
		t.Errorf("the other name now holds %q", data)
	}
}
