package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func init() { programs["full disk"] = writeToFullDisk }

func TestAFullDiskLeavesTheOldState(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	_, out := start(t, "full disk", t.TempDir(), func(c *exec.Cmd) {
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	})
	if said, err := io.ReadAll(out); err != nil || string(said) != "" {
		t.Fatalf("%s%v", said, err)
	}
}

// writeToFullDisk runs in a mount namespace of its own.
func writeToFullDisk(mount string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=700k,mode=700"); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	dir := filepath.Join(mount, "store")
	if err := fill(dir, syscall.ENOSPC); err != nil {
		return err
	}
	// Not a byte is left: the store opens all the same, and says what is wrong
	// with a write.
	filler, err := os.Create(filepath.Join(mount, "filler"))
	if err != nil {
		return err
	}
	for err == nil {
		_, err = filler.Write(make([]byte, 1024))
	}
	if err := filler.Close(); err != nil {
		return err
	}
	journal, err := os.OpenFile(filepath.Join(dir, "journal"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	// A kill while the disk was full leaves half a record.
	if _, err := journal.WriteString("\x50\x00\x00\x00half a record"); err != nil {
		return err
	}
	journal.Close()
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	if r := s.Recovered(); r == nil || r.Aside != "" {
		return fmt.Errorf("recovered: %+v", r)
	}
	if err := expectRecords(s, "one", "two"); err != nil {
		return err
	}
	err = s.Append([]byte(strings.Repeat("x", 100_000)))
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "journal: no space left on device; free space on that disk") {
		return err
	}
	if err := os.Remove(filler.Name()); err != nil {
		return err
	}
	if err := s.Append([]byte("three")); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}

	if err := syscall.Mount("", mount, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("remount: %w", err)
	}
	if s, err = Open(dir, Options{}); s != nil || !errors.Is(err, syscall.EROFS) || !strings.Contains(err.Error(), "set another state directory") {
		return fmt.Errorf("on a read-only disk: %w", err)
	}
	if s, err = Open(dir, Options{ReadOnly: true}); err != nil {
		return err
	}
	return expectRecords(s, "one", "two", "three")
}

func expectRecords(s *Store, want ...string) error {
	var got []string
	for r, err := range s.Records() {
		if err != nil {
			return err
		}
		got = append(got, string(r))
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("records %q, want %q", got, want)
	}
	return nil
}
