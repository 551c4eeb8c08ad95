//go:build amd64 || arm64

package shim_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// The exit status 125 promises that the program has not run, whenever the supervisor is
// killed.
func TestAProgramThatHasRunIsNotReportedAsNotStarted(t *testing.T) {
	t.Parallel()
	for i := range 100 {
		s := newShimmed(t)
		cmd := s.command("sh", "-c", "echo ran")
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		children := fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid)
		for running := true; running; {
			data, _ := os.ReadFile(children)
			if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil {
				for range i * 2000 { // a little later each time
					syscall.Getppid()
				}
				syscall.Kill(pid, syscall.SIGKILL)
				<-ended
				break
			}
			select {
			case <-ended:
				running = false
			default:
			}
		}
		if status := cmd.ProcessState.ExitCode(); status == 125 && strings.Contains(out.String(), "ran\n") {
			t.Errorf("try %d: status 125, and it printed\n%s", i, out.String())
		}
	}
}

// A supervisor without files, room or time would end the record without a word.
func TestTheLimitsOfTheShimAreItsOwn(t *testing.T) {
	t.Parallel()
	for _, gated := range []bool{false, true} {
		s := newShimmed(t)
		if gated {
			s.config.Gate = &shim.Gate{Allow: []string{s.root}}
		}
		out, status := s.run("sh", "-c", `echo old > f; $HELPER helper limit $PPID; $HELPER helper limit $(awk '/^PPid/ { print $2 }' /proc/$PPID/status); echo new > f`)
		if want := strings.Repeat("true true true <nil>\n", 2); out != want || status != 0 {
			t.Errorf("status %d\n%s", status, out)
		}
		if got := s.lines(journal.Post); len(got) != 2 {
			t.Errorf("recorded %q", got)
		}
		if !slices.ContainsFunc(s.events(), func(e journal.Event) bool {
			return e.Op == journal.Note && strings.Contains(e.Text, "limits of the shim")
		}) {
			t.Error("it is not noted")
		}
	}
}

