//go:build amd64 || arm64

package shim_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/shim/journal"
)

// int80 makes a folder through the calls of 32 bits.
const int80 = `
import ctypes, mmap, platform
assert platform.machine() == "x86_64"
code = bytes([0x53,0xb8,39,0,0,0,0x89,0xfb,0xb9,0xed,1,0,0,0xcd,0x80,0x5b,0xc3])
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
p = libc.mmap(None, 4096, 7, 0x62, -1, 0)
ctypes.memmove(p, code, len(code))
ctypes.memmove(p + 512, b"old\0", 4)
print(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(p)(p + 512))
`

func TestEveryChangeIsReportedWithItsContents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		needs   string // a program
		command []string
		want    []string
	}{
		{"shell", "", []string{"sh", "-c", "echo hi > a; cp a c; echo more >> a; rm a; ln -s c l; rm l; mkdir d; rmdir d"}, []string{
			`write a absent "hi\n"`, `write c absent "hi\n"`, `write a "hi\n" "hi\nmore\n"`, `remove a "hi\nmore\n"`,
			`symlink l absent ->c`, `remove l ->c`, `mkdir d`, `rmdir d`}},
		{"a file that is renamed once it is written", "", []string{"sh", "-c", "echo new > old.tmp; mv old.tmp old; echo x > n.tmp; mv n.tmp n"}, []string{
			`write old "before\n" "new\n"`, `write n absent "x\n"`}},
		{"many writes of an open file", "", []string{"sh", "-c", "{ echo 1; echo 2; echo 3; } > a"}, []string{`write a absent "1\n2\n3\n"`}},
		{"nothing new in a file", "", []string{"sh", "-c", "echo before > old; : >> old; touch old"}, nil},
		{"a folder that is renamed", "", []string{"sh", "-c", "mv sub other; echo y > other/deep/f; mv other ..; mv ../other back"}, []string{
			`mkdir other`, `mkdir other/deep`, `rename sub/deep/f other/deep/f`, `rename sub/g other/g`, `write other/deep/f "f\n" "y\n"`,
			`remove other/deep/f "y\n"`, `remove other/g "g\n"`, `mkdir back`, `mkdir back/deep`, `write back/deep/f absent "y\n"`, `write back/g absent "g\n"`}},
		{"links", "", []string{"sh", "-c", "ln -s sub/deep way; echo a > way/new; ln old hard; echo b > hard; ln -s old soft; echo c > soft; rm way"}, []string{
			`symlink way absent ->sub/deep`, `write sub/deep/new absent "a\n"`, `link old hard`, `write hard "before\n" "b\n"`,
			`symlink soft absent ->old`, `write old "b\n" "c\n"`, `remove way ->sub/deep`}},
		{"descriptors as paths", "", []string{"sh", "-c", "exec 5>>old; echo a > /proc/self/fd/5; echo b > /dev/fd/5; cd sub; echo c > /proc/self/cwd/g; exec 5>&-"}, []string{
			`write old "before\n" "a\n"`, `write old "a\n" "b\n"`, `write sub/g "g\n" "c\n"`}},
		{"what fails", "", []string{"sh", "-c", "rmdir sub; rm none; mkdir sub; echo x > none/x; ln old sub/g; mv none other; true"}, nil},
		{"permissions", "", []string{"sh", "-c", "chmod +x old; chmod 755 old none; ln -s old l; chmod 600 l; chmod 700 sub; umask 022; echo x > s; chmod +x s; { echo y; chmod 644 s; } >> s; chmod +x ../outside; rm l"}, []string{
			`chmod old "before\n" 644 "before\n" 755`, `symlink l absent ->old`, `chmod old "before\n" 755 "before\n" 600`, `chmod sub dir  dir `,
			`write s absent "x\n"`, `chmod s "x\n" 644 "x\n" 755`, `write s "x\n" "x\ny\n"`, `remove l ->old`}},
		{"truncate", "", []string{"truncate", "-s", "3", "old"}, []string{`write old "before\n" "bef"`}},
		{"ignored files", "", []string{"sh", "-c", "echo '*.c' >> .gitignore; echo x > a.o; echo x > a.c; mkdir -p .git/objects; echo y > .git/objects/x; mkdir .git/hooks; echo z > .git/hooks/h"}, []string{
			`write .gitignore "*.o\n" "*.o\n*.c\n"`, `write a.c absent "x\n"`, `mkdir .git`, `mkdir .git/hooks`, `write .git/hooks/h absent "z\n"`}},
		{"outside", "", []string{"sh", "-c", "echo x > ../x; mv ../x in; mv in ../out; rm ../out"}, []string{
			`write in absent "x\n"`, `remove in "x\n"`}},
		{"a name without a file", "", []string{"HELPER", "helper", "unnamed"}, []string{"link"}},
		{"python", "python3", []string{"python3", "-c", `
import os, shutil
fd = os.open("sub", os.O_RDONLY)
os.rename("g", "h", src_dir_fd=fd, dst_dir_fd=fd)
os.chdir("sub/deep")
open("../up", "w").write("u")
os.chdir("../..")
os.replace("old", "sub/up")
shutil.rmtree("sub/deep")`}, []string{
			`rename sub/g sub/h`, `write sub/up absent "u"`, `rename old sub/up`, `remove sub/deep/f "f\n"`, `rmdir sub/deep`}},
		{"node", "node", []string{"node", "-e", `
const fs = require("fs");
fs.writeFileSync("a", "1");
fs.promises.writeFile("b", "2").then(() => { fs.renameSync("b", "old"); require("child_process").execSync("rm a"); })`}, []string{
			`write a absent "1"`, `write old "before\n" "2"`, `remove a "1"`}},
		{"calls of 32 bits", "python3", []string{"python3", "-c", strings.ReplaceAll(int80, "old", "old32")}, []string{`mkdir old3`}},
	} {
		for _, user := range users() {
			t.Run(fmt.Sprint(c.name, ", user ", user), func(t *testing.T) {
				t.Parallel()
				if _, err := exec.LookPath(c.needs); c.needs != "" && err != nil {
					t.Skip(err)
				}
				if c.name == "calls of 32 bits" && !calls32() {
					t.Skip("skipped: this machine makes no calls of 32 bits")
				}
				s := newShimmed(t)
				s.user = user
				s.write("old", "before\n")
				s.write(".gitignore", "*.o\n")
				s.write("sub/g", "g\n")
				s.write("sub/deep/f", "f\n")
				s.write("../outside", "")
				out, status := s.run(slices.Clone(c.command)...)
				if status == 127 && user != os.Getuid() {
					t.Skip(out) // it is not for everybody
				}
				got := s.lines(journal.Post)
				ok := len(got) == len(c.want)
				for i := range min(len(got), len(c.want)) {
					ok = ok && (got[i] == c.want[i] || !strings.Contains(c.want[i], `"`) && strings.HasPrefix(got[i], c.want[i]))
				}
				if !ok {
					t.Errorf("got\n  %s\nwant\n  %s\n%s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "), out)
				}
			})
		}
	}
}

