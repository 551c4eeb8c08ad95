//go:build unix

package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
)

// The test binary plays another program when this variable names one.
const programEnv = "HERMES_STORE_PROGRAM"

func TestMain(m *testing.M) {
	if what, dir, ok := strings.Cut(os.Getenv(programEnv), ":"); ok {
		if err := programs[what](dir); err != nil {
			fmt.Println(err)
		}
		os.Exit(0)
	}
	os.Exit(leak.Main(m))
}

// programs are what the test binary plays. Each gets a directory, and prints what
// goes wrong.
var programs = map[string]func(dir string) error{
	"write":      writeUntilKilled,
	"hold":       holdUntilKilled,
	"size limit": writeBeyondSizeLimit,
}

func holdUntilKilled(dir string) error {
	if _, err := Open(dir, Options{Program: "other"}); err != nil {
		return err
	}
	fmt.Println("holds")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// start runs the test binary as another program.
func start(t *testing.T, what, dir string, with func(*exec.Cmd)) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	c := exec.Command(exe)
	c.Env = append(os.Environ(), programEnv+"="+what+":"+dir, "GORACE=atexit_sleep_ms=0")
	c.Stderr = os.Stderr
	if with != nil {
		with(c)
	}
	if c.Stdin == nil {
		in, err := c.StdinPipe() // ends with this process
		must(t, err)
		t.Cleanup(func() { in.Close() })
	}
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	return c, bufio.NewReader(out)
}

// writeUntilKilled puts blobs, appends records that name them, compacts, and
// says what is done.
func writeUntilKilled(dir string) error {
	s, err := Open(dir, Options{Delay: 5 * time.Millisecond})
	if err != nil {
		return err
	}
	var all []string
	n := 0
	for r, err := range s.Records() {
		if err != nil {
			return err
		}
		all = append(all, string(r))
		n, _ = strconv.Atoi(strings.Fields(string(r))[0])
	}
	out := bufio.NewWriter(os.Stdout)
	for {
		n++
		h, err := s.Put(fmt.Appendf(nil, "%d %s", n, strings.Repeat("text", n%7*3000)))
		if err != nil {
			return err
		}
		record := fmt.Sprintf("%d %s", n, h)
		if err := s.Append([]byte(record)); err != nil {
			return err
		}
		all = append(all, record)
		if len(all) >= 20 {
			all = all[len(all)-5:]
			if err := s.Compact(seq(all...)); err != nil {
				return err
			}
			if _, err := s.Prune(func(yield func(Hash) bool) {
				for _, r := range all {
					h, _ := ParseHash(strings.Fields(r)[1])
					if !yield(h) {
						return
					}
				}
			}, 0); err != nil {
				return err
			}
		}
		fmt.Fprintln(out, n)
		out.Flush()
	}
}

// A real program is killed at a random moment, many times on one store.
func TestAKilledProgramLosesNothingItHasWritten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	last := 0
	for round := range 40 {
		c, out := start(t, "write", dir, nil)
		told := 0
		for told < 3+round*7%50 {
			line, err := out.ReadString('\n')
			n, bad := strconv.Atoi(strings.TrimSpace(line))
			if err != nil || bad != nil {
				t.Fatalf("round %d: %q, %v", round, line, err)
			}
			told, last = told+1, n
		}
		time.Sleep(time.Duration(round%10) * 100 * time.Microsecond)
		must(t, c.Process.Kill())
		rest, _ := io.ReadAll(out)
		c.Wait()
		if lines := strings.Fields(string(rest)); len(lines) > 0 {
			last, _ = strconv.Atoi(lines[len(lines)-1])
		}
		s := open(t, dir, Options{ReadOnly: round%2 == 0})
		if r := s.Recovered(); r != nil && !errors.Is(r.Reason, errTorn) {
			t.Errorf("round %d: %+v", round, r)
		}
		got := records(t, s)
		if len(got) < min(5, last) || len(got) > 21 {
			t.Fatalf("round %d: %d records", round, len(got))
		}
		for i, r := range got {
			number, name, _ := strings.Cut(r, " ")
			n, err := strconv.Atoi(number)
			if want := last - len(got) + 1 + i; err != nil || n != want && n != want+1 {
				t.Fatalf("round %d: %s, want %d", round, r, want)
			}
			h, err := ParseHash(name)
			must(t, err)
			if data, err := s.Get(h); err != nil || !strings.HasPrefix(string(data), number+" ") {
				t.Errorf("round %d: %v", round, err)
			}
		}
		must(t, s.Close())
	}
}

