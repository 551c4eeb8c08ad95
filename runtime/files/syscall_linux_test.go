package files

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/soak"
)

// The system calls of writing a file.
const calls = "openat,openat2,newfstatat,fstat,statx,mkdirat,flock,write,pwrite64,fchmod,fchmodat,fchown,fchownat,ftruncate,fsync,fdatasync,renameat,renameat2,linkat,unlinkat,getdents64,close"

const (
	begin = "/hermes-test-begin" // the victim looks for these names, which shows in the log
	end   = "/hermes-test-end"
)

// A traced victim stays on its first thread from the start: faults are counted for
// each thread, and main may be on another one otherwise.
func init() {
	if strings.HasPrefix(os.Getenv(faultEnv), "trace:") {
		runtime.LockOSThread()
	}
}

// writeUnderTrace writes an old and a new file.
func writeUnderTrace(dir string) string {
	os.Lstat(begin)
	w, err := Open([]string{dir}, Options{})
	if err != nil {
		return "open: " + err.Error()
	}
	old, made := w.WriteText(dir+"/f", newText), w.WriteText(dir+"/new/f", newText)
	os.Lstat(end)
	return fmt.Sprintf("%v\n%v", old, made)
}

// F6: an error of any system call of a write, once or from then on, and a kill at
// any of them, leave the old or the new content. The next write sweeps everything
// else that they leave.
func TestAnErrorOrAKillAtAnySystemCallLeavesOldOrNewContent(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath(cmp.Or(os.Getenv("HERMES_STRACE"), "strace"))
	if err != nil {
		t.Skip("needs strace: run 'make test', or set HERMES_STRACE")
	}
	if out, err := exec.Command(strace, "-f", "-o", "/dev/null", "true").CombinedOutput(); err != nil {
		t.Skipf("%s is not allowed to trace here: %v: %s", strace, err, out)
	}
	under := func(t *testing.T, what string) (dir, out, log string) {
		dir = t.TempDir()
		must(t, os.WriteFile(dir+"/f", []byte(oldText), 0o640))
		file := filepath.Join(t.TempDir(), "log")
		out = child(t, "trace", dir, func(c *exec.Cmd) {
			c.Args = []string{strace, "-f", "-qq", "-o", file, "-e", "trace=" + calls}
			if what != "" {
				c.Args = append(c.Args, "-e", "inject="+what)
			}
			c.Args = append(c.Args, c.Path)
			c.Path = strace
		})
		text, err := os.ReadFile(file)
		must(t, err)
		return dir, out, string(text)
	}

	_, out, log := under(t, "")
	if out != "<nil>\n<nil>" {
		t.Fatal(out)
	}
	steps := stepsOf(t, log)
	errors := []string{"ENOSPC", "EDQUOT", "EROFS", "EACCES", "EIO"}
	soak.Repeat(t, func(t *testing.T, round int) {
		var injected, refused, killed int
		for i, s := range steps {
			fault := "error=" + errors[(i+round)%len(errors)] + ":when=%d"
			if (i+round/len(errors))%2 == 1 {
				fault += "+" // from then on
			}
			for _, what := range []string{fault, "signal=KILL:when=%d"} {
				what = s.call + ":" + fmt.Sprintf(what, s.n)
				dir, out, log := under(t, what)
				if strings.Contains(log, "INJECTED") {
					injected++
				}
				old, made, complete := strings.Cut(out, "\n")
				switch {
				case out == "killed":
					killed++
				case strings.HasPrefix(out, "open: "):
					refused++
				case !complete && s.call == "write": // nor could it say anything
				case !complete:
					t.Errorf("%s: the victim said %q", what, out)
				default:
					check(t, what, dir+"/f", old, oldText)
					check(t, what, dir+"/new/f", made, "")
					if old != "<nil>" || made != "<nil>" {
						refused++
					}
				}
				check(t, what, dir+"/f", "", oldText)
				check(t, what, dir+"/new/f", "", "")
				tidy(t, what, dir)
			}
		}
		t.Logf("%d system calls: %d faults, %d refusals, %d kills", len(steps), injected, refused, killed)
		if injected < len(steps)*3/4 || refused < len(steps)/3 || killed < len(steps)*3/4 {
			t.Error("too few: the faults did not hit the write")
		}
	})
}

// step is the nth use of a system call by the thread that writes.
type step struct {
	call string
	n    int
}

func stepsOf(t *testing.T, log string) (steps []step) {
	t.Helper()
	var thread string
	for line := range strings.Lines(log) {
		if strings.Contains(line, begin) {
			thread, _, _ = strings.Cut(line, " ")
		}
	}
	seen, inside := map[string]int{}, false
	for line := range strings.Lines(log) {
		pid, rest, _ := strings.Cut(line, " ")
		call, _, ok := strings.Cut(strings.TrimSpace(rest), "(")
		if pid != thread || !ok || strings.HasPrefix(call, "<") {
			continue
		}
		seen[call]++
		inside = inside && !strings.Contains(line, end)
		if inside {
			steps = append(steps, step{call, seen[call]})
		}
		inside = inside || strings.Contains(line, begin)
	}
	if len(steps) < 20 {
		t.Fatalf("found only %v in\n%s", steps, log)
	}
	return steps
}

// check compares a file with what its write returned: the old text after an
// error, the new one after success, either when said is empty.
func check(t *testing.T, what, path, said, old string) {
	t.Helper()
	data, _ := os.ReadFile(path)
	if text := string(data); text != newText && text != old || said == "<nil>" && text != newText || said != "" && said != "<nil>" && text != old {
		t.Errorf("%s: %s has %d bytes after %q", what, filepath.Base(path), len(text), said)
	}
}

// tidy writes once more, and checks that this sweeps the leftovers of a victim.
func tidy(t *testing.T, what, dir string) {
	t.Helper()
	w := open(t, Options{}, dir)
	must(t, w.WriteText(dir+"/f", newText))
	must(t, w.WriteText(dir+"/new/f", newText))
	for _, d := range []string{dir, dir + "/new"} {
		names, err := os.ReadDir(d)
		must(t, err)
		for _, n := range names {
			if n.Name() != "f" && n.Name() != "new" {
				t.Errorf("%s: %s is left", what, n.Name())
			}
		}
	}
}
