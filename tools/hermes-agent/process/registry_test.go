//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
)

func TestPollReturnsOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	r := registry(t, Options{})
	id := start(t, r, "echo one; read x; echo got $x; exit 3")
	first := ""
	patience.True(t, "the first line", func() bool {
		out, err := r.Poll(id)
		if err != nil {
			t.Fatal(err)
		}
		first += out.Text
		return first != ""
	})
	if out, _ := r.Poll(id); first != "one\n" || out.Text != "" || out.Status != "running" {
		t.Errorf("first %q, then %+v", first, out)
	}
	if _, err := r.Do(t.Context(), Request{Action: "submit", ID: id, Data: "two"}); err != nil {
		t.Fatal(err)
	}
	out, err := r.Wait(t.Context(), id)
	if err != nil || out.Text != "got two\n" || out.Status != "exited" || out.Code == nil || *out.Code != 3 {
		t.Errorf("%+v, %v", out, err)
	}
	if list := r.List(); len(list) != 1 || list[0].ID != id || list[0].Status != "exited" {
		t.Errorf("the list is %+v", list)
	}
}

func TestTheLogHasPages(t *testing.T) {
	t.Parallel()
	r := registry(t, Options{})
	id := start(t, r, "for i in 0 1 2 3 4 5 6 7 8 9; do echo line $i; done")
	if _, err := r.Wait(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from, limit int
		want        string
		first       int
	}{
		{0, 2, "line 0\nline 1\n", 0}, {8, 5, "line 8\nline 9\n", 8}, {-1, 5, "line 9\n", 9}, {-99, 1, "line 0\n", 0}, {10, 5, "", 10}, {3, -1, "", 3}, {99, 1, "", 10},
	} {
		p, err := r.Log(id, c.from, c.limit)
		if err != nil || p.Text != c.want || p.Lines != 10 || p.From != c.first {
			t.Errorf("from %d, %d lines: %+v, %v", c.from, c.limit, p, err)
		}
	}
}

func TestOutputIsBoundedAndSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	var w window
	total := 0
	for i := range 5000 {
		line := fmt.Sprintf("%06d é漢字 %s\n", i, strings.Repeat("x", 80))
		total += len(line)
		w.add(line, 0)
	}
	text, skipped := w.news()
	if len(text) > MaxOutput || len(text) < MaxOutput-10 || len(text)+skipped != total || strings.ToValidUTF8(text, "") != text {
		t.Errorf("%d bytes, %d left out", len(text), skipped)
	}
	w.add("end\n", 7)
	if text, skipped := w.news(); text != "end\n" || skipped != 7 {
		t.Errorf("%q, %d left out", text, skipped)
	}
	w.add("a", 0)
	w.add("b", 3)
	if text, skipped := w.news(); text != "b" || skipped != 4 {
		t.Errorf("%q, %d left out", text, skipped)
	}
}

func TestAKillEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	r := registry(t, Options{})
	noted := filepath.Join(t.TempDir(), "pids")
	id := start(t, r, "sh -c 'echo $$ >>"+noted+"; sleep 1000' & echo $$ >>"+noted+"; echo up; wait")
	patience.True(t, "both processes", func() bool { b, _ := os.ReadFile(noted); return strings.Count(string(b), "\n") == 2 })
	out, err := r.Kill(id)
	if err != nil || out.Status != "killed" || out.Signal == "" {
		t.Errorf("%+v, %v", out, err)
	}
	for _, pid := range pids(t, noted, 2) {
		patience.True(t, "the end of a process", func() bool { return !alive(pid) })
	}
	if err := r.Write(t.Context(), id, "x", nil); err == nil {
		t.Error("a dead process takes input")
	}
}

func TestNothingOutlivesTheAgent(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends what a killed agent has started")
	}
	noted := filepath.Join(t.TempDir(), "pids")
	line := "trap '' TERM HUP; echo $$ >>" + noted + "; setsid sh -c 'trap \"\" TERM HUP; echo $$ >>" + noted + "; sleep 1000' & sleep 1000"
	agent := exec.Command("/proc/self/exe", "agent", line, t.TempDir())
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	patience.True(t, "both processes", func() bool { b, _ := os.ReadFile(noted); return strings.Count(string(b), "\n") == 2 })
	agent.Process.Kill()
	agent.Wait()
	for _, pid := range pids(t, noted, 2) {
		patience.True(t, "the end of a process", func() bool { return !alive(pid) })
	}
}

