package project

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// The tests of what cannot be read run again as somebody who is not root.
func TestWhatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root; others have run the tests themselves")
	}
	dir, err := os.MkdirTemp("", "hermes-unseen-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		exec.Command("chmod", "-R", "u+rwx", dir).Run()
		os.RemoveAll(dir)
	})
	program, err := os.Open("/proc/self/exe") // which the other user may not be able to reach
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	for _, err := range []error{os.Chmod(dir, 0o777), program.Chmod(0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), "/proc/self/fd/3", "-test.v", "-test.run", "^(TestAFileThatLeavesTheLooksStaysAsItWasLastKnown|TestANewFileThatCannotBeReviewedIsNamed)$")
	c.Dir, c.ExtraFiles = dir, []*os.File{program}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
	c.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir, "GORACE=atexit_sleep_ms=0")
	if out, err := c.CombinedOutput(); err != nil || bytes.Count(out, []byte("--- PASS: TestA")) < 10 || bytes.Contains(out, []byte("--- SKIP")) {
		t.Errorf("%v\n%s", err, out)
	}
}