// Git writes files under other names, removes them first, and locks what it keeps.
func TestGitCheckoutChangesEveryFileOnce(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	s := newShimmed(t)
	const files = 40
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir, cmd.Env = s.root, append(cmd.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "one")
	for i := range files {
		s.write(fmt.Sprintf("d%d/f%d", i%5, i), fmt.Sprintf("one %d\n", i))
	}
	git("add", "-A")
	git("commit", "-qm", "one")
	git("checkout", "-q", "-b", "two")
	for i := range files {
		s.write(fmt.Sprintf("d%d/f%d", i%5, i), fmt.Sprintf("two %d\n", i))
	}
	git("commit", "-qam", "two")
	git("checkout", "-q", "one")
	if out, status := s.run("git", "checkout", "-q", "two"); status != 0 {
		t.Fatalf("exit status %d\n%s", status, out)
	}
	last := map[string]string{}
	for _, line := range s.lines(journal.Post) {
		words := strings.SplitN(line, " ", 3)
		if strings.HasPrefix(words[1], ".git") {
			t.Errorf("a file of git: %s", line)
		}
		last[words[1]] += words[0] + " " + words[2] + ";"
	}
	for i := range files {
		name := fmt.Sprintf("d%d/f%d", i%5, i)
		want := fmt.Sprintf("remove %q;write absent %q;", fmt.Sprintf("one %d\n", i), fmt.Sprintf("two %d\n", i))
		if last[name] != want {
			t.Errorf("%s: got %s, want %s", name, last[name], want)
		}
	}
}