func TestARunEndsWithItsTimeOrItsContext(t *testing.T) {
	t.Parallel()
	r := registry(t, Options{})
	c := Command{Line: "echo hello; echo oops >&2; exit 7", Dir: t.TempDir()}
	out, late, err := r.Run(t.Context(), c, time.Minute)
	if err != nil || late || *out.Code != 7 || !strings.Contains(out.Text, "hello") || !strings.Contains(out.Text, "oops") {
		t.Errorf("%+v, %v, %v", out, late, err)
	}
	noted := filepath.Join(t.TempDir(), "pids")
	c.Line = "echo $$ >" + noted + "; echo begun; exec sleep 1000"
	if out, late, err = r.Run(t.Context(), c, 300*time.Millisecond); err != nil || !late || out.Status != "killed" {
		t.Errorf("%+v, %v, %v", out, late, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if out, late, err = r.Run(ctx, c, time.Minute); !errors.Is(err, context.DeadlineExceeded) || late {
		t.Errorf("%+v, %v, %v", out, late, err)
	}
	if list := r.List(); len(list) != 0 {
		t.Errorf("left in the list: %+v", list)
	}
}

func TestEveryLineIsApproved(t *testing.T) {
	t.Parallel()
	var seen []string
	approve := func(_ context.Context, line, _ string) error {
		if seen = append(seen, line); strings.Contains(line, "rm -rf") {
			return errors.New("denied")
		}
		return nil
	}
	r := registry(t, Options{})
	if _, err := r.Start(t.Context(), Command{Line: "rm -rf x", Dir: t.TempDir(), Approve: approve}); err == nil {
		t.Error("a denied command was started")
	}
	info, err := r.Start(t.Context(), Command{Line: "exec cat", Dir: t.TempDir(), Approve: approve})
	if err != nil {
		t.Fatal(err)
	}
	id := info.ID
	for _, text := range []string{"rm ", "-rf x\n"} {
		r.Write(t.Context(), id, text, approve)
	}
	r.Write(t.Context(), id, "\nls\n", approve)
	want := []string{"rm -rf x", "exec cat", "rm ", "rm -rf x\n", "rm \nls\n"}
	if strings.Join(seen, "|") != strings.Join(want, "|") {
		t.Errorf("approved %q, want %q", seen, want)
	}
}

func TestTheNumberOfProcessesIsBounded(t *testing.T) {
	t.Parallel()
	r := registry(t, Options{})
	r.list = make([]*running, 0, MaxProcesses)
	for range MaxProcesses {
		r.list = append(r.list, &running{})
	}
	if _, err := r.Start(t.Context(), Command{Line: "true", Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "64 processes") {
		t.Error(err)
	}
	r.list = nil
	id := start(t, r, "true")
	if _, err := r.Wait(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	r.now = func() time.Time { return time.Now().Add(KeepEnded + time.Minute) }
	start(t, r, "true")
	if _, err := r.Poll(id); !errors.Is(err, ErrUnknown) {
		t.Errorf("a process that ended long ago: %v", err)
	}
}

// A variable is passed because it is known to be harmless, not because its name looks so.
func TestCommandsGetOnlyHarmlessVariables(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "MY_GITHUB_TOKEN", "DATABASE_URL", "GH_PAT", "MYSQL_PWD", "SENTRY_DSN", "SLACK_WEBHOOK_URL", "NPM_CONFIG__AUTH", "SSH_AUTH_SOCK", "NVIM", "TMUX", "AWS_PROFILE", "AWS_MORE", "MISE_GITHUB_TOKEN"} {
		t.Setenv(name, "hidden")
	}
	t.Setenv("HTTPS_PROXY", "http://me:hidden@proxy:3128")
	for _, name := range []string{"GOFLAGS", "JAVA_HOME", "CFLAGS", "XDG_DATA_HOME", "HTTP_PROXY", "VIRTUAL_ENV"} {
		t.Setenv(name, "shown")
	}
	for _, c := range []struct {
		backend Backend
		more    []string
		hidden  int
	}{{nil, nil, 0}, {nil, []string{"DATABASE_URL", "AWS_*"}, 3}, {elsewhere{}, nil, 0}} {
		r := registry(t, Options{Backend: c.backend, Environment: c.more})
		out, _, err := r.Run(t.Context(), Command{Line: "env", Dir: t.TempDir()}, time.Minute)
		if err != nil || strings.Count(out.Text, "hidden") != c.hidden || strings.Count(out.Text, "=shown\n") != 6 {
			t.Errorf("%v: %s", err, out.Text)
		}
	}
}

// elsewhere is a backend of another package.
type elsewhere struct{ Local }

// The program that reaches a container or another machine finds its way there.
func TestBackendsGetWhatTheyReachOthersWith(t *testing.T) {
	t.Setenv("SSH_AUTH_SOCK", "/agent")
	t.Setenv("DATABASE_URL", "hidden")
	t.Setenv("PATH", program(t, "ssh", "env")+":"+os.Getenv("PATH"))
	r := registry(t, Options{Backend: SSH{Host: "h"}})
	out, _, err := r.Run(t.Context(), Command{Line: "true", Dir: t.TempDir()}, time.Minute)
	if err != nil || strings.Contains(out.Text, "hidden") || !strings.Contains(out.Text, "SSH_AUTH_SOCK=/agent") {
		t.Errorf("%v: %s", err, out.Text)
	}
}

func TestAProgramThatWantsATerminalGetsOne(t *testing.T) {
	t.Parallel()
	r := registry(t, Options{})
	out, _, err := r.Run(t.Context(), Command{Line: "test -t 0 && test -t 1 && echo yes", Dir: t.TempDir(), PTY: true}, time.Minute)
	if err != nil || !strings.Contains(out.Text, "yes") {
		t.Errorf("%v: %+v", err, out)
	}
}

func TestAfterTheSessionNothingStarts(t *testing.T) {
	t.Parallel()
	r := New(Options{})
	id := start(t, r, "sleep 1000")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := r.Poll(id); err != nil || out.Status != "killed" {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := r.Start(t.Context(), Command{Line: "true", Dir: t.TempDir()}); err == nil {
		t.Error("a command was started")
	}
}

func TestUnknownActionsAndProcessesAreErrors(t *testing.T) {
	t.Parallel()
	r := registry(t, Options{})
	for _, action := range []string{"poll", "log", "wait", "kill", "write", "submit"} {
		if _, err := r.Do(t.Context(), Request{Action: action, ID: "proc_x"}); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v", action, err)
		}
	}
	if _, err := r.Do(t.Context(), Request{Action: "pause"}); err == nil || !strings.Contains(err.Error(), "start, list, poll") {
		t.Error(err)
	}
}
