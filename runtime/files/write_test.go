//go:build unix

package files

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

// FS05.
func TestWriteMakesTheFileAndItsDirectories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := open(t, Options{}, dir)
	must(t, w.WriteText(dir+"/x/y/z.txt", "new\n"))
	if got := read(t, dir+"/x/y/z.txt"); got != "new\n" {
		t.Errorf("%q", got)
	}
	must(t, os.WriteFile(dir+"/plain", nil, 0o666))
	plain, _ := os.Stat(dir + "/plain")
	if info, _ := os.Stat(dir + "/x/y/z.txt"); info.Mode() != plain.Mode() {
		t.Errorf("mode %v, an ordinary new file has %v", info.Mode(), plain.Mode())
	}
}

func TestWriteKeepsModeAndReplacesTheInode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := open(t, Options{}, dir)
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o664, 0o755, 0o777} {
		p := dir + "/f"
		must(t, os.WriteFile(p, []byte("old"), 0o600))
		must(t, os.Chmod(p, mode))
		must(t, w.WriteText(p, "new"))
		if info, _ := os.Stat(p); info.Mode() != mode || read(t, p) != "new" {
			t.Errorf("mode %v, want %v", info.Mode(), mode)
		}
	}
	must(t, os.Chmod(dir+"/f", 0o755|fs.ModeSetuid))
	must(t, w.WriteText(dir+"/f", "new"))
	if info, _ := os.Stat(dir + "/f"); info.Mode()&fs.ModeSetuid != 0 {
		t.Error("new content runs with the old file's identity")
	}
}

func TestWriteKeepsTheOwner(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	w := open(t, Options{}, dir)
	must(t, os.WriteFile(dir+"/f", nil, 0o644))
	must(t, os.Chown(dir+"/f", 12345, 54321))
	must(t, w.WriteText(dir+"/f", "new"))
	info, err := os.Stat(dir + "/f")
	must(t, err)
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 12345 || st.Gid != 54321 {
		t.Errorf("owner %d:%d", st.Uid, st.Gid)
	}
}

func TestWriteFollowsALinkAndKeepsIt(t *testing.T) {
	t.Parallel()
	base := tree(t)
	w := open(t, Options{}, base+"/ws", base+"/extra")
	for link, target := range map[string]string{"in-chain": "ws/a.txt", "in-abs": "ws/a.txt", "to-extra": "extra/e.txt"} {
		must(t, w.WriteText(base+"/ws/"+link, link))
		if got := read(t, filepath.Join(base, target)); got != link {
			t.Errorf("%s: target holds %q", link, got)
		}
		if info, _ := os.Lstat(base + "/ws/" + link); info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no longer a link", link)
		}
	}
}

func TestWriteKeepsTheFormatOnRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep, plain := open(t, Options{KeepFormat: true}, dir), open(t, Options{}, dir)
	for _, c := range []struct{ old, content, want string }{
		{"a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n"},
		{"a\r\nb\r\n", "x\r\ny\n", "x\r\ny\r\n"},
		{"a\nb\n", "x\r\ny\r\n", "x\ny\n"},
		{"a\nb\r\n", "x\ny\r\n", "x\ny\r\n"},
		{"no line end", "x\ny\r\n", "x\ny\r\n"},
		{"", "x\r\n", "x\r\n"},
		{"\ufeffa\n", "x\n", "\ufeffx\n"},
		{"\ufeffa\r\n", "\ufeffx\n", "\ufeffx\r\n"},
	} {
		for _, w := range []*Workspace{keep, plain} {
			want := c.want
			if w == plain {
				want = c.content
			}
			must(t, os.WriteFile(dir+"/f", []byte(c.old), 0o644))
			must(t, w.WriteText(dir+"/f", c.content))
			if got := read(t, dir+"/f"); got != want {
				t.Errorf("%q over %q: %q, want %q", c.content, c.old, got, want)
			}
		}
	}
}

func TestAFileInAnotherEncodingIsNeitherReadNorReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const limit = 1000
	keep, plain := open(t, Options{KeepFormat: true, MaxRead: limit}, dir), open(t, Options{}, dir)
	filler := strings.Repeat("x", limit)
	for name, c := range map[string]struct {
		old  string
		text bool
	}{
		"latin1":                       {"caf\xe9\n", false},
		"UTF-16":                       {"\xff\xfea\x00", false},
		"a NUL":                        {"a\x00b", false},
		"latin1 at the end":            {filler[:limit-1] + "\xe9", false},
		"latin1 in a file too large":   {"\xe9" + filler, false},
		"UTF-8":                        {"café\n", true},
		"empty":                        {"", true},
		"a character behind the limit": {filler[:limit-1] + "é", true},
	} {
		must(t, os.WriteFile(dir+"/f", []byte(c.old), 0o644))
		err := keep.WriteText(dir+"/f", "new")
		if _, unread := keep.ReadText(dir+"/f", Range{}); len(c.old) <= limit && (unread == nil) != c.text {
			t.Errorf("%s: reading: %v", name, unread)
		}
		switch got := read(t, dir+"/f"); {
		case c.text && (err != nil || got != "new"):
			t.Errorf("%s: %v, file holds %q", name, err, got)
		case !c.text && (!errors.Is(err, ErrNotText) || got != c.old):
			t.Errorf("%s: %v, file holds %q", name, err, got)
		}
		must(t, plain.WriteText(dir+"/f", "new"))
	}
}

