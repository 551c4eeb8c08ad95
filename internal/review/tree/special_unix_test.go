//go:build unix

package tree

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/patience"

	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/sockdir"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// Opening a named pipe would wait for its other end.
func TestOnlyFilesAndLinksAreInASnapshot(t *testing.T) {
	t.Parallel()
	root := sockdir.New(t)
	makeFiles(t, root, map[string]string{"file": "1", "d/file": "2", ".gitignore": "ignored*\n"})
	must(t, unix.Mkfifo(filepath.Join(root, "pipe"), 0o600))
	must(t, unix.Mkfifo(filepath.Join(root, "ignored pipe"), 0o600))
	must(t, unix.Mkfifo(filepath.Join(root, "d/.gitignore"), 0o600))
	l, err := net.Listen("unix", filepath.Join(root, "d/socket"))
	must(t, err)
	defer l.Close()
	want := []string{"d/.gitignore: not a file", "d/socket: not a file", "ignored pipe: ignored", "pipe: not a file"}
	if unix.Mknod(filepath.Join(root, "device"), unix.S_IFCHR|0o600, 1<<8|5) == nil { // /dev/zero
		want = append([]string{"d/.gitignore: not a file", "d/socket: not a file", "device: not a file"}, want[2:]...)
	}
	st := openStore(t, t.TempDir(), store.Options{})
	p := newProject(t, root, st, Options{})
	s := patience.Ends(t, "the scan", func() *Snapshot { s, _ := p.Scan(t.Context()); return s })
	expect(t, "entries", paths(s), ".gitignore", "d/file", "file")
	expect(t, "left out", leftOut(s), want...)
}

func TestAModeIsKeptWithItsSpecialBits(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	makeFiles(t, root, map[string]string{"a": "1"})
	st := openStore(t, t.TempDir(), store.Options{})
	p := newProject(t, root, st, Options{})
	last := p.scan(t)
	for _, mode := range []os.FileMode{0, 0o400, 0o777, 0o755 | os.ModeSetuid, 0o755 | os.ModeSetgid, 0o644 | os.ModeSticky} {
		must(t, os.Chmod(filepath.Join(root, "a"), mode))
		if os.Getuid() != 0 && mode&0o400 == 0 {
			continue // it cannot be read
		}
		s := p.scan(t)
		if e, _ := s.Entry("a"); e.Mode != mode {
			t.Errorf("%v, want %v", e.Mode, mode)
		}
		expect(t, mode.String(), changes(last, s), "a: mode")
		loaded, err := Load(st, save(t, s, st))
		if err != nil || !same(s, loaded) {
			t.Error(err)
		}
		last = s
	}
}
