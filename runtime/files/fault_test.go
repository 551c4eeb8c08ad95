//go:build unix

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// The test binary plays the victim of a fault when this variable names one.
const faultEnv = "HERMES_FILES_FAULT"

func TestMain(m *testing.M) {
	if what, dir, ok := strings.Cut(os.Getenv(faultEnv), ":"); ok {
		fmt.Print(victim(what, dir))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func victim(what, dir string) string {
	switch what {
	case "permissions":
		return writeWithoutPermission(dir)
	case "size limit":
		return writeBeyondSizeLimit(dir)
	case "disk full":
		return writeToFullDisk(dir)
	case "trace":
		return writeUnderTrace(dir)
	}
	w, err := Open([]string{dir}, Options{})
	if err != nil {
		return err.Error()
	}
	w.fault = func(step string) error {
		if step == what {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
	return errorText(w.WriteText(dir+"/f", newText))
}

// child runs the test binary as a victim and returns its output.
func child(t *testing.T, what, dir string, with func(*exec.Cmd)) string {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	c := exec.Command("/proc/self/exe")
	if _, err := os.Stat(c.Path); err != nil {
		c = exec.Command(exe)
	}
	// Another user may not be able to reach the binary, so it is handed over open.
	f, err := os.Open(exe)
	must(t, err)
	defer f.Close()
	must(t, f.Chmod(0o755))
	if _, err := os.Stat("/proc/self/fd"); err == nil {
		c = exec.Command("/proc/self/fd/3")
		c.ExtraFiles = []*os.File{f}
	}
	c.Dir = "/"
	c.Env = append(os.Environ(), faultEnv+"="+what+":"+dir, "GORACE=atexit_sleep_ms=0")
	if with != nil {
		with(c)
	}
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return "killed"
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", what, err, stderr.String())
	}
	return string(out)
}

var (
	oldText = strings.Repeat("old\n", 100_000)
	newText = strings.Repeat("new!\n", 120_000)
	steps   = []string{
		"make temporary file", "write temporary file", "keep the mode", "flush temporary file", "rename temporary file",
	}
)

// T09, F6.
func TestAKillBetweenStepsLeavesOldOrNewContent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, step := range append(steps, "none") {
		must(t, os.WriteFile(dir+"/f", []byte(oldText), 0o640))
		want := map[bool]string{true: "success", false: "killed"}[step == "none"]
		if out := child(t, step, dir, nil); out != want {
			t.Fatalf("%s: %s", step, out)
		}
		if got := read(t, dir+"/f"); got != oldText && got != newText || (step == "none") != (got == newText) {
			t.Errorf("killed before %q: %d bytes", step, len(got))
		}
	}
	// The last victim swept the leftovers of the earlier ones.
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

func TestOnlyLeftoversOfDeadProcessesAreSwept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(dir+"/f", []byte(oldText), 0o640))
	if out := child(t, "rename temporary file", dir, nil); out != "killed" {
		t.Fatal(out)
	}
	left, _ := os.ReadDir(dir)
	if len(left) != 2 {
		t.Fatalf("the kill came too late: %v", left)
	}
	const name = ".hermes-0123456789abcdef.tmp" // of a writer that lives
	busy, err := os.Create(dir + "/" + name)
	must(t, err)
	defer busy.Close()
	must(t, syscall.Flock(int(busy.Fd()), syscall.LOCK_EX))
	must(t, os.WriteFile(dir+"/.hermes-mine.tmp", nil, 0o600))
	must(t, open(t, Options{}, dir).WriteText(dir+"/g", "x"))
	var names []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got, want := strings.Join(names, " "), name+" .hermes-mine.tmp f g"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A device error cannot be produced on demand, so the test injects one.
func TestAnErrorAtAnyStepKeepsTheOldContent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, cause := range []error{syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EACCES} {
		for _, step := range steps {
			must(t, os.WriteFile(dir+"/f", []byte(oldText), 0o640))
			w := open(t, Options{}, dir)
			w.fault = func(s string) error {
				if s == step {
					return cause
				}
				return nil
			}
			err := w.WriteText(dir+"/f", newText)
			if !errors.Is(err, cause) || !strings.Contains(err.Error(), step) {
				t.Errorf("%s at %s: %v", cause, step, err)
			}
			if step != "keep the mode" {
				if err := w.WriteText(dir+"/made/by/me", newText); !errors.Is(err, cause) {
					t.Errorf("%s at %s of a new file: %v", cause, step, err)
				}
			}
			if got := read(t, dir+"/f"); got != oldText {
				t.Errorf("%s at %s: the file changed", cause, step)
			}
			if names, _ := os.ReadDir(dir); len(names) != 1 {
				t.Fatalf("%s at %s left %v", cause, step, names)
			}
		}
	}
}

func TestAFileSizeLimitKeepsTheOldContent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(dir+"/f", []byte(oldText), 0o640))
	if out := child(t, "size limit", dir, nil); out != "" {
		t.Error(out)
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 || read(t, dir+"/f") != oldText {
		t.Errorf("%v, or the file changed", names)
	}
}

func writeBeyondSizeLimit(dir string) string {
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err.Error()
	}
	return expect(dir, syscall.EFBIG)
}

// expect writes too much to an existing and to a new file.
func expect(dir string, cause error) string {
	w, err := Open([]string{dir}, Options{})
	if err != nil {
		return err.Error()
	}
	defer w.Close()
	for _, f := range []string{"/f", "/new", "/new/dir/f"} {
		if err := w.WriteText(dir+f, newText); !errors.Is(err, cause) {
			return f + ": want " + cause.Error() + ", have " + errorText(err)
		}
	}
	if _, err := os.Stat(dir + "/new"); !errors.Is(err, fs.ErrNotExist) {
		return "something new stayed behind"
	}
	return ""
}
