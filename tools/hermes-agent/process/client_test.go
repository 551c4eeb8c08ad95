//go:build unix

package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/services"
)

func TestOnlyLinesThatNeedAShellGetOne(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"ls -l src/a.go":     {"ls", "-l", "src/a.go"},
		"  ls  ":             {"ls"},
		"env A=1 ls":         {"env", "A=1", "ls"},
		"cd src":             nil,
		"A=1 ls":             nil,
		"ls *.go":            nil,
		"ls ~/x":             nil,
		"ls $HOME":           nil,
		"ls 'a b'":           nil,
		"ls | wc":            nil,
		"ls\nls":             nil,
		"ls # all":           nil,
		"no-such-program":    nil,
		"# only a comment":   nil,
		"ls \u2013l":         nil,
		"./no-such-script x": nil,
	} {
		if want == nil {
			want = append(shell(), line)
		}
		if got := Vector(line); !slices.Equal(got, want) {
			t.Errorf("%q runs %q, want %q", line, got, want)
		}
	}
}

func TestWhatWasSeenIsFoundInWhatTheClientKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ seen, now, news string }{
		{"", "", ""}, {"", "a\n", "a\n"}, {"a\n", "a\n", ""}, {"a\n", "a\nb\n", "b\n"}, {"a\n", "", ""},
		{"a\nb\nc\n", "b\nc\nd\n", "d\n"},          // the beginning is gone
		{"a\nb\n", "c\nd\n", "c\nd\n"},             // all of it is gone
		{"aab aaab", "aaabaab", "aab"},             // beginnings of beginnings
		{"abab", "ababab", "ab"},                   // nothing is gone, so it is new
		{"x abab", "ababc", "c"},                   //
		{"tick\ntick\n", "tick\ntick\n", ""},       // nobody can know
		{"漢字\n漢", "漢漢字\n", "漢字\n"},                 // whole characters
		{"10%\r20%\r", "10%\r20%\r30%\r", "30%\r"}, // lines that are written again
		{"progress 1", "progress 2", "progress 2"},
	} {
		if got := c.now[overlap(c.seen, c.now):]; got != c.news {
			t.Errorf("%q after %q: %q is new, want %q", c.now, c.seen, got, c.news)
		}
	}
}

func FuzzOverlapsAreTheLongest(f *testing.F) {
	f.Add("abcabcab", "abcabd")
	f.Add("\n\n\n\n\n\n", "\n\n\nx")
	f.Fuzz(func(t *testing.T, seen, now string) {
		want := min(len(seen), len(now))
		for !strings.HasSuffix(seen, now[:want]) {
			want--
		}
		if got := overlap(seen, now); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	})
}

// client has real terminals. It may lose them, and end a wait before the command ends.
type client struct {
	*services.Services
	lost, ended error
	again       func() // called by the second wait, if the first one is ended
	waits       atomic.Int32
}

func (c *client) WaitForTerminalExit(ctx context.Context, p *acp.WaitForTerminalExitRequest) (*acp.WaitForTerminalExitResponse, error) {
	if n := c.waits.Add(1); c.ended != nil && n == 1 {
		return nil, c.ended
	} else if c.ended != nil && n == 2 {
		c.again()
	}
	answer, err := c.Services.WaitForTerminalExit(ctx, p)
	return answer, errors.Join(err, c.lost)
}

func (c *client) TerminalOutput(ctx context.Context, p *acp.TerminalOutputRequest) (*acp.TerminalOutputResponse, error) {
	answer, err := c.Services.TerminalOutput(ctx, p)
	return answer, errors.Join(err, c.lost)
}

func newClient(t *testing.T) (*client, string) {
	t.Helper()
	c := &client{Services: services.New(services.Options{ApproveCommand: services.AllowCommands})}
	t.Cleanup(func() { c.Close() })
	dir := t.TempDir()
	if err := c.OpenSession("s", []string{dir}); err != nil {
		t.Fatal(err)
	}
	return c, dir
}

