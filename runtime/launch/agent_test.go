//go:build unix

package launch_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

type updates struct {
	acp.UnimplementedClientHandler
	n atomic.Int64
}

func (u *updates) SessionUpdate(context.Context, *acp.SessionNotification) error {
	u.n.Add(1)
	return nil
}

func prompt(ctx context.Context, c *rpc.Conn, text string) (*acp.PromptResponse, error) {
	return acp.Agent{Conn: c}.Prompt(ctx, &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{&acp.TextContent{Text: text}}})
}

func TestAConversationWithAnAgentProcess(t *testing.T) {
	t.Parallel()
	cmd := plays(agent)
	cmd.EOFWait = time.Hour
	p := start(t, cmd)
	u := new(updates)
	c := rpc.NewConn(p.Transport(), acp.ClientSide(u), rpc.Options{})
	a := acp.Agent{Conn: c}
	init, err := a.Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1})
	if err != nil || init.ProtocolVersion != 1 {
		t.Fatal(init, err)
	}
	r, err := prompt(t.Context(), c, "COUNT 10")
	if err != nil || r.StopReason != acp.StopReasonEndTurn || u.n.Load() != 10 {
		t.Fatal(r, err, u.n.Load())
	}
	go func() {
		for ; u.n.Load() < 20 && t.Context().Err() == nil; time.Sleep(time.Millisecond) { // the agent says that it has the prompt
		}
		a.Cancel(context.Background(), &acp.CancelNotification{SessionID: "s"})
	}()
	if r, err = prompt(t.Context(), c, "COUNT 10\nWAIT"); err != nil || r.StopReason != acp.StopReasonCancelled {
		t.Fatal(r, err)
	}
	// The session continues.
	before := u.n.Load()
	if r, err = prompt(t.Context(), c, "COUNT 10"); err != nil || r.StopReason != acp.StopReasonEndTurn || u.n.Load() != before+10 {
		t.Fatal(r, err, u.n.Load())
	}
	if err := patience.Ends(t, "Close", c.Close); err != nil {
		t.Fatal(err)
	}
	if e := ended(t, p); e.Code != 0 || e.Signal != "" {
		t.Error(e)
	}
}

func TestAnAgentThatDiesInMidTurnFailsTheCallWithItsStatus(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]launch.ExitError{
		"ERR fatal: out of tokens\nEXIT 3": {Code: 3, Stderr: "fatal: out of tokens"},
		"KILL":                             {Code: -1, Signal: "killed"},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p := start(t, plays(agent))
			u := new(updates)
			c := rpc.NewConn(p.Transport(), acp.ClientSide(u), rpc.Options{})
			// The agent has written the updates when the client answers the call. Its
			// update about the answer may be lost.
			_, err := prompt(t.Context(), c, "COUNT 10\nCALL _written {}\n"+how)
			var closed *rpc.ClosedError
			var exit *launch.ExitError
			if !errors.As(err, &closed) || !errors.As(err, &exit) || errors.As(err, new(*acp.Error)) {
				t.Fatalf("Prompt returned %v", err)
			}
			if exit.Code != want.Code || exit.Signal != want.Signal || !strings.HasPrefix(exit.Stderr, want.Stderr) {
				t.Errorf("exit is %+v, want %+v", exit, want)
			}
			if n := u.n.Load(); n != 10 && n != 11 {
				t.Errorf("%d of 10 updates were handled before the call failed", n)
			}
			<-c.Done()
		})
	}
}

// A client that writes may learn of the death before it has read to the end.
func TestAWriteToAnAgentThatHasEndedTellsHow(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(transport.Transport) error{
		"one": func(c transport.Transport) error { return c.Write([]byte("{}")) },
		"some": func(c transport.Transport) error {
			return c.(transport.BatchWriter).WriteBatch([][]byte{[]byte("{}"), []byte("{}")})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, shell("exec <&-; sleep 0.1; echo fatal >&2; exit 3"))
			check := func(when string, began time.Time, err error) {
				t.Helper()
				var exit *launch.ExitError
				told := errors.As(err, &exit) && exit.Code == 3 && exit.Stderr == "fatal"
				if !told && time.Since(began) < 3*time.Second { // it does not wait any longer
					t.Errorf("%s Write returned %v", when, err)
				}
			}
			began, err := time.Now(), error(nil)
			for err == nil {
				began, err = time.Now(), write(p.Transport())
			}
			check("while the agent ended", began, err)
			ended(t, p)
			check("after its end", time.Now(), write(p.Transport()))
		})
	}
}

