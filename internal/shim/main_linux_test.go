//go:build amd64 || arm64

package shim_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
)

// The test program is also the shim, and programs that run in it.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		// os.Exit takes a second with the race detector.
		case "shim-child":
			syscall.Exit(shim.Child(os.Args[2:]))
		case "shim":
			syscall.Exit(front(os.Args[2], os.Args[3:]))
		case "helper":
			syscall.Exit(helper(os.Args[2:]))
		}
	}
	// The tests compare the modes and messages of the programs.
	syscall.Umask(0o022)
	os.Setenv("LC_ALL", "C")
	status := m.Run()
	for _, dir := range made.dirs {
		os.RemoveAll(dir)
	}
	os.Exit(status)
}

func front(config string, command []string) int {
	var c shim.Config
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 125
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 127
	}
	run := func() (int, error) { return shim.Run(c, []string{"/proc/self/exe", "shim-child"}, path, command) }
	if os.Getenv("SHIM_PORTABLE") != "" {
		run = func() (int, error) { return shim.Portable(c, path, command) }
	}
	status, err := run()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 125
	case status < 0:
		shim.Die(syscall.Signal(-status))
	}
	return status
}

// static is a program that does not use the C library.
var static = sync.OnceValues(func() (string, error) {
	dir, err := readableDir()
	if err != nil {
		return "", err
	}
	program, err := gobuild.Program(dir, "internal/shim/testdata/static")
	if err != nil {
		return "", err
	}
	return readableCopy(program)
})

// calls32 reports whether this machine makes calls of 32 bits. On some virtual ones they are a
// fault, whatever their kernel says.
var calls32 = sync.OnceValue(func() bool {
	program, err := static()
	const getpid = "20"
	return err == nil && exec.Command(program, "calls", "32", getpid).Run() == nil
})

// readable is a copy of the test program.
var readable = sync.OnceValues(func() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return readableCopy(self)
})

// readableCopy copies a program for users who may not read the original.
func readableCopy(program string) (string, error) {
	data, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	dir, err := readableDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "copy")
	return path, gobuild.Write(path, string(data))
}

// readableDir makes a folder that is removed after the tests.
func readableDir() (string, error) {
	dir, err := os.MkdirTemp("", "shim-")
	if err != nil {
		return "", err
	}
	made.Lock()
	made.dirs = append(made.dirs, dir)
	made.Unlock()
	return dir, os.Chmod(dir, 0o755)
}

var made struct {
	sync.Mutex
	dirs []string
}

// users are those who run the programs of a test: this one, and another one if this
// is root.
func users() []int {
	if user := os.Getuid(); user != 0 {
		return []int{user}
	}
	return []int{0, 65534}
}

// shimmed is a program in a shim, in a project.
type shimmed struct {
	t      *testing.T
	root   string
	config shim.Config
	env    []string
	user   int // who runs the program
}

func newShimmed(t *testing.T) *shimmed {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.Chmod(base, 0o700) // it has a socket in it
	}
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(base, "p")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return &shimmed{t: t, root: root, config: shim.Config{Root: root, Journal: filepath.Join(base, "journal"), Settle: time.Minute}, user: os.Getuid()}
}

// give gives the project to the user who runs the program.
func (s *shimmed) give() {
	s.t.Helper()
	base := filepath.Dir(s.root)
	for dir := filepath.Dir(base); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		os.Chmod(dir, 0o755)
	}
	err := filepath.WalkDir(base, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, s.user, s.user))
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *shimmed) command(command ...string) *exec.Cmd {
	s.t.Helper()
	config, err := json.Marshal(s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	self, err := os.Executable()
	if s.user != os.Getuid() {
		self, err = readable()
		s.give()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	for i, word := range command {
		if word == "HELPER" {
			command[i] = self
		}
	}
	// Patterns of git that may have been written after the start decide nothing.
	coarse := func() time.Time {
		var t unix.Timespec
		unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t)
		return time.Unix(t.Unix())
	}
	now := coarse()
	patience.True(s.t, "a tick of the clock of files", func() bool { return coarse().After(now) })
	cmd := exec.Command(self, append([]string{"shim", string(config)}, command...)...)
	cmd.Dir, cmd.Env = s.root, append(append(os.Environ(), "HELPER="+self, "GIT_CONFIG_GLOBAL=/dev/null", "PYTHONDONTWRITEBYTECODE=1"), s.env...)
	if s.user != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(s.user), Gid: uint32(s.user)}}
	}
	return cmd
}

// run runs a program to its end and returns what it printed.
func (s *shimmed) run(command ...string) (out string, status int) {
	s.t.Helper()
	cmd := s.command(command...)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	timer := time.AfterFunc(patience.Soon, func() { cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	if w := cmd.ProcessState.Sys().(syscall.WaitStatus); w.Signaled() {
		return b.String(), -int(w.Signal())
	}
	if len(s.env) == 0 && strings.Contains(b.String(), shim.ErrUnavailable.Error()) && !strings.Contains(b.String(), "supervises this one already") {
		if os.Getenv("CI") != "" {
			s.t.Fatal(b.String())
		}
		s.t.Skip(b.String())
	}
	return b.String(), cmd.ProcessState.ExitCode()
}

func (s *shimmed) events() (list []journal.Event) {
	s.t.Helper()
	r, err := journal.Open(s.config.Journal)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Close()
	for {
		e, err := r.Next()
		if err == io.EOF {
			return list
		} else if err != nil {
			s.t.Fatal(err)
		}
		list = append(list, e)
	}
}

// lines are the events of some phases, one line each, with the contents.
func (s *shimmed) lines(phases ...journal.Phase) (list []string) {
	s.t.Helper()
	in, err := journal.Open(s.config.Journal)
	if err != nil {
		s.t.Fatal(err)
	}
	defer in.Close()
	text := func(v *journal.Version) string {
		switch {
		case v == nil:
			return "-"
		case v.Absent:
			return "absent"
		case v.Dir:
			return "dir"
		case v.Link != "":
			return "->" + v.Link
		case v.Hash.IsZero():
			return fmt.Sprint(v.Size, " bytes")
		}
		data, err := in.Content(v.Hash)
		if err != nil {
			s.t.Errorf("content is lost: %v", err)
		}
		return fmt.Sprintf("%q", data)
	}
	name := func(path string) string { return strings.TrimPrefix(path, s.root+"/") }
	seq := uint64(0)
	for _, e := range s.events() {
		if e.Seq != 0 {
			if seq++; e.Seq != seq {
				s.t.Errorf("sequence number %d, want %d", e.Seq, seq)
			}
		}
		if !slices.Contains(phases, e.Phase) {
			continue
		}
		line := string(e.Op) + " "
		if e.From != "" {
			line += name(e.From) + " "
		}
		line += name(e.Path)
		if e.Op == journal.Write || e.Op == journal.Remove || e.Op == journal.Symlink {
			line += " " + text(e.Before)
		}
		if e.Op == journal.Write || e.Op == journal.Symlink {
			line += " " + text(e.After)
		}
		if e.Op == journal.Chmod {
			line += fmt.Sprint(" ", text(e.Before), " ", e.Before.Mode, " ", text(e.After), " ", e.After.Mode)
		}
		list = append(list, line)
	}
	return list
}

func (s *shimmed) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}