// Root may write everything, so a child that is not root tries the refusals.
func TestWriteRespectsPermissions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o755))
	for p := filepath.Dir(dir); p != os.TempDir() && p != "/"; p = filepath.Dir(p) {
		must(t, os.Chmod(p, 0o755))
	}
	for _, d := range []string{"/closed", "/open"} {
		must(t, os.Mkdir(dir+d, 0o777))
		must(t, os.Chmod(dir+d, 0o777))
		must(t, os.WriteFile(dir+d+"/ro", []byte("old"), 0o444))
		must(t, os.WriteFile(dir+d+"/rw", []byte("old"), 0o666))
		must(t, os.Chmod(dir+d+"/rw", 0o666))
		must(t, os.WriteFile(dir+d+"/none", []byte("old"), 0o000))
	}
	must(t, os.Chmod(dir+"/closed", 0o555))
	out := child(t, "permissions", dir, func(c *exec.Cmd) {
		if os.Getuid() == 0 {
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
	})
	if out != "" {
		t.Error(out)
	}
	for _, f := range []string{"/closed/ro", "/closed/rw", "/closed/none", "/open/ro", "/open/none"} {
		if got := read(t, dir+f); got != "old" {
			t.Errorf("%s holds %q", f, got)
		}
	}
	if got := read(t, dir+"/open/rw"); got != "new" {
		t.Errorf("/open/rw holds %q", got)
	}
	for d, n := range map[string]int{"/closed": 3, "/open": 3} {
		if names, _ := os.ReadDir(dir + d); len(names) != n {
			t.Errorf("%s: %v", d, names)
		}
	}
}

func writeWithoutPermission(dir string) (msg string) {
	w, err := Open([]string{dir}, Options{})
	if err != nil {
		return err.Error()
	}
	defer w.Close()
	for _, f := range []string{"/closed/ro", "/closed/rw", "/closed/none", "/closed/new", "/closed/new/new", "/open/ro", "/open/none"} {
		if err := w.WriteText(dir+f, "new"); !errors.Is(err, fs.ErrPermission) {
			msg += f + ": no permission error but " + errorText(err) + "\n"
		}
	}
	if _, err := w.ReadText(dir+"/open/none", Range{}); !errors.Is(err, fs.ErrPermission) {
		msg += "read: " + errorText(err)
	}
	if err := w.WriteText(dir+"/open/rw", "new"); err != nil {
		msg += err.Error()
	}
	return msg
}

func errorText(err error) string {
	if err == nil {
		return "success"
	}
	return err.Error()
}

// Somebody else writes the file at every step of a change.
func TestAChangeIsMadeAgainWhenSomebodyElseWritesTheFile(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"make temporary file", "write temporary file", "keep the mode", "flush temporary file", "rename temporary file"} {
		for how, write := range map[string]func(string) error{
			"in place": func(path string) error { return os.WriteFile(path, []byte("theirs\n"), 0o644) },
			"by another file": func(path string) error {
				return errors.Join(os.WriteFile(path+".new", []byte("theirs\n"), 0o644), os.Rename(path+".new", path))
			},
		} {
			t.Run(step+" "+how, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				w := open(t, Options{}, dir)
				path := filepath.Join(dir, "f")
				must(t, os.WriteFile(path, []byte("old\n"), 0o644))
				loc, err := w.Resolve(path)
				must(t, err)
				done := false
				w.fault = func(now string) error {
					if now != step || done {
						return nil
					}
					done = true
					return write(path)
				}
				var olds []string
				written, err := w.Rewrite(loc, false, "ours\n", func(old, content string) (string, error) {
					olds = append(olds, old)
					return old + content, nil
				})
				got, _ := os.ReadFile(path)
				if err != nil || string(got) != "theirs\nours\n" || written != string(got) || !slices.Equal(olds, []string{"old\n", "theirs\n"}) {
					t.Errorf("%q, %q, from %q, %v", got, written, olds, err)
				}
			})
		}
	}
}

func TestAChangeThatFailsLeavesTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := open(t, Options{MaxRead: 8}, dir)
	path := filepath.Join(dir, "f")
	must(t, os.WriteFile(path, []byte("old\n"), 0o644))
	loc, err := w.Resolve(path)
	must(t, err)
	refused := errors.New("refused")
	if _, err := w.Rewrite(loc, false, "new\n", func(string, string) (string, error) { return "", refused }); !errors.Is(err, refused) {
		t.Error(err)
	}
	must(t, os.WriteFile(path, []byte("too much\n"), 0o644))
	if _, err := w.Rewrite(loc, false, "new\n", func(string, string) (string, error) { return "", nil }); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	// A file that changes all the time is left alone in the end.
	must(t, os.WriteFile(path, nil, 0o644))
	size := int64(0)
	w.fault = func(string) error { size = (size + 1) % 7; return os.Truncate(path, size) }
	if _, err := w.Rewrite(loc, false, "new\n", func(_, new string) (string, error) { return new, nil }); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
}