func TestAnAgentMayDieAtAnyByteOfATurn(t *testing.T) {
	t.Parallel()
	cuts := []int{}
	for n := 0; n <= len(recorded); n++ {
		if n%23 == 0 || n > 0 && recorded[n-1] == '\n' || n < len(recorded) && recorded[n] == '\n' {
			cuts = append(cuts, n)
		}
	}
	path := filepath.Join(t.TempDir(), "turn")
	if err := os.WriteFile(path, []byte(recorded), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, n := range cuts {
		p := start(t, plays(fmt.Sprintf("HEAR session/prompt\nPART %s %d\nKILL", path, n)))
		u := new(updates)
		c := rpc.NewConn(p.Transport(), acp.ClientSide(u), rpc.Options{})
		r, err := prompt(t.Context(), c, "x")
		// A last line without its end is a message when it is whole.
		whole := strings.Split(recorded[:n], "\n")
		messages := len(whole) - 1
		if strings.HasSuffix(whole[messages], "}}") && strings.Count(whole[messages], "{") == strings.Count(whole[messages], "}") {
			messages++
		}
		if messages == 3 {
			if err != nil || r.StopReason != acp.StopReasonEndTurn {
				t.Errorf("after %d bytes: %v", n, err)
			}
		} else if !errors.As(err, new(*launch.ExitError)) {
			t.Errorf("after %d bytes: %v", n, err)
		}
		if got := u.n.Load(); got != int64(min(messages, 2)) {
			t.Errorf("after %d bytes: %d updates, want %d", n, got, min(messages, 2))
		}
		c.Close()
	}
}

func TestAStoppedAgentCanBeClosed(t *testing.T) {
	t.Parallel()
	p := start(t, hurried(self("polite")))
	p.Transport().Read(nil)
	syscall.Kill(p.PID(), syscall.SIGSTOP)
	if err := p.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if e := ended(t, p); e.Signal != "killed" {
		t.Error(e)
	}
}

// A call that waits for an agent fails with its death, and not when something has run out of
// time: that would take an hour.
func TestThePromptOfAKilledAgentFailsAtOnce(t *testing.T) {
	t.Parallel()
	cmd := plays(agent)
	cmd.EOFWait, cmd.TermWait, cmd.KillWait = time.Hour, time.Hour, time.Hour
	killed(t, cmd, rpc.Limits{Grace: time.Hour, Stall: time.Hour})
}

// killed returns how long the prompt of an agent takes to fail that is killed.
func killed(t testing.TB, cmd launch.Command, limits rpc.Limits) time.Duration {
	p, err := launch.Start(context.Background(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	u := new(updates)
	c := rpc.NewConn(p.Transport(), acp.ClientSide(u), rpc.Options{Limits: limits})
	defer c.Close()
	ctx := patience.Context(t, patience.Soon)
	acp.Agent{Conn: c}.Initialize(ctx, &acp.InitializeRequest{ProtocolVersion: 1})
	done := make(chan error, 1)
	go func() {
		_, err := prompt(ctx, c, "COUNT 10\nWAIT")
		done <- err
	}()
	for ; u.n.Load() == 0 && ctx.Err() == nil; time.Sleep(time.Millisecond) { // the agent says that it has the prompt
	}
	began := time.Now()
	syscall.Kill(p.PID(), syscall.SIGKILL)
	if err := <-done; !errors.As(err, new(*launch.ExitError)) {
		t.Fatal(err)
	}
	return time.Since(began)
}

func BenchmarkThePromptOfAKilledAgent(b *testing.B) {
	var all time.Duration
	for b.Loop() {
		all += killed(b, plays(agent), rpc.Limits{})
	}
	b.ReportMetric(float64(all.Milliseconds())/float64(b.N), "ms/death")
}

func TestAnAgentThatEndsBeforeInitializeIsExplained(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script string
		want   []string
	}{
		"at once":     {`exit 4`, []string{"initialize", "sh -c 'exit 4'", "status 4"}},
		"status 0":    {`exit 0`, []string{"status 0"}},
		"help text":   {`echo 'Usage: x [options]'; echo; echo '  --acp  speak ACP'`, []string{"status 0", "stdout: Usage: x [options] | --acp  speak ACP"}},
		"stderr":      {`echo one >&2; echo 'not logged in' >&2; exit 1`, []string{"status 1", "stderr: one | not logged in"}},
		"no line end": {`printf 'oops' >&2; printf 'sorry'; exit 1`, []string{"stderr: oops", "stdout: sorry"}},
		"signal":      {`kill -SEGV $$`, []string{"signal segmentation fault"}},
		"reads first": {`read line; echo "cannot do: acp" >&2; exit 64`, []string{"status 64", "cannot do: acp"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, shell(test.script))
			c := rpc.NewConn(p.Transport(), nil, rpc.Options{})
			err := c.Call(t.Context(), "initialize", nil, nil)
			for _, want := range test.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error is %q, want %q in it", err, want)
				}
			}
			<-c.Done()
		})
	}
}