func TestTheNewestOutputOfATerminalOfTheClientIsKept(t *testing.T) {
	t.Parallel()
	c, dir := newClient(t)
	r := registry(t, Options{Terminals: c, Session: "s"})
	const line = `i=0; while [ $i -lt 9 ]; do i=$((i+1)); echo begin $i; head -c 50000 /dev/zero | tr '\0' x; echo; done; echo end`
	info, err := r.Start(t.Context(), Command{Line: line, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Wait(t.Context(), info.ID)
	if err != nil || !out.Cut || len(out.Text) > MaxOutput || !strings.Contains(out.Text, "begin 9\n") || strings.Contains(out.Text, "begin 1\n") || !strings.HasSuffix(out.Text, "x\nend\n") || out.Code == nil {
		t.Errorf("%v, %+v, %d bytes, left out: %v", err, out.Info, len(out.Text), out.Cut)
	}
	if again, err := r.Poll(info.ID); err != nil || again.Text != "" || again.Cut {
		t.Errorf("%v, %+v", err, again)
	}
	if page, err := r.Log(info.ID, -1, 9); err != nil || page.Text != "end\n" {
		t.Errorf("%v, %+v", err, page)
	}
}

// Some clients end what is open when a turn ends.
func TestACommandOutlivesTheWaitForIt(t *testing.T) {
	t.Parallel()
	c, dir := newClient(t)
	c.ended = errors.New("cancelled by the user")
	c.again = func() { os.WriteFile(filepath.Join(dir, "go"), nil, 0o644) }
	r := registry(t, Options{Terminals: c, Session: "s"})
	out, late, err := r.Run(t.Context(), Command{Line: "until [ -e go ]; do sleep 0.05; done; echo done; exit 5", Dir: dir}, time.Hour)
	if err != nil || late || out.Status != "exited" || out.Code == nil || *out.Code != 5 || out.Text != "done\n" {
		t.Errorf("%v, %v, %+v", err, late, out)
	}
}

func TestATerminalThatTheClientLosesEndsItsProcess(t *testing.T) {
	t.Parallel()
	c, dir := newClient(t)
	c.lost = errors.New("the window is gone")
	r := registry(t, Options{Terminals: c, Session: "s"})
	out, late, err := r.Run(t.Context(), Command{Line: "echo so far", Dir: dir}, time.Hour)
	if err != nil || late || out.Status != "lost" || out.Code != nil || out.Text != "[the output is lost: the window is gone]\n" {
		t.Errorf("%v, %v, %+v", err, late, out)
	}
	if _, err := r.Start(t.Context(), Command{Line: "true", Dir: "/"}); err == nil || !strings.Contains(err.Error(), "start the command") {
		t.Errorf("a command that the client refuses: %v", err)
	}
	c.Close()
	if _, err := r.Start(t.Context(), Command{Line: "true", Dir: dir}); err == nil {
		t.Error("a command was started by a client that is gone")
	}
}

// slowRelease answers a release late.
type slowRelease struct {
	*client
	releasing, killed chan struct{}
}

func (c *slowRelease) ReleaseTerminal(ctx context.Context, p *acp.ReleaseTerminalRequest) (*acp.ReleaseTerminalResponse, error) {
	answer, err := c.client.ReleaseTerminal(ctx, p)
	close(c.releasing)
	select {
	case <-c.killed:
	case <-time.After(100 * time.Millisecond):
	}
	return answer, err
}

func (c *slowRelease) KillTerminal(ctx context.Context, p *acp.KillTerminalRequest) (*acp.KillTerminalResponse, error) {
	close(c.killed)
	return c.client.KillTerminal(ctx, p)
}

// A command may end at the moment at which it is killed.
func TestATerminalIsNotKilledWhenItIsReleased(t *testing.T) {
	t.Parallel()
	base, dir := newClient(t)
	c := &slowRelease{client: base, releasing: make(chan struct{}), killed: make(chan struct{})}
	r := registry(t, Options{Terminals: c, Session: "s"})
	info, err := r.Start(t.Context(), Command{Line: "true", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	<-c.releasing
	if _, err := r.Kill(info.ID); err != nil {
		t.Error(err)
	}
	select {
	case <-c.killed:
		t.Error("the terminal was killed after its release")
	default:
	}
}
