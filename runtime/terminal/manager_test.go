//go:build unix

package terminal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/files"
)

func manager(t *testing.T, opts Options) *Manager {
	t.Helper()
	m := New(opts)
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func create(t *testing.T, m *Manager, command string, args ...string) acp.TerminalID {
	t.Helper()
	id, err := m.Create(t.Context(), Request{Command: command, Args: args})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func wait(t *testing.T, m *Manager, id acp.TerminalID) Status {
	t.Helper()
	ctx := patience.Context(t, patience.Soon)
	s, err := m.Wait(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func output(t *testing.T, m *Manager, id acp.TerminalID) (string, bool, *Status) {
	t.Helper()
	text, truncated, s, err := m.Output(id)
	if err != nil {
		t.Fatal(err)
	}
	return text, truncated, s
}

// waitFor polls until the output contains want.
func waitFor(t *testing.T, m *Manager, id acp.TerminalID, want string) string {
	t.Helper()
	var text string
	patience.True(t, fmt.Sprintf("output with %q", want), func() bool {
		text, _, _ = output(t, m, id)
		return strings.Contains(text, want)
	})
	return text
}

// alive reports whether a process exists and is not a zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func pidOf(t *testing.T, m *Manager, id acp.TerminalID) int {
	t.Helper()
	line, _, _ := strings.Cut(waitFor(t, m, id, "\n"), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func gone(t *testing.T, pid int) {
	t.Helper()
	patience.True(t, fmt.Sprintf("the end of process %d", pid), func() bool { return !alive(pid) })
}

// C127.
func TestOutputExitAndRelease(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script string
		want   string
		status Status
	}{
		{"echo out; echo err >&2; echo out", "out\nerr\nout\n", Status{}},
		{"printf hi; exit 3", "hi", Status{Code: 3}},
		{"true", "", Status{}},
		{"kill -KILL $$", "", Status{-1, "SIGKILL"}},
		{"kill -TERM $$", "", Status{-1, "SIGTERM"}},
		{"exit 255", "", Status{Code: 255}},
		{"cat", "", Status{}}, // no input, and no wait for any
		{"printf '\\377\\303('; printf '\\360\\237\\230'", "\ufffd(\ufffd", Status{}},
	} {
		m := manager(t, Options{})
		id := create(t, m, "sh", "-c", c.script)
		if s := wait(t, m, id); s != c.status {
			t.Errorf("%s: %+v, want %+v", c.script, s, c.status)
		}
		text, truncated, s := output(t, m, id)
		if text != c.want || truncated || s == nil || *s != c.status {
			t.Errorf("%s: %q, %v, %v", c.script, text, truncated, s)
		}
		if err := m.Release(id); err != nil {
			t.Error(err)
		}
		_, _, _, err := m.Output(id)
		_, err2 := m.Wait(t.Context(), id)
		for _, err := range []error{err, err2, m.Kill(t.Context(), id), m.Release(id)} { // TER04, TER11
			if !errors.Is(err, ErrUnknown) {
				t.Errorf("after release: %v", err)
			}
		}
	}
}

// TER18: a Manager is a session.
func TestTerminalsOfAnotherSessionAreUnknown(t *testing.T) {
	t.Parallel()
	a, b := manager(t, Options{}), manager(t, Options{})
	id := create(t, a, "sleep", "60")
	if err := b.Kill(t.Context(), id); !errors.Is(err, ErrUnknown) || !strings.HasPrefix(err.Error(), "terminal/kill "+string(id)+": ") {
		t.Error(err)
	}
}

// TER03.
func TestCreateDoesNotWaitForTheCommand(t *testing.T) {
	t.Parallel()
	m := manager(t, Options{})
	id := create(t, m, "sleep", "1000")
	if text, _, s := output(t, m, id); text != "" || s != nil {
		t.Errorf("%q, %v", text, s)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := m.Wait(ctx, id); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TER06, TER07, TER08, C128.
func TestOutputIsCutAtACharacterAndKeepsTheNewest(t *testing.T) {
	t.Parallel()
	const all = "aäb€c😀d"
	m := manager(t, Options{MaxOutput: 100})
	for limit := range uint64(len(all) + 3) {
		id, err := m.Create(t.Context(), Request{Command: "printf", Args: []string{"%s", all}, OutputLimit: acp.Some(limit)})
		if err != nil {
			t.Fatal(err)
		}
		wait(t, m, id)
		text, truncated, _ := output(t, m, id)
		if len(text) > int(limit) || !strings.HasSuffix(all, text) || !utf8.ValidString(text) || truncated != (text != all) {
			t.Errorf("limit %d: %q, truncated %v", limit, text, truncated)
		}
		if lost := int(limit) - len(text); limit < uint64(len(all)) && lost > 3 {
			t.Errorf("limit %d: only %d bytes kept", limit, len(text))
		}
		if err := m.Release(id); err != nil {
			t.Error(err)
		}
	}
	for _, ask := range []acp.Opt[uint64]{{}, acp.Some[uint64](1 << 62)} {
		id, err := m.Create(t.Context(), Request{Command: "sh", Args: []string{"-c", "i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done"}, OutputLimit: ask})
		if err != nil {
			t.Fatal(err)
		}
		wait(t, m, id)
		text, truncated, _ := output(t, m, id)
		if len(text) > 100 || len(text) < 97 || !truncated || !strings.HasSuffix(text, "line 499\n") {
			t.Errorf("%q, %v", text, truncated)
		}
	}
}

func TestAFloodIsBoundedAndEndsComplete(t *testing.T) {
	t.Parallel()
	m := manager(t, Options{})
	id := create(t, m, "sh", "-c", "head -c 20000000 /dev/zero | tr '\\0' x; echo end")
	if s := wait(t, m, id); s != (Status{}) {
		t.Error(s)
	}
	text, truncated, _ := output(t, m, id)
	if len(text) != DefaultMaxOutput || !truncated || !strings.HasSuffix(text, "xend\n") {
		t.Errorf("%d bytes, %v", len(text), truncated)
	}
}

// noticing is a context that counts who begins to wait for its end.
type noticing struct {
	context.Context
	waiting *atomic.Int32
}

func (c noticing) Done() <-chan struct{} {
	c.waiting.Add(1)
	return c.Context.Done()
}

func TestAnyNumberMayWait(t *testing.T) {
	t.Parallel()
	m := manager(t, Options{})
	id := create(t, m, "sh", "-c", "echo $$; exec sleep 60")
	pid := pidOf(t, m, id)
	var wg sync.WaitGroup
	var waiting atomic.Int32
	for range 10 {
		wg.Go(func() {
			if s, err := m.Wait(noticing{t.Context(), &waiting}, id); err != nil || s.Signal != "SIGTERM" {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	patience.True(t, "all wait", func() bool { return waiting.Load() == 10 })
	if err := m.Release(id); err != nil { // waiters are not disturbed by a release
		t.Error(err)
	}
	wg.Wait()
	gone(t, pid)
}

func TestKillEndsTheGroupAndKeepsTheOutput(t *testing.T) {
	t.Parallel()
	m := manager(t, Options{})
	// the shell ignores TERM, so that only KILL ends it; its child is in the group
	id := create(t, m, "sh", "-c", "trap '' TERM; sleep 60 & echo $!; wait; sleep 60")
	pid := pidOf(t, m, id)
	start := time.Now()
	if err := patience.Ends(t, "Kill", func() error { return m.Kill(t.Context(), id) }); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d < KillGrace {
		t.Errorf("took %v", d)
	}
	gone(t, pid)
	text, _, s := output(t, m, id)
	if s == nil || s.Signal != "SIGKILL" || strings.TrimSpace(text) != strconv.Itoa(pid) {
		t.Errorf("%q, %+v", text, s)
	}
	if err := m.Kill(t.Context(), id); err != nil {
		t.Errorf("a second kill: %v", err)
	}
	if s2 := wait(t, m, id); s2 != *s { // TER09, TER10
		t.Errorf("%+v, then %+v", s, s2)
	}
}

// A background child keeps the pipe open.
func TestWaitIsAboutTheCommandNotItsChildren(t *testing.T) {
	t.Parallel()
	m := manager(t, Options{})
	goOn := filepath.Join(t.TempDir(), "go")
	id := create(t, m, "sh", "-c", "(trap 'echo bye; exit' TERM; until [ -e "+goOn+" ]; do sleep 0.01; done; echo later; sleep 1000 & wait) & echo $!")
	if s := wait(t, m, id); s != (Status{}) {
		t.Errorf("%+v", s)
	}
	pid := pidOf(t, m, id)
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	waitFor(t, m, id, "later") // and goes on being recorded
	if err := m.Release(id); err != nil {
		t.Fatal(err)
	}
	gone(t, pid)
}

// C100, C129, TER05.
func TestCloseEndsEverything(t *testing.T) {
	t.Parallel()
	m := New(Options{})
	var pids []int
	for range 8 {
		id := create(t, m, "sh", "-c", "sleep 60 & echo $!; wait")
		pids = append(pids, pidOf(t, m, id))
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	for _, pid := range pids {
		gone(t, pid)
	}
	if _, err := m.Create(t.Context(), Request{Command: "true"}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

func TestTerminalsAreLimited(t *testing.T) {
	t.Parallel()
	m := manager(t, Options{MaxTerminals: 2})
	id := create(t, m, "true")
	create(t, m, "true")
	if _, err := m.Create(t.Context(), Request{Command: "true"}); !errors.Is(err, ErrTooMany) {
		t.Error(err)
	}
	if err := m.Release(id); err != nil {
		t.Error(err)
	}
	create(t, m, "true")
}

// A busy machine may not read for longer than the manager waits for a background
// child.
func TestTheEndIsNotReportedBeforeTheOutputIsRead(t *testing.T) {
	t.Parallel()
	m := manager(t, Options{})
	dir := t.TempDir()
	id := create(t, m, "sh", "-c", "cd "+dir+"; echo one; until [ -e go ]; do sleep 0.01; done; echo two")
	waitFor(t, m, id, "one\n")
	term, err := m.find("test", id)
	if err != nil {
		t.Fatal(err)
	}
	term.mu.Lock() // what is read now cannot be kept
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	patience.True(t, "the end of the command", func() bool { return !term.group.Alive() })
	time.Sleep(2 * pipeGrace)
	ended := isClosed(term.done)
	term.mu.Unlock()
	s := wait(t, m, id)
	if text, _, _, err := m.Output(id); ended || s.Code != 0 || text != "one\ntwo\n" || err != nil {
		t.Errorf("ended early: %t, %+v, %q, %v", ended, s, text, err)
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	m := manager(t, Options{MaxTerminals: 1000})
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			id, err := m.Create(t.Context(), Request{Command: "sh", Args: []string{"-c", fmt.Sprintf("echo %d; exit %d", i, i)}})
			if err != nil {
				t.Error(err)
				return
			}
			s, err := m.Wait(t.Context(), id)
			text, _, _, err2 := m.Output(id)
			if err != nil || err2 != nil || s.Code != i || text != fmt.Sprintf("%d\n", i) {
				t.Errorf("%d: %+v %q %v %v", i, s, text, err, err2)
			}
			if err := m.Release(id); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TER02, TER15.
func TestDirectoryMustLieInTheRoots(t *testing.T) {
	t.Parallel()
	root, out := t.TempDir(), t.TempDir()
	for _, err := range []error{os.Mkdir(root+"/sub", 0o755), os.WriteFile(root+"/f", nil, 0o644), os.Symlink(out, root+"/link"), os.Symlink("sub", root+"/in")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := files.Open([]string{root}, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	m := manager(t, Options{Workspace: w})
	for dir, want := range map[string]error{
		"": nil, root: nil, root + "/sub": nil, root + "/in": nil, out: files.ErrOutside, root + "/link": files.ErrOutside, "/": files.ErrOutside,
		"sub": files.ErrPath, root + "/..": files.ErrPath, root + "/none": fs.ErrNotExist, root + "/f": files.ErrNotDir, "\x00": files.ErrPath,
	} {
		id, err := m.Create(t.Context(), Request{Command: "pwd", Args: []string{"-P"}, Dir: dir})
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", dir, err, want)
		}
		if err == nil {
			wait(t, m, id)
			text, _, _ := output(t, m, id)
			loc, _ := w.ResolveDir(map[bool]string{true: root, false: dir}[dir == ""])
			if strings.TrimSpace(text) != loc.Real {
				t.Errorf("%q: ran in %q", dir, text)
			}
		}
	}
	loose := manager(t, Options{})
	for _, dir := range []string{"sub", root + "/none", root + "/f"} {
		if _, err := loose.Create(t.Context(), Request{Command: "pwd", Dir: dir}); err == nil {
			t.Errorf("ran in %q", dir)
		}
	}
}

// T13: what is approved is what runs.
func TestNothingRunsWithoutApproval(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	refused := errors.New("no")
	var seen *Command
	var answer error
	m := manager(t, Options{Approve: func(_ context.Context, c *Command) error { seen = c; return answer }})
	req := Request{Command: "touch f", Dir: dir, Env: []acp.EnvVariable{{Name: "A", Value: "b"}}}
	answer = refused
	if _, err := m.Create(t.Context(), req); !errors.Is(err, refused) {
		t.Error(err)
	}
	if !seen.Shell || seen.String() != "/bin/sh -c 'touch f'" || seen.Dir != dir || len(seen.Env) != 1 || seen.Env[0] != "A=b" {
		t.Errorf("%+v", seen)
	}
	if _, err := os.Stat(dir + "/f"); err == nil {
		t.Error("it ran")
	}
	answer = nil
	id, err := m.Create(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	wait(t, m, id)
	if _, err := os.Stat(dir + "/f"); err != nil {
		t.Error(err)
	}
}

// The reason of a refusal is visible, whatever the agent wrote before it.
func TestALongTextOfTheAgentDoesNotHideTheReason(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä ", 4000)
	refused := errors.New("no")
	m := manager(t, Options{Approve: func(context.Context, *Command) error { return refused }})
	for name, req := range map[string]Request{
		"arguments": {Command: "echo", Args: []string{long}},
		"line":      {Command: "echo " + long},
		"program":   {Command: long, Args: []string{"x"}},
		"folder":    {Command: "echo", Dir: long},
		"variable":  {Command: "echo", Env: []acp.EnvVariable{{Name: long}}},
		"argument":  {Command: "echo", Args: []string{long + "\x00"}},
	} {
		_, err := m.Create(t.Context(), req)
		if err == nil || len(err.Error()) > 2*maxShown || !utf8.ValidString(err.Error()) {
			t.Errorf("%s: %.500v", name, err)
		}
	}
}

func TestCloseWithdrawsOpenApprovals(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	m := New(Options{Approve: func(ctx context.Context, _ *Command) error { close(asked); <-ctx.Done(); return context.Cause(ctx) }})
	result := make(chan error, 1)
	go func() { _, err := m.Create(context.Background(), Request{Command: "true"}); result <- err }()
	<-asked
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if err := <-result; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestErrorsNameTheCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/plain", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := gobuild.Write(dir+"/garbage", "\x7fELFx"); err != nil {
		t.Fatal(err)
	}
	m := manager(t, Options{})
	for _, c := range []struct {
		req  Request
		is   error
		text string
	}{
		{Request{Command: ""}, ErrCommand, "terminal/create: not an acceptable command: it is empty"},
		{Request{Command: " \t"}, ErrCommand, ""},
		{Request{Command: "a\x00b"}, ErrCommand, ""},
		{Request{Command: "true", Args: []string{"a\x00b"}}, ErrCommand, ""},
		{Request{Command: "no-such-program"}, exec.ErrNotFound, "terminal/create: command no-such-program: executable file not found in $PATH"},
		{Request{Command: "/no/such"}, fs.ErrNotExist, "terminal/create: command /no/such: no such file or directory"},
		{Request{Command: "./plain", Dir: dir}, fs.ErrPermission, ""},
		{Request{Command: dir}, nil, "terminal/create: command " + dir + ": is a directory"},
		{Request{Command: "./garbage", Dir: dir}, syscall.ENOEXEC, ""},
		{Request{Command: "ls -l", Args: []string{"x"}}, exec.ErrNotFound, ""}, // with args never a shell
	} {
		_, err := m.Create(t.Context(), c.req)
		if err == nil || c.is != nil && !errors.Is(err, c.is) || c.text != "" && err.Error() != c.text {
			t.Errorf("%+v: %v", c.req, err)
		}
	}
}