// An agent that prints its usage and then waits never answers.
func TestEarlierOutputOfASilentAgentCanBeQuoted(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		`echo 'Usage: x [options]'; echo '{"jsonrpc":"2.0","method":"_x"}'; cat >/dev/null`: "stdout: Usage: x [options]",
		`echo 'not logged in' >&2; echo one; echo; echo two; cat >/dev/null`:                "stderr: not logged in; stdout: one | two",
		`i=0; while [ $i -lt 999 ]; do i=$((i+1)); echo "line $i"; done; cat >/dev/null`:    "stdout: line 997 | line 998 | line 999",
		`head -c 100000 /dev/zero | tr '\0' x; echo; cat >/dev/null`:                        "stdout: ..." + strings.Repeat("x", 400),
	} {
		p := start(t, shell(script))
		c := rpc.NewConn(p.Transport(), nil, rpc.Options{})
		eventually(t, script+" is quoted as "+want, func() bool { return p.Said() == want })
		c.Close()
	}
}

func TestProgramsThatCannotStartAreExplained(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, perm os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), perm); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, test := range map[string]struct {
		cmd  launch.Command
		want string
		is   error
	}{
		"nothing":                 {launch.Command{}, "no program given", nil},
		"not in PATH":             {launch.Command{Path: "nonesuch-agent", Env: []string{"PATH=/usr/bin:" + dir}}, "nonesuch-agent: executable file not found", exec.ErrNotFound},
		"empty PATH":              {launch.Command{Path: "sh", Env: []string{"PATH="}}, "PATH is empty", exec.ErrNotFound},
		"no such file":            {launch.Command{Path: dir + "/nonesuch"}, "no such file", fs.ErrNotExist},
		"not executable":          {launch.Command{Path: write("plain", "x", 0o644)}, "not executable", fs.ErrPermission},
		"in PATH, not executable": {launch.Command{Path: "plain", Env: []string{"PATH=" + dir}}, "not executable", fs.ErrPermission},
		"directory":               {launch.Command{Path: dir}, "is a directory", fs.ErrPermission},
		"no interpreter":          {launch.Command{Path: write("noshebang", "echo hi\n", 0o755)}, "#!/bin/sh", syscall.ENOEXEC},
		"no such dir":             {launch.Command{Path: "sh", Dir: dir + "/nonesuch"}, "working directory", fs.ErrNotExist},
		"dir is a file":           {launch.Command{Path: "sh", Dir: dir + "/plain"}, "not a directory", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := launch.Start(t.Context(), test.cmd)
			var se *launch.StartError
			if !errors.As(err, &se) || !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("Start returned %v", err)
			}
		})
	}
}

