//go:build unix

package atomicfile

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestAnUpdateReplacesTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "state.json")
	for _, text := range []string{"one", "two"} {
		var old string
		err := Update(t.Context(), path, 0o600, func(b []byte) ([]byte, error) { old = string(b); return []byte(text), nil })
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadOwn(path)
		info, _ := os.Stat(path)
		if err != nil || string(got) != text || info.Mode() != 0o600 || old != map[string]string{"one": "", "two": "one"}[text] {
			t.Errorf("%q after %q, %v, %v", got, old, info.Mode(), err)
		}
	}
	if err := Update(t.Context(), path+"/x", 0o600, func([]byte) ([]byte, error) { return nil, nil }); err == nil {
		t.Error("wrote below a file")
	}
	refused := errors.New("refused")
	err := Update(t.Context(), path, 0o600, func([]byte) ([]byte, error) { return []byte("three"), refused })
	if got, _ := ReadOwn(path); !errors.Is(err, refused) || string(got) != "two" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAFileIsWrittenInOneStep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, secret, link := filepath.Join(dir, "a"), filepath.Join(dir, "secret"), filepath.Join(dir, "link")
	dead := filepath.Join(dir, tempPrefix+"0123456789abcdef"+tempSuffix)
	for _, name := range []string{secret, dead} {
		if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("secret", link); err != nil {
		t.Fatal(err)
	}
	old, err := os.Stat(secret)
	if err != nil {
		t.Fatal(err)
	}
	usual := filepath.Join(dir, "usual") // as the user's umask lets it be
	if err := os.WriteFile(usual, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	made, err := os.Stat(usual)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path string
		old  os.FileInfo
		mode os.FileMode
	}{
		"a new file":             {path, nil, made.Mode()},
		"the mode that it has":   {secret, old, old.Mode()},
		"in place of a link":     {link, nil, made.Mode()},
		"in place of a new file": {path, nil, made.Mode()},
	} {
		if err := Write(c.path, "new", c.old, 0o640); err != nil {
			t.Error(name, err)
		}
		info, err := os.Lstat(c.path)
		if text, _ := os.ReadFile(c.path); err != nil || info.Mode() != c.mode || string(text) != "new" {
			t.Errorf("%s: %v, %v, %q", name, err, info.Mode(), text)
		}
	}
	if _, err := os.Lstat(dead); err == nil {
		t.Error("what a dead process has left is still there")
	}
	var at *os.PathError
	if err := Write(filepath.Join(dir, "none", "a"), "", nil, 0o600); !errors.As(err, &at) || !errors.Is(err, os.ErrNotExist) || at.Path != filepath.Join(dir, "none", "a") {
		t.Error(err)
	}
}

// The holder may be a process that is stopped.
func TestTheWaitForALockEndsWithItsContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.json")
	l, err := os.Create(path + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := syscall.Flock(int(l.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	text := func([]byte) ([]byte, error) { return []byte("text"), nil }
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := Update(short, path, 0o600, text); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "another process holds it") {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("written without the lock")
	}
	done := make(chan error, 1)
	go func() { done <- Update(t.Context(), path, 0o600, text) }()
	select {
	case err := <-done:
		t.Error("did not wait for the lock:", err)
	case <-time.After(20 * time.Millisecond):
	}
	syscall.Flock(int(l.Fd()), syscall.LOCK_UN)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAFileIsReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string, err error) error {
		return File(path, 0o640, func(w io.Writer) error {
			io.WriteString(w, text)
			return err
		})
	}
	if err := write(real, "one", nil); err != nil {
		t.Fatal(err)
	}
	if err := write(link, "two", nil); err != nil {
		t.Fatal(err)
	}
	full := errors.New("the disk is full")
	if err := write(link, "three", full); !errors.Is(err, full) || !strings.Contains(err.Error(), real) {
		t.Error(err)
	}
	got, err := os.ReadFile(real)
	info, _ := os.Stat(real)
	if err != nil || string(got) != "two" || info.Mode().Perm()&0o600 != 0o600 || info.Mode().Perm()&0o007 != 0 {
		t.Errorf("%q, %v, %v", got, info.Mode(), err)
	}
	if names, _ := os.ReadDir(dir); len(names) != 2 {
		t.Errorf("the folder has %v", names)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v, %v", info, err)
	}
}