func TestThreadsAreToldApart(t *testing.T) {
	t.Parallel()
	program, err := static()
	if err != nil {
		t.Fatal(err)
	}
	s := newShimmed(t)
	if out, status := s.run(program, "threads"); status != 0 {
		t.Fatalf("exit status %d\n%s", status, out)
	}
	got := s.lines(journal.Post)
	for i := range 20 {
		want := []string{fmt.Sprintf("write b%d absent \"one\\ntwo\\n\"", i), fmt.Sprintf("remove b%d \"one\\ntwo\\n\"", i)}
		var mine []string
		for _, line := range got {
			if words := strings.Fields(line); words[1] == fmt.Sprint("a", i) || words[1] == fmt.Sprint("b", i) {
				mine = append(mine, line)
			}
		}
		if !slices.Equal(mine, want) {
			t.Errorf("got\n  %s\nwant\n  %s", strings.Join(mine, "\n  "), strings.Join(want, "\n  "))
		}
	}
}

func TestWhatIsRefusedCannotHideChanges(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	if out, _ := s.run("HELPER", "helper", "uring"); out != "true\n" {
		t.Errorf("io_uring: %s", out)
	}
	s = newShimmed(t)
	s.write("f", "kept")
	if out, _ := s.run("HELPER", "helper", "handle", "f"); out != "true\n" {
		t.Errorf("open_by_handle_at: %s", out)
	}
}

// A file that stays open is recorded when it is closed, with all that was written to it, also
// if the end of the program closes it.
func TestAFileThatIsHeldOpenIsRecordedWhenItIsClosed(t *testing.T) {
	t.Parallel()
	for end, leave := range map[string]string{
		"close":             "exec 5>&-; echo closed; read line",
		"exit":              "exit 0",
		"the last one":      "exec 3<&0; sh -c 'read line <&3' & exec 5>&-; wait; echo closed; read line",
		"kill":              "kill -9 $$",
		"kill from outside": "echo kill me; read line; read line",
	} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			s := newShimmed(t)
			s.write("log", "old\n")
			s.write("other", "old\n")
			d := s.talk("exec 5>> log; echo one >&5; echo x > other; echo written; read line; echo two >&5; " + leave)
			d.expect("written")
			recorded := func(name string) bool {
				data, _ := os.ReadFile(filepath.Join(s.config.Journal, "events.jsonl"))
				return strings.Contains(string(data), `"phase":"post","op":"write","path":"`+filepath.Join(s.root, name)+`"`)
			}
			waitFor(t, func() bool { return recorded("other") }) // which came later
			if recorded("log") {
				t.Error("a file that is open is recorded")
			}
			d.enter()
			switch end {
			case "close":
				d.expect("closed")
				waitFor(t, func() bool { return recorded("log") })
				d.enter()
			case "the last one":
				d.enter()
				d.expect("closed")
				d.enter()
			case "kill from outside":
				d.expect("kill me")
				d.cmd.Process.Kill() // and the program with it
			}
			d.cmd.Wait()
			waitFor(t, func() bool { return recorded("log") })
			events := s.events()
			last := slices.IndexFunc(events, func(e journal.Event) bool { return e.Phase == journal.Post && strings.HasSuffix(e.Path, "log") })
			if got, want := s.lines(journal.Post), []string{`write other "old\n" "x\n"`, `write log "old\n" "old\none\ntwo\n"`}; !slices.Equal(got, want) || events[last].Inferred {
				t.Errorf("recorded %q, want %q; inferred: %v", got, want, events[last].Inferred)
			}
		})
	}
}

func TestTheOldContentIsKnownBefore(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.write("a", "one\n")
	s.run("sh", "-c", "echo two > a; rm a")
	if got, want := s.lines(journal.Pre), []string{`write a "one\n" -`, `remove a "two\n"`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLargeAndBinaryFilesAreHandled(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.run("sh", "-c", `printf '\377\000' > b; head -c 20000000 /dev/zero > l; rm b l`)
	want := []string{`write b absent "\xff\x00"`, `write l absent 20000000 bytes`, `remove b "\xff\x00"`, `remove l 20000000 bytes`}
	if got := s.lines(journal.Post); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