func TestAnotherProgramIsNamedAndItsEndFreesTheStore(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	c, out := start(t, "hold", dir, nil)
	if line, err := out.ReadString('\n'); line != "holds\n" {
		t.Fatal(line, err)
	}
	_, err := Open(dir, Options{})
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != c.Process.Pid || locked.Program != "other" {
		t.Fatalf("%v, %+v", err, locked)
	}
	if host, _ := os.Hostname(); locked.Host != host {
		t.Errorf("%+v", locked)
	}
	reading := open(t, dir, Options{ReadOnly: true})
	if got := records(t, reading); len(got) != 0 {
		t.Error(got)
	}
	must(t, c.Process.Kill())
	c.Wait()
	patience.True(t, "the lock ends with the program that has it", func() bool {
		s, err := Open(dir, Options{})
		if err == nil {
			must(t, s.Close())
		}
		return err == nil
	})
}

// A store whose directory another user may write, or owns, is not used.
func TestADirectoryOfOthersIsNotUsed(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(dir string) error{
		"file":              func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"writable by group": func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o770)) },
		"of another user": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, 54321, -1))
		},
	} {
		dir := filepath.Join(t.TempDir(), "store")
		if err := make(dir); errors.Is(err, syscall.EPERM) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, Options{})
		var e *Error
		if s != nil || !errors.As(err, &e) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "journal")); err == nil {
			t.Errorf("%s: used", name)
		}
	}
}

// Bytes in a file without a name would be lost silently.
func TestAStoreThatWasRemovedSaysSo(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir, Options{})
	must(t, s.Append([]byte("one")))
	must(t, s.Sync())
	must(t, os.RemoveAll(dir))
	other := open(t, dir, Options{})
	must(t, other.Append([]byte("of the other")))
	s.Append([]byte("two"))
	for what, err := range map[string]error{"Sync": s.Sync(), "Compact": s.Compact(seq("one")), "Append": s.Append(nil), "Close": s.Close()} {
		if !errors.Is(err, ErrRemoved) || !strings.Contains(err.Error(), "restart") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := records(t, other); !slices.Equal(got, []string{"of the other"}) {
		t.Errorf("%q", got)
	}
	must(t, other.Sync())
}

func TestASizeLimitLeavesTheOldState(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	_, out := start(t, "size limit", dir, nil)
	said, err := io.ReadAll(out)
	if err != nil || string(said) != "" {
		t.Fatalf("%s%v", said, err)
	}
	s := open(t, dir, Options{})
	if got := records(t, s); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("%d records", len(got))
	}
}

func writeBeyondSizeLimit(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	return fill(dir, syscall.EFBIG)
}

// fill writes more than fits, and then what fits again. It returns what went
// wrong.
func fill(dir string, cause error) error {
	s, err := Open(dir, Options{Delay: time.Hour})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Append([]byte("one")); err != nil {
		return err
	}
	h, err := s.Put([]byte("small"))
	if err != nil {
		return err
	}
	big := []byte(strings.Repeat("big ", 300_000))
	_, blob := s.Put(big)
	for what, err := range map[string]error{
		"append": s.Append(big), "put": blob, "save": s.Save("index", big),
		"compact": s.Compact(func(yield func([]byte) bool) { yield(big) }),
	} {
		var e *Error
		if !errors.Is(err, cause) || !errors.As(err, &e) || e.Advice() == "" {
			return fmt.Errorf("%s: %v, want %v", what, err, cause)
		}
	}
	if s.Has(HashOf(big)) || s.Cache("index") != nil {
		return errors.New("a part is there")
	}
	if err := s.Append([]byte("two")); err != nil {
		return err
	}
	if data, err := s.Get(h); err != nil || string(data) != "small" {
		return fmt.Errorf("%q, %v", data, err)
	}
	return s.Sync()
}
