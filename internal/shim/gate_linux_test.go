//go:build amd64 || arm64

package shim_test

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

var swaps = flag.Int("swaps", 200, "how often a path is swapped below a gated open")

// editor listens at the socket of a shim.
func (s *shimmed) editor(answer func(feed.Report) error) (reports func() []feed.Report) {
	var mu sync.Mutex
	var list []feed.Report
	hear := func(_ context.Context, r feed.Report) error {
		mu.Lock()
		list = append(list, r)
		mu.Unlock()
		if answer == nil {
			return nil
		}
		return answer(r)
	}
	s.serve(&feed.Server{Handle: hear, Ask: hear})
	return func() []feed.Report {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(list)
	}
}

func (s *shimmed) serve(server *feed.Server) {
	s.t.Helper()
	if s.config.Socket == "" {
		s.config.Socket = filepath.Join(sockdir.New(s.t), "s")
	}
	l, err := feed.Listen(s.config.Socket)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l) }()
	s.t.Cleanup(func() {
		cancel()
		<-done
	})
}

// Ctrl-C ends a program that waits for an answer, and then nobody needs the answer.
func TestAQuestionOfAProgramThatIsKilledIsTakenBack(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.config.Gate, s.config.Agent, s.config.Session = &shim.Gate{Timeout: time.Hour}, "claude", "run"
	back := make(chan feed.Report, 1)
	mark := func(name string) {
		if err := os.WriteFile(filepath.Join(filepath.Dir(s.root), name), nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	s.serve(&feed.Server{
		Handle: func(context.Context, feed.Report) error { return nil },
		Ask: func(ctx context.Context, r feed.Report) error {
			mark("asked")
			<-ctx.Done()
			back <- r
			mark("back")
			return ctx.Err()
		},
	})
	// The end of the shim would take it back as well, so the shell outlives it.
	out, status := s.run("sh", "-c", `echo x > f & while [ ! -e ../asked ]; do sleep 0.05; done; kill -9 $!; wait
i=0; while [ ! -e ../back ] && [ $i -lt 600 ]; do i=$((i+1)); sleep 0.1; done; ls ../back`)
	if out != "../back\n" || status != 0 {
		t.Fatalf("exit status %d\n%s", status, out)
	}
	if r := <-back; r.Agent != "claude" || r.Author.Session != "run" || r.Phase != feed.Ask {
		t.Errorf("%+v", r)
	}
}

func TestOnlyWhatTheGateAllowsHappens(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.config.Gate = &shim.Gate{Allow: []string{filepath.Join(s.root, "free")}, Deny: []string{filepath.Join(s.root, "never"), filepath.Join(filepath.Dir(s.root), "outside")}}
	reports := s.editor(func(r feed.Report) error {
		if r.Phase == feed.Ask && (strings.HasPrefix(filepath.Base(r.Path), "no") || strings.HasPrefix(filepath.Base(r.From), "no")) {
			return errors.New("the user said no")
		}
		return nil
	})
	for _, name := range []string{"no", "no2", "yes", "free/f", "never/f", "sub/never", "../outside"} {
		s.write(name, "old\n")
	}
	script := `
try() { if eval "$1" 2> err; then echo "$1: done"; else echo "$1: $(sed 's/.*: //' err)"; fi; }
exec 2> /dev/null
cd "$PWD"
try 'echo new > yes'; try 'echo new > no'; try 'echo new >> no'; try 'rm no'; try 'mv no other'; try 'mv yes yes2'; try 'mv yes2 yes'; try 'mv yes no'; try 'ln no free/hard'
try 'echo new > free/f'; try 'echo new > never/f'; try 'rm never/f'; try 'mv never free/n'; try 'mv free/f never/g'; try 'ln never/f free/hard'
try 'ln -s ../never/f free/soft'; try 'echo new > free/soft'; try 'mkdir no3'; try 'mkdir free/d'; try 'rmdir free/d'
try 'truncate -s 1 no2'; try 'truncate -s 1 free/f'; try 'echo x > ../outside'; try 'echo x > ../else'; try 'echo x > /dev/null'; try 'umask 027; echo x > free/mode'; try 'ln -s x no4'; try 'mv . ../moved'; try 'chmod 600 no2'; try 'chmod 600 free/f'; try 'chmod 600 never/f'; try 'chmod 600 ../else'; try 'chmod 700 free'; try 'mkdir -m 700 ../dir'
stat -c %a free/mode free/f no2 ../else
`
	script = strings.ReplaceAll(script, "2> err", "2> ../err")
	script = strings.ReplaceAll(script, "' err)", "' ../err)")
	want := `
echo new > yes: done
echo new > no: Permission denied
echo new >> no: Permission denied
rm no: Permission denied
mv no other: Permission denied
mv yes yes2: done
mv yes2 yes: done
mv yes no: Permission denied
ln no free/hard: Permission denied
echo new > free/f: done
echo new > never/f: Permission denied
rm never/f: Permission denied
mv never free/n: Permission denied
mv free/f never/g: Permission denied
ln never/f free/hard: Permission denied
ln -s ../never/f free/soft: done
echo new > free/soft: Permission denied
mkdir no3: Permission denied
mkdir free/d: done
rmdir free/d: done
truncate -s 1 no2: Permission denied
truncate -s 1 free/f: done
echo x > ../outside: Permission denied
echo x > ../else: done
echo x > /dev/null: done
umask 027; echo x > free/mode: done
ln -s x no4: Permission denied
mv . ../moved: Permission denied
chmod 600 no2: Permission denied
chmod 600 free/f: done
chmod 600 never/f: Permission denied
chmod 600 ../else: done
chmod 700 free: done
mkdir -m 700 ../dir: done
640
600
644
600
`
	out, status := s.run("sh", "-c", script)
	if out != want[1:] || status != 0 {
		t.Errorf("exit status %d, got\n%s", status, out)
	}
	done := []string{`write yes "old\n" "new\n"`, `rename yes yes2`, `rename yes2 yes`, `write free/f "old\n" "new\n"`, `symlink free/soft absent ->../never/f`,
		`mkdir free/d`, `rmdir free/d`, `write free/f "new\n" "n"`, `write free/mode absent "x\n"`, `chmod free/f "n" 644 "n" 600`, `chmod free dir  dir `}
	if got := s.lines(journal.Post); !slices.Equal(got, done) {
		t.Errorf("got\n  %s", strings.Join(got, "\n  "))
	}
	// The editor is asked before the change, and has the old content. Paths in the
	// lists and paths outside are not asked about.
	for _, r := range reports() {
		if r.Phase != feed.Ask {
			continue
		}
		name, err := filepath.Rel(s.root, r.Path)
		if err != nil || strings.HasPrefix(name, ".") || r.Kind != feed.Rename && strings.HasPrefix(name, "free/f") || strings.HasPrefix(name, "never") {
			t.Errorf("asked about %s", name)
		}
		if name == "yes" && r.Kind == feed.Write && (r.Before == nil || r.Before.Text == nil || *r.Before.Text != "old\n") {
			t.Errorf("before %s: %+v", name, r.Before)
		}
	}
}

func TestAListedFolderSaysNothingAboutOneThatBeginsAlike(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.config.Gate = &shim.Gate{Allow: []string{filepath.Join(s.root, "free")}, Deny: []string{filepath.Join(s.root, "never")}}
	reports := s.editor(func(feed.Report) error { return nil })
	for _, name := range []string{"free/f", "freed/f", "never/f", "nevertheless/f"} {
		s.write(name, "old\n")
	}
	s.run("sh", "-c", "for f in */f; do echo new > $f; done 2> /dev/null")
	var asked []string
	for _, r := range reports() {
		if r.Phase == feed.Ask {
			name, _ := filepath.Rel(s.root, r.Path)
			asked = append(asked, name)
		}
	}
	if want := []string{"freed/f", "nevertheless/f"}; !slices.Equal(slices.Compact(asked), want) {
		t.Errorf("asked about %q, not %q", asked, want)
	}
	if got, want := s.lines(journal.Post), []string{`write free/f "old\n" "new\n"`, `write freed/f "old\n" "new\n"`, `write nevertheless/f "old\n" "new\n"`}; !slices.Equal(got, want) {
		t.Errorf("changed %q", got)
	}
}

// No gate stops what the editor or the terminal does for a program, so a program in a
// gate does not get the variables that lead to them.
func TestAGateDoesNotNameProgramsOutside(t *testing.T) {
	t.Parallel()
	for _, gated := range []bool{false, true} {
		s := newShimmed(t)
		if gated {
			s.config.Gate = &shim.Gate{}
		}
		s.env = []string{"NVIM=door", "NVIM_LISTEN_ADDRESS=door", "TMUX=door", "STY=door", "KITTY_LISTEN_ON=door", "WEZTERM_UNIX_SOCKET=door", "VSCODE_IPC_HOOK_CLI=door", "DBUS_SESSION_BUS_ADDRESS=door", "TERM=xterm", "MINE=here"}
		out, _ := s.run("env")
		want := 8
		if gated {
			want = 0
		}
		if strings.Count(out, "=door") != want || !strings.Contains(out, "MINE=here") || !strings.Contains(out, "TERM=xterm") {
			t.Errorf("gate %v:\n%s", gated, out)
		}
	}
}

// A gate that nobody answers, or not in time, or whose editor has gone, denies.
func TestAGateWithoutAnAnswerDenies(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(s *shimmed){
		"no editor": func(s *shimmed) { s.config.Socket = filepath.Join(s.root, "none") },
		"no socket": func(s *shimmed) {},
		"a slow editor": func(s *shimmed) {
			s.config.Gate.Timeout = 100 * time.Millisecond
			slow := make(chan struct{})
			defer s.t.Cleanup(func() { close(slow) }) // before the editor is stopped
			s.editor(func(feed.Report) error {
				<-slow
				return nil
			})
		},
		"a socket that is none": func(s *shimmed) {
			s.write("none", "")
			s.config.Socket = filepath.Join(s.root, "none")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShimmed(t)
			s.config.Gate = &shim.Gate{}
			prepare(s)
			s.write("a", "old")
			out, status := s.run("sh", "-c", "echo new > a; rm a; exit 3")
			if data, err := os.ReadFile(filepath.Join(s.root, "a")); err != nil || string(data) != "old" || status != 3 {
				t.Errorf("the file has %q, %v; exit status %d\n%s", data, err, status, out)
			}
			if got, want := s.lines(journal.Denied), []string{`write a "old" -`, `remove a "old"`}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// Between the question and the open, the path may lead elsewhere.
func TestASwappedPathDoesNotGetThroughAGate(t *testing.T) {
	t.Parallel()
	program, err := static()
	if err != nil {
		t.Fatal(err)
	}
	s := newShimmed(t)
	s.config.Gate = &shim.Gate{Allow: []string{filepath.Join(s.root, "free"), filepath.Join(s.root, "way")}, Deny: []string{filepath.Join(s.root, "never")}}
	s.write("free/f", "")
	s.write("never/f", "kept")
	// Two links of the same name: one leads to a file that may be written.
	for i, to := range []string{"free", "never"} {
		if err := os.Symlink(to, filepath.Join(s.root, "way"+strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	stop := s.swap(filepath.Join(s.root, "way0"), filepath.Join(s.root, "way1"))
	out, status := s.run(program, "race", strconv.Itoa(*swaps), "way0/f", "free/f", "never/f")
	count := stop()
	if status != 0 {
		t.Fatalf("exit status %d\n%s", status, out)
	}
	if data, _ := os.ReadFile(filepath.Join(s.root, "never/f")); string(data) != "kept" {
		t.Errorf("the denied file has %q", data)
	}
	if data, _ := os.ReadFile(filepath.Join(s.root, "free/f")); len(data) == 0 {
		t.Error("nothing was written at all")
	}
	if count < *swaps {
		t.Errorf("only %d swaps", count)
	}
	t.Logf("%d swaps, %s", count, out)
}

// A call that a gate lets through is made with the rights of the caller.
func TestAGateGivesNobodyRights(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("there are no rights to give")
	}
	if _, err := exec.LookPath("setpriv"); err != nil {
		t.Skip(err)
	}
	s := newShimmed(t)
	s.config.Gate = &shim.Gate{Allow: []string{s.root}}
	for dir := filepath.Dir(s.root); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		os.Chmod(dir, 0o755)
	}
	s.write("mine", "kept\n")
	if err := os.Mkdir(filepath.Join(s.root, "free"), 0o777); err != nil {
		t.Fatal(err)
	}
	os.Chmod(filepath.Join(s.root, "free"), 0o777)
	out, _ := s.run("sh", "-c", `exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'echo x > mine; rm mine; mv mine free/m; echo y > free/f; mkdir free/d; stat -c "%u %g" free/f free/d'; true`)
	if data, err := os.ReadFile(filepath.Join(s.root, "mine")); string(data) != "kept\n" {
		t.Errorf("the file of another user: %q, %v\n%s", data, err, out)
	}
	if !strings.HasSuffix(out, "65534 65534\n65534 65534\n") || strings.Count(out, "ermission denied") != 3 {
		t.Error(out)
	}
}

// Nothing changes whose old content cannot be kept.
func TestAGateIsClosedWhileTheDiskIsFull(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	disk := s.config.Journal
	s.config.Journal = filepath.Join(disk, "journal")
	s.config.Gate = &shim.Gate{Allow: []string{s.root}}
	s.write("a", strings.Repeat("old", 100_000))
	s.write("b", "old")
	inner := s.command("sh", "-c", `rm -f first; i=0; while test $i -lt 50; do echo x 2> /dev/null >> a; sleep 0.02; echo new 2> /dev/null > b || break; i=$((i+1)); done; test $i -lt 50 && echo closed`)
	script := "mkdir -p " + disk + " && mount -t tmpfs -o size=200k none " + disk + " && exec \"$@\""
	outer := exec.Command("unshare", append([]string{"-rm", "sh", "-c", script, "sh"}, inner.Args...)...)
	outer.Dir, outer.Env = inner.Dir, inner.Env
	if out, err := exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt").CombinedOutput(); err != nil {
		t.Skipf("no small disk here: %s", out)
	}
	out, err := outer.CombinedOutput()
	if !strings.Contains(string(out), "closed") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Nothing changes that the journal cannot name, wherever the disk ends: in a content,
// in the list of events, or in a folder.
func TestWhatAGateLetsChangeIsKeptWhenTheDiskIsFull(t *testing.T) {
	t.Parallel()
	for size := 64; size < 128; size += 8 {
		t.Run(fmt.Sprint(size, "k"), func(t *testing.T) { fillDisk(t, size) })
	}
}

// fillDisk runs a program that changes files until a disk of so many KiB is full.
func fillDisk(t *testing.T, size int) {
	s := newShimmed(t)
	folder := s.config.Journal
	disk, copied := filepath.Dir(folder)+"/small", filepath.Dir(folder)+"/copy"
	s.config.Journal = filepath.Join(disk, "journal")
	s.config.Gate = &shim.Gate{Allow: []string{s.root}}
	for i := range 40 {
		text := make([]byte, 3000) // that cannot be made smaller
		rand.Read(text)
		s.write(fmt.Sprint("f", i), string(text))
	}
	s.env = []string{"D=" + disk, "COPY=" + copied}
	out := s.without(fmt.Sprintf(`mkdir -p "$D" && mount -t tmpfs -o size=%dk none "$D"`, size), `cp -r "$D/journal" "$COPY"`,
		"sh", "-c", `for i in $(seq 0 39); do echo new > f$i; done 2> /dev/null`)
	r, err := journal.Open(copied)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	kept := make(map[string]bool)
	for e, err := r.Next(); err == nil; e, err = r.Next() {
		if e.Before != nil {
			if _, err := r.Content(e.Before.Hash); err == nil {
				kept[filepath.Base(e.Path)] = true
			}
		}
	}
	changed := 0
	for i := range 40 {
		name := fmt.Sprint("f", i)
		data, err := os.ReadFile(filepath.Join(s.root, name))
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > 4 {
			continue
		}
		if changed++; !kept[name] {
			t.Errorf("%s has changed, and what it was is lost", name)
		}
	}
	if changed == 0 || changed == 40 || !strings.Contains(out, "the journal cannot be written") {
		t.Errorf("%d files have changed\n%s", changed, out)
	}
}

// Flags that are in memory cannot be judged, so such a call does not exist.
func TestAGateHasNoOpenWhoseFlagsAreInMemory(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.config.Gate = &shim.Gate{}
	s.write("a", "old")
	if out, _ := s.run("HELPER", "helper", "openat2", "a"); out != "true\n" {
		t.Error(out)
	}
}

// Without its supervisor a program cannot change files, and can be left.
func TestAKilledSupervisorLetsNothingThrough(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	cmd := s.command("sh", "-c", "echo started; read line; echo new > a; cat p; exit 4")
	s.write("p", "readable\n")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	n, err := out.Read(buf)
	if string(buf[:n]) != "started\n" {
		t.Fatalf("%q, %v", buf[:n], err)
	}
	children, err := exec.Command("pgrep", "-P", strconv.Itoa(cmd.Process.Pid)).Output()
	if err != nil {
		t.Fatal(err)
	}
	supervisor, err := strconv.Atoi(strings.TrimSpace(string(children)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(supervisor, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(supervisor) + "/stat")
		return err != nil || strings.Contains(string(data), ") Z ")
	})
	in.Write([]byte("\n"))
	n, _ = out.Read(buf)
	if string(buf[:n]) != "readable\n" {
		t.Errorf("it printed %q", buf[:n])
	}
	cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != 4 {
		t.Errorf("exit status %d", status)
	}
	if _, err := os.Stat(filepath.Join(s.root, "a")); err == nil {
		t.Error("it has changed a file")
	}
}

// Nobody but root looks into the supervisor, in any mode, and no program in a gate leaves its
// memory in the project when it crashes.
func TestASupervisorIsClosedAndAProgramDumpsNothing(t *testing.T) {
	t.Parallel()
	user := users()[len(users())-1]
	if user == 0 {
		t.Skip("root looks into every process")
	}
	for _, gated := range []bool{false, true} {
		s := newShimmed(t)
		s.user = user
		if gated {
			s.config.Gate = &shim.Gate{Allow: []string{s.root}}
		}
		out, status := s.run("sh", "-c", `ulimit -c unlimited; ulimit -c; cat /proc/$PPID/environ > /dev/null`)
		dumps := strings.HasPrefix(out, "0\n") || strings.Contains(out, "\n0\n")
		if dumps != gated || status == 0 || !strings.Contains(out, "environ: Permission denied") {
			t.Errorf("gate %v: exit status %d\n%s", gated, status, out)
		}
	}
}