func TestProgramsAreFoundAsAShellWould(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	os.Mkdir(bin, 0o755)
	gobuild.Write(filepath.Join(bin, "an-agent"), "#!/bin/sh\necho found $0 >&2\n")
	for name, cmd := range map[string]launch.Command{
		"PATH of the agent": {Path: "an-agent", Env: []string{"PATH=" + bin + ":" + os.Getenv("PATH")}},
		"relative to Dir":   {Path: "bin/an-agent", Dir: dir},
		"dot":               {Path: "./an-agent", Dir: bin},
		"home":              {Path: "~/bin/an-agent", Env: []string{"HOME=" + dir}},
		"absolute":          {Path: filepath.Join(bin, "an-agent")},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, cmd)
			if e := ended(t, p); e.Code != 0 || e.Stderr != "found "+filepath.Join(bin, "an-agent") {
				t.Error(e)
			}
		})
	}
}

func TestTheEnvironmentIsAnAllowList(t *testing.T) {
	for name, value := range map[string]string{
		"SECRET_API_KEY": "1", "OTHER_KEY": "2", "OTHER_HOST": "3", "LD_PRELOAD_X": "4", "LC_TIME": "C", "XDG_CONFIG_HOME": "/c", "HOME": "/h",
	} {
		t.Setenv(name, value)
	}
	get := func(cmd launch.Command) []string {
		var names []string
		for _, v := range cmd.Environ() {
			if slices.ContainsFunc([]string{"SECRET", "OTHER", "LD_", "LC_TIME", "XDG_CONFIG", "HOME=", "ADDED"}, func(s string) bool { return strings.HasPrefix(v, s) }) {
				names = append(names, v)
			}
		}
		slices.Sort(names)
		return names
	}
	for _, test := range []struct {
		cmd  launch.Command
		want []string
	}{
		{launch.Command{}, []string{"HOME=/h", "LC_TIME=C", "XDG_CONFIG_HOME=/c"}},
		{launch.Command{PassEnv: []string{"OTHER_*"}}, []string{"HOME=/h", "LC_TIME=C", "OTHER_HOST=3", "OTHER_KEY=2", "XDG_CONFIG_HOME=/c"}},
		{launch.Command{PassEnv: []string{"SECRET_API_KEY"}, Env: []string{"ADDED=x", "HOME=/other", "ADDED=y"}}, []string{"ADDED=y", "HOME=/other", "LC_TIME=C", "SECRET_API_KEY=1", "XDG_CONFIG_HOME=/c"}},
		{launch.Command{InheritEnv: true}, []string{"HOME=/h", "LC_TIME=C", "LD_PRELOAD_X=4", "OTHER_HOST=3", "OTHER_KEY=2", "SECRET_API_KEY=1", "XDG_CONFIG_HOME=/c"}},
	} {
		if got := get(test.cmd); !slices.Equal(got, test.want) {
			t.Errorf("%+v\n got %v\nwant %v", test.cmd, got, test.want)
		}
	}
	cmd := shell("env >&2")
	p := start(t, cmd)
	if e := ended(t, p); strings.Contains(e.Stderr, "SECRET") || !strings.Contains(e.Stderr, "PATH=") || !strings.Contains(e.Stderr, "HOME=/h") {
		t.Error(e.Stderr)
	}
}

func TestStderrIsDrainedCutAndKept(t *testing.T) {
	t.Parallel()
	lines := make(chan string, 100_000)
	cmd := shell(`i=0; while [ $i -lt 4000 ]; do echo "line $i ` + strings.Repeat("x", 100) + `"; i=$((i+1)); done >&2
		head -c 1000000 /dev/zero | tr '\0' y >&2; echo >&2; printf 'bad \377 end' >&2`)
	cmd.OnStderr = func(l string) { lines <- l }
	p := start(t, cmd)
	e := ended(t, p)
	if n := len(e.Stderr); n > launch.StderrTail || n < launch.StderrTail/2 {
		t.Errorf("%d bytes kept", n)
	}
	kept := strings.Split(e.Stderr, "\n")
	if last := kept[len(kept)-1]; last != "bad \ufffd end" {
		t.Errorf("last line is %q", last)
	}
	if long := kept[len(kept)-2]; len(long) != launch.StderrLine || strings.Trim(long, "y") != "" {
		t.Errorf("the long line has %d bytes", len(long))
	}
	if len(lines) != 4002 {
		t.Errorf("%d lines reported", len(lines))
	}
	if first := <-lines; !strings.HasPrefix(first, "line 0 x") {
		t.Errorf("first line is %q", first)
	}
}

