package tree

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hermes-nvim/hermes/internal/review/store"
)

// As another process: the test runs again under this variable, which has the
// directory.
const againEnv = "HERMES_TREE_DIR"

// again runs a test in another process. There it returns the directory.
func again(t *testing.T, attr *syscall.SysProcAttr) (dir string, here bool) {
	t.Helper()
	if dir := os.Getenv(againEnv); dir != "" {
		return dir, false
	}
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	dir, err := os.MkdirTemp("", "hermes-tree-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o777))
	// Another user may not be able to reach the binary, so it is handed over open.
	f, err := os.Open("/proc/self/exe")
	must(t, err)
	defer f.Close()
	must(t, f.Chmod(0o755))
	c := exec.Command("/proc/self/fd/3", "-test.run", "^"+t.Name()+"$", "-test.v")
	c.Dir, c.SysProcAttr, c.ExtraFiles = dir, attr, []*os.File{f}
	c.Env = append(os.Environ(), againEnv+"="+dir, "TMPDIR="+dir, "GORACE=atexit_sleep_ms=0")
	out, err := c.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS")) {
		t.Errorf("%v\n%s", err, out)
	}
	return dir, true
}

// A file that cannot be read is neither deleted nor unchanged.
func TestWhatCannotBeReadIsLeftOut(t *testing.T) {
	t.Parallel()
	dir, here := again(t, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}})
	if here {
		return
	}
	root := filepath.Join(dir, "root")
	makeFiles(t, root, map[string]string{"a": "1", "b/c": "2", "d/e/f": "3", "g/.gitignore": "*", "g/h": "4"})
	p := newProject(t, root, openStore(t, filepath.Join(dir, "store"), store.Options{}), Options{})
	before := p.scan(t)
	expect(t, "everything", paths(before), "a", "b/c", "d/e/f")
	for _, name := range []string{"a", "b", "d/e"} {
		must(t, os.Chmod(filepath.Join(root, name), 0))
	}
	must(t, os.Chmod(filepath.Join(root, "g/.gitignore"), 0))
	after := p.scan(t)
	expect(t, "entries", paths(after), "g/h") // as in git, which cannot read it either
	expect(t, "left out", leftOut(after), "a: unreadable", "b: unreadable", "d/e: unreadable", "g/.gitignore: unreadable")
	expect(t, "changes", changes(before, after))
	// A directory that can be listed but not searched.
	must(t, os.Chmod(filepath.Join(root, "b"), 0o400))
	expect(t, "changes", changes(before, p.scan(t)))
	must(t, os.Chmod(root, 0))
	if s, err := p.Scan(t.Context()); err == nil || !errors.Is(err, os.ErrPermission) && !errors.Is(err, errUnreadable) {
		t.Errorf("%+v, %v", s, err)
	}
	must(t, os.Chmod(root, 0o700))
}

func TestADirectoryInsideItselfIsLeftOut(t *testing.T) {
	t.Parallel()
	dir, here := again(t, &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS})
	if here {
		return
	}
	must(t, syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	root := filepath.Join(dir, "root")
	makeFiles(t, root, map[string]string{"a": "1", "b/c/d": "2", "b/loop/": "", "other/": "", "elsewhere/x": "3"})
	mount := func(from, to string) {
		must(t, syscall.Mount(filepath.Join(root, from), filepath.Join(root, to), "", syscall.MS_BIND, ""))
		t.Cleanup(func() { syscall.Unmount(filepath.Join(root, to), syscall.MNT_DETACH) })
	}
	mount(".", "b/loop")
	mount("elsewhere", "other") // is twice in the tree, but not in itself
	s := newProject(t, root, openStore(t, filepath.Join(dir, "store"), store.Options{}), Options{}).scan(t)
	expect(t, "entries", paths(s), "a", "b/c/d", "elsewhere/x", "other/x")
	expect(t, "left out", leftOut(s), "b/loop: a loop")
}

// A tree can be deeper than a path may be long.
func TestATreeOfAnyDepthIsRead(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	h, err := os.OpenRoot(root)
	must(t, err)
	path := ""
	for i := range 150 {
		name := fmt.Sprintf("%0100d", i)
		must(t, h.Mkdir(name, 0o755))
		below, err := h.OpenRoot(name)
		must(t, err)
		must(t, h.Close())
		h, path = below, path+name+"/"
	}
	must(t, h.WriteFile("deep", []byte("deep"), 0o644))
	must(t, h.Close())
	p := newProject(t, root, openStore(t, t.TempDir(), store.Options{}), Options{})
	s := p.scan(t)
	if e, ok := s.Entry(path + "deep"); !ok || !e.Kept || e.Hash != store.HashOf([]byte("deep")) {
		t.Errorf("%.200q", paths(s))
	}
	if loaded, err := Load(p.store, save(t, s, p.store)); err != nil || !same(s, loaded) {
		t.Error(err)
	}
}

// A program that may not read a file, or list a folder, has not changed it as long as its status
// is the same.
func TestWhatIsUnreadableIsUnseenWhenItsStatusChanges(t *testing.T) {
	t.Parallel()
	dir, here := again(t, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}})
	if here {
		return
	}
	root := filepath.Join(dir, "root")
	makeFiles(t, root, map[string]string{"a": "1", "b/c": "2"})
	p := newProject(t, root, openStore(t, filepath.Join(dir, "store"), store.Options{}), Options{})
	first := p.scan(t)
	must(t, os.Chmod(filepath.Join(root, "a"), 0))
	must(t, os.Chmod(filepath.Join(root, "b"), 0))
	second := p.scan(t)
	expect(t, "became unreadable", unseen(first, second), "a: unreadable", "b: unreadable")
	third := p.scan(t)
	expect(t, "is what it was", unseen(second, third))
	must(t, os.Chmod(filepath.Join(root, "a"), 0o200))
	makeFiles(t, root, map[string]string{"a": "changed"})
	expect(t, "was written", unseen(third, p.scan(t)), "a: unreadable")
	must(t, os.Chmod(filepath.Join(root, "a"), 0o600))
	must(t, os.Chmod(filepath.Join(root, "b"), 0o700))
	last := p.scan(t)
	expect(t, "without what was known", unseen(third, last), "a: unreadable", "b: unreadable")
	expect(t, "with it", unseen(third.After(second.After(first)), last))
	expect(t, "the changes", changes(third.After(second.After(first)), last), "a: content+mode")
}
