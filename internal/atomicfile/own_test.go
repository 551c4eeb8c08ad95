//go:build unix

package atomicfile

import (
	"context"
	"errors"
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