// quick has shutdown waits for agents that need TERM, hurried for those that need KILL.
// A wait that an agent is meant to use is long enough for a busy machine.
func quick(cmd launch.Command) launch.Command {
	cmd.EOFWait, cmd.TermWait, cmd.KillWait = 200*time.Millisecond, patience.Soon, patience.Soon
	return cmd
}

func hurried(cmd launch.Command) launch.Command {
	cmd = quick(cmd)
	cmd.TermWait = 200 * time.Millisecond
	return cmd
}

func TestTheShutdownGoesAsFarAsNeeded(t *testing.T) {
	t.Parallel()
	for as, want := range map[string]launch.ExitError{
		"agent":  {Code: 0},
		"polite": {Code: 7},
		"deaf":   {Code: -1, Signal: "killed"},
	} {
		t.Run(as, func(t *testing.T) {
			cmd := quick(self(as))
			switch as {
			case "agent":
				cmd = plays(agent)
				cmd.EOFWait = patience.Soon
			case "deaf":
				cmd = hurried(plays(deaf))
			}
			p := start(t, cmd)
			if as == "agent" {
				p.Transport().Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"x"}`))
			}
			p.Transport().Read(nil) // it is up
			for range 2 {
				if err := p.Stop(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			if e := ended(t, p); e.Code != want.Code || e.Signal != want.Signal {
				t.Errorf("%v", e)
			}
		})
	}
}

func TestStoppingInAHurryKillsAtOnce(t *testing.T) {
	t.Parallel()
	cmd := plays(deaf)
	cmd.EOFWait, cmd.TermWait = time.Hour, time.Hour
	p := start(t, cmd)
	p.Transport().Read(nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := patience.Ends(t, "Stop", func() error { return p.Stop(ctx) }); err != nil {
		t.Fatal(err)
	}
}

func TestTheEndOfTheContextStopsTheAgent(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p, err := launch.Start(ctx, quick(self("polite")))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Transport().Close()
	p.Transport().Read(nil)
	cancel()
	if e := ended(t, p); e.Code != 7 {
		t.Error(e)
	}
}

func TestProcessesThatAnAgentLeavesBehindAreKilled(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"launcher exits":      `sleep 1000 & echo $!; exit 0`,
		"launcher is stopped": `sleep 1000 & echo $!; wait`,
		"deaf child":          `(trap '' TERM; sleep 1000; sleep 1000) & echo $!; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, quick(shell(script)))
			line, err := p.Transport().Read(nil)
			pid, _ := strconv.Atoi(string(line))
			if pid == 0 {
				t.Fatalf("read %q, %v", line, err)
			}
			if name != "launcher exits" {
				p.Stop(context.Background())
			}
			ended(t, p)
			eventually(t, "the child is gone", func() bool { return !alive(pid) })
		})
	}
}

func TestOutputThatAnotherProcessKeepsOpenEnds(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not there to leave the group with")
	}
	note := filepath.Join(t.TempDir(), "pid")
	p := start(t, shell(fmt.Sprintf(`setsid setsid sh -c 'echo $$ >%[1]s; exec sleep 600' & until [ -s %[1]s ]; do sleep 0.01; done`, note)))
	c := rpc.NewConn(p.Transport(), nil, rpc.Options{})
	select {
	case <-c.Done():
	case <-time.After(patience.Soon):
		t.Error("the connection waits for a stranger")
	}
	text, err := os.ReadFile(note)
	if pid, _ := strconv.Atoi(strings.TrimSpace(string(text))); err != nil || !alive(pid) || syscall.Kill(pid, syscall.SIGKILL) != nil {
		t.Errorf("the stranger has not kept the output open: %q, %v", text, err)
	}
	if !errors.As(c.Err(), new(*launch.ExitError)) {
		t.Fatal(c.Err())
	}
}

func TestAnAgentThatClosesItsOutputEndsTheConnection(t *testing.T) {
	t.Parallel()
	p := start(t, quick(shell(`echo last words >&2; exec >&-; sleep 1000`)))
	c := rpc.NewConn(p.Transport(), nil, rpc.Options{})
	err := c.Call(t.Context(), "initialize", nil, nil)
	var half *launch.HalfClosedError
	if !errors.As(err, &half) || !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "closed its input or output, and goes on") || !strings.Contains(err.Error(), "last words") {
		t.Fatal(err)
	}
	<-c.Done()
	ended(t, p)
}

