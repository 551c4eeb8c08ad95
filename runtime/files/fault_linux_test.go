package files

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestAFullDiskKeepsTheOldContent(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	dir := t.TempDir()
	out := child(t, "disk full", dir, func(c *exec.Cmd) {
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	})
	if out != "" {
		t.Error(out)
	}
}

// writeToFullDisk runs in a mount namespace of its own.
func writeToFullDisk(dir string) string {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return "make mounts private: " + err.Error()
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=700k"); err != nil {
		return "mount: " + err.Error()
	}
	if err := os.WriteFile(dir+"/f", []byte(oldText), 0o644); err != nil {
		return err.Error()
	}
	if msg := expect(dir, syscall.ENOSPC); msg != "" {
		return msg
	}
	if data, err := os.ReadFile(dir + "/f"); string(data) != oldText {
		return "the file changed: " + errorText(err)
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return "remount: " + err.Error()
	}
	if msg := expect(dir, syscall.EROFS); msg != "" {
		return msg
	}
	names, _ := os.ReadDir(dir)
	if len(names) != 1 || strings.HasPrefix(names[0].Name(), ".hermes-") {
		return "left behind"
	}
	return ""
}