func TestTooFewOpenFilesAreExplained(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	cmd := s.command("true")
	limited := exec.Command("sh", append([]string{"-c", `ulimit -n 64; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)...)
	limited.Dir, limited.Env = cmd.Dir, cmd.Env
	out, err := limited.CombinedOutput()
	if limited.ProcessState.ExitCode() != 125 || !strings.Contains(string(out), "the limit on open files is 64 (ulimit -n), and at least 256 are needed") {
		t.Errorf("%v: %s", err, out)
	}
}

// dialogue is a program in a shim that prints lines and waits for some. Its first
// line is the number of its supervisor, its parent.
type dialogue struct {
	*testing.T
	cmd        *exec.Cmd
	in         *os.File
	out        *bufio.Scanner
	supervisor int
}

func (s *shimmed) talk(script string) *dialogue {
	s.t.Helper()
	d := &dialogue{T: s.t, cmd: s.command("sh", "-c", "echo $PPID; "+script)}
	in, ours, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	d.in, d.cmd.Stdin = ours, in
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	in.Close()
	s.t.Cleanup(func() {
		ours.Close()
		d.cmd.Process.Kill()
		d.cmd.Wait()
	})
	d.out = bufio.NewScanner(out)
	if d.supervisor, err = strconv.Atoi(d.line()); err != nil {
		s.t.Fatal(err)
	}
	return d
}

func (d *dialogue) line() string {
	d.Helper()
	timer := time.AfterFunc(patience.Soon, func() { d.cmd.Process.Kill() })
	defer timer.Stop()
	if !d.out.Scan() {
		d.Fatal("it has ended: ", d.out.Err())
	}
	return d.out.Text()
}

func (d *dialogue) expect(line string) {
	d.Helper()
	if got := d.line(); got != line {
		d.Fatalf("it printed %q, want %q", got, line)
	}
}

func (d *dialogue) enter() {
	d.Helper()
	if _, err := d.in.WriteString("\n"); err != nil {
		d.Fatal(err)
	}
}

// signal sends a signal to the supervisor and waits until it is in that state.
func (d *dialogue) signal(s syscall.Signal, state string) {
	d.Helper()
	if err := syscall.Kill(d.supervisor, s); err != nil {
		d.Fatal(err)
	}
	waitFor(d.T, func() bool {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(d.supervisor) + "/stat")
		return err != nil || strings.Contains(string(data), ") "+state+" ")
	})
}

// A supervisor that does not come to its work delays changes, and nothing else.
func TestAStoppedSupervisorDelaysOnlyChanges(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.write("a", "old\n")
	d := s.talk("read line; cat a; ls /; echo looked; echo new > a; echo changed; exit 4")
	d.signal(syscall.SIGSTOP, "T")
	d.enter()
	d.expect("old")
	for d.line() != "looked" {
	}
	if data, err := os.ReadFile(filepath.Join(s.root, "a")); string(data) != "old\n" {
		t.Errorf("the file has %q, %v", data, err)
	}
	if err := syscall.Kill(d.supervisor, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	d.expect("changed")
	if d.cmd.Wait(); d.cmd.ProcessState.ExitCode() != 4 {
		t.Error(d.cmd.ProcessState)
	}
	if got, want := s.lines(journal.Pre, journal.Post), []string{`write a "old\n" -`, `write a "old\n" "new\n"`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Signals reach a supervisor at any moment: those by which Go's threads stop each other, and those
// that stop and continue it. A program gets each file that a gate opens for it all the same.
func TestASupervisorThatIsInterruptedOpensEachFile(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.config.Gate = &shim.Gate{Allow: []string{s.root}}
	d := s.talk("$HELPER helper again a end 2>&1; echo ended")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if line := d.line(); line != "ended" {
			t.Error(line)
		}
	}()
	for i := range soak.Of(t, 1_000_000, 10_000) {
		tasks, err := os.ReadDir("/proc/" + strconv.Itoa(d.supervisor) + "/task")
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks {
			tid, _ := strconv.Atoi(task.Name())
			unix.Tgkill(d.supervisor, tid, unix.SIGURG)
		}
		if i%100 == 0 {
			syscall.Kill(d.supervisor, syscall.SIGSTOP)
			syscall.Kill(d.supervisor, syscall.SIGCONT)
		}
		select {
		case <-ended:
			return
		default:
		}
	}
	s.write("end", "")
	patience.Value(t, "the end of the program", ended)
}

// The kernel forgets which files were closed if the supervisor does not ask for long.
func TestChangesAreFoundWhenTheKernelHasForgottenThem(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Fatal(err)
	}
	queue, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || queue > 100_000 {
		t.Skipf("too much for a test: %d, %v", queue, err)
	}
	s := newShimmed(t)
	d := s.talk("exec 5> late; echo open; read line; echo text >&5; exec 5>&-; echo closed; read line")
	d.expect("open")
	d.signal(syscall.SIGSTOP, "T")
	for i := range queue + queue/4 { // the supervisor may read a few before all of it stands still
		f, err := os.OpenFile(filepath.Join(s.root, "fill"+strconv.Itoa(i%2)), os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	d.enter()
	d.expect("closed")
	d.signal(syscall.SIGCONT, "S")
	d.enter()
	d.cmd.Wait()
	if got, want := s.lines(journal.Post), []string{`write late absent "text\n"`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if events := s.events(); !events[len(events)-1].Inferred {
		t.Errorf("nobody saw %+v", events[len(events)-1])
	}
}

// without runs a program in namespaces that a script prepares, and what the script
// prints at the end.
func (s *shimmed) without(before, after string, command ...string) (out string) {
	s.t.Helper()
	inner := s.command(command...)
	try := exec.Command("unshare", "-rm", "sh", "-c", before)
	try.Env = inner.Env
	if out, err := try.CombinedOutput(); err != nil {
		s.t.Skipf("no namespaces here: %s", out)
	}
	outer := exec.Command("unshare", append([]string{"-rm", "sh", "-c", before + ` && "$@"; echo status $?; ` + after, "sh"}, inner.Args...)...)
	outer.Dir, outer.Env = inner.Dir, inner.Env
	text, err := outer.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, text)
	}
	return string(text)
}

// A program that is only watched goes on, and so does the journal when there is room
// again. The gap is reported.
func TestAFullDiskDoesNotStopAProgram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		kept   string // is written before
	}{
		"for contents": {`head -c 150000 /dev/urandom > "$D/fill"; for i in 1 2 3; do head -c 100000 /dev/urandom > kept; done`, ""},
		"for events":   {`cat /dev/zero > "$D/fill"; for i in $(seq 60); do echo $i > kept; done`, "60\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShimmed(t)
			s.config.Settle = 1
			disk := filepath.Dir(s.config.Journal) + "/small"
			s.config.Journal = filepath.Join(disk, "journal")
			s.env = []string{"D=" + disk}
			out := s.without(`mkdir -p "$D" && mount -t tmpfs -o size=300k none "$D"`, `cat "$D/journal/events.jsonl"`, "sh", "-c",
				"exec 2> /dev/null; "+c.script+`; rm -f "$D/fill"; echo more > b; exit 5`)
			if data, err := os.ReadFile(filepath.Join(s.root, "kept")); string(data) != c.kept && len(data) != 100000 {
				t.Errorf("the program has written %d bytes, %v", len(data), err)
			}
			said, events, ended := strings.Cut(out, "status 5\n")
			if strings.Count(said, "the journal cannot be written") != 1 || !strings.Contains(said, "no space left") {
				t.Errorf("the front has said %q", said)
			}
			noted, seq := false, uint64(0)
			var last journal.Event
			for line := range strings.Lines(events) {
				var e journal.Event
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					t.Errorf("%v in %q", err, line)
				}
				noted = noted || e.Op == journal.Unseen && strings.Contains(e.Text, "no space left")
				if e.Phase == journal.Post {
					if seq++; e.Seq != seq {
						t.Errorf("number %d is %d", seq, e.Seq)
					}
					if e.Op != journal.Unseen {
						last = e
					}
				}
			}
			if !ended || !noted || last.Path != filepath.Join(s.root, "b") || last.After == nil || last.After.Hash.IsZero() {
				t.Error(out)
			}
		})
	}
}

// Where the kernel watches no further folder, files are looked at from time to time.
func TestFoldersThatAreNotWatchedAreLookedAt(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.write("one/a", "")
	s.write("two/a", "")
	s.write("three/a", "")
	out := s.without("echo 1 > /proc/sys/user/max_inotify_watches", "", "sh", "-c", "for d in one two three; do echo $d > $d/a; done; exit 5")
	got := s.lines(journal.Post)
	slices.Sort(got)
	if want := []string{`write one/a "" "one\n"`, `write three/a "" "three\n"`, `write two/a "" "two\n"`}; !slices.Equal(got, want) || out != "status 5\n" {
		t.Errorf("got %q, want %q\n%s", got, want, out)
	}
	if !slices.ContainsFunc(s.events(), func(e journal.Event) bool { return e.Op == journal.Note && strings.Contains(e.Text, "cannot watch") }) {
		t.Error("nobody was told")
	}
}

func TestWhatWasAnnouncedAndFailedIsTakenBack(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.write("full/f", "")
	s.run("sh", "-c", "rmdir full; mkdir full; rm none; ln full/f full")
	for _, phase := range []journal.Phase{journal.Pre, journal.Failed} {
		if got, want := s.lines(phase), []string{"rmdir full"}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", phase, got, want)
		}
	}
	if got := s.lines(journal.Post); got != nil {
		t.Errorf("got %q", got)
	}
}

// An editor that takes no reports, or goes away, does not delay the program.
func TestASilentEditorDelaysNothing(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	release := make(chan struct{})
	defer s.t.Cleanup(func() { close(release) }) // before the editor is stopped
	s.config.Settle = 1
	s.editor(func(feed.Report) error {
		<-release
		return errors.New("too late")
	})
	s.write("a", "")
	best, runs := time.Hour, 0
	for best > 8*time.Second && runs < 5 { // the machine may be busy
		start := time.Now()
		out, status := s.run("sh", "-c", "for i in 1 2 3 4 5 6 7 8; do echo $i > a; done; exit 5")
		if best = min(best, time.Since(start)); status != 5 {
			t.Fatalf("exit status %d\n%s", status, out)
		}
		runs++
	}
	if best > 8*time.Second {
		t.Errorf("took %v", best)
	}
	if got := s.lines(journal.Post); len(got) != 8*runs {
		t.Errorf("got %q", got)
	}
}

// In a report, a file that is no text has a size and a hash, and no content.
func TestReportsOfBinaryFilesHaveNoContent(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.config.Settle = 1
	reports := s.editor(nil)
	s.run("sh", "-c", `printf 'a\377' > binary; head -c 17000000 /dev/zero > large; echo x > "$(printf 'name\377')"`)
	waitFor(t, func() bool { return len(reports()) == 3 })
	for i, r := range reports() {
		switch after := r.After; {
		case i == 0 && (after.Text != nil || after.Hash.IsZero() || after.Size != 2),
			i == 1 && (after.Text != nil || !after.Hash.IsZero() || after.Size != 17000000),
			i == 2 && (!strings.HasSuffix(r.Path, "name�") || *after.Text != "x\n"):
			t.Errorf("report %d: %+v, after %+v", i, r, after)
		}
	}
}