func TestSecretsInArgumentsAreNotQuoted(t *testing.T) {
	t.Parallel()
	cmd := launch.Command{Path: "my agent", Args: []string{"--acp", "--api-key", "sk-1", "--token=sk-2", "-H", "API_SECRET=sk-3", "--model", "it's"}}
	want := `'my agent' --acp --api-key '***' '--token=***' -H 'API_SECRET=***' --model 'it'\''s'`
	if got := cmd.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAgentsDoNotOutliveThisProcess(t *testing.T) {
	t.Parallel()
	if !hasProc {
		t.Skip("only Linux signals the children of a dead process")
	}
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), mode+"=parent")
	in, _ := parent.StdinPipe()
	out, _ := parent.StdoutPipe()
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	pid, _ := strconv.Atoi(strings.TrimSpace(line))
	if pid == 0 || !alive(pid) {
		t.Fatalf("parent said %q", line)
	}
	fmt.Fprintln(in)
	parent.Wait()
	eventually(t, "the agent is gone", func() bool { return !alive(pid) })
}

func TestAFloodOfOutputDuringTheStopDoesNotBlock(t *testing.T) {
	t.Parallel()
	p := start(t, quick(shell(`while :; do echo '{"jsonrpc":"2.0","method":"_flood","params":{}}'; done`)))
	c := rpc.NewConn(p.Transport(), nil, rpc.Options{})
	eventually(t, "the flood has begun", func() bool { return c.Stats().Received > 100 })
	if err := patience.Ends(t, "Close", c.Close); err != nil {
		t.Fatal(err)
	}
}

func TestAnAgentThatStopsReadingCanBeClosed(t *testing.T) {
	t.Parallel()
	p := start(t, hurried(plays(deaf)))
	c := rpc.NewConn(p.Transport(), nil, rpc.Options{Limits: rpc.Limits{Grace: 100 * time.Millisecond}})
	for range 100 {
		c.Notify(t.Context(), "_filler", filler{})
	}
	if err := patience.Ends(t, "Close", c.Close); err != nil {
		t.Fatal(err)
	}
}

type filler struct{}

func (filler) AppendJSON(b []byte) []byte {
	return append(b, `"`+strings.Repeat("x", 64<<10)+`"`...)
}

func TestTwoHundredAgentsLeaveNothingBehind(t *testing.T) {
	// TestMain checks that nothing is left.
	for i := range 200 {
		p := start(t, plays(agent))
		c := rpc.NewConn(p.Transport(), nil, rpc.Options{})
		done := make(chan error, 1)
		go func() {
			_, err := prompt(t.Context(), c, "COUNT 10\nWAIT")
			done <- err
		}()
		switch i % 3 {
		case 0:
			time.Sleep(time.Duration(i%7) * time.Millisecond)
			syscall.Kill(p.PID(), syscall.SIGKILL)
		case 1:
			time.Sleep(time.Duration(i%7) * time.Millisecond)
		}
		if i%3 != 0 {
			c.Close()
		}
		if err := <-done; !errors.As(err, new(*rpc.ClosedError)) {
			t.Fatal(err)
		}
		c.Close()
	}
}

func TestAWrapperRunsTheAgent(t *testing.T) {
	t.Parallel()
	cmd := launch.Command{
		Path: "sh", Args: []string{"-c", `echo "$WRAPPED: $1" >&2; exit 3`, "sh", "a b"},
		Wrapper: []string{"/usr/bin/env", "WRAPPED=yes"},
	}
	p := start(t, cmd)
	<-p.Done()
	var exit *launch.ExitError
	if !errors.As(p.Err(), &exit) || exit.Code != 3 || !strings.Contains(exit.Stderr, "yes: a b") || strings.Contains(exit.Command, "WRAPPED=") {
		t.Errorf("%+v", p.Err())
	}
	wrapper := filepath.Join(t.TempDir(), "wrapper")
	cmd.Wrapper = []string{wrapper}
	if _, err := launch.Start(t.Context(), cmd); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), wrapper) {
		t.Error(err)
	}
}
