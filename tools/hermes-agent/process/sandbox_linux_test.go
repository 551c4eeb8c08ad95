//go:build amd64 || arm64

package process

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/sockdir"
)

// boxed is a sandbox with a supervisor, a project, a folder outside, and the home folder.
func boxed(t *testing.T) (s *Sandbox, project, outside string) {
	t.Helper()
	if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
		t.Skip(lacks)
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"project", "out/deep", "tmp", "home/.cache/tool", "own"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", base+"/tmp")
	t.Setenv("HOME", base+"/home")
	s = &Sandbox{
		Launcher: []string{"/proc/self/exe", "sandbox"}, Supervisor: []string{"/proc/self/exe", "supervise"},
		State: filepath.Join(sockdir.New(t), "state"), Deny: []string{base + "/own"},
	}
	return s, base + "/project", base + "/out"
}

// What a command does beyond its project is asked about once for each scope: for the command,
// or for the session.
func TestCommandsInASandboxAskBeforeTheyReachFurther(t *testing.T) {
	s, project, outside := boxed(t)
	r := registry(t, Options{Backend: s})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	host := l.Addr().String()
	words := strings.NewReplacer("OUT", outside, "HOST", host, "PORT", host[strings.LastIndexByte(host, ':')+1:], "OWN", filepath.Join(filepath.Dir(project), "own"), "STATE", s.State)
	for _, c := range []struct {
		line   string
		answer string   // once, always, or why not
		asked  []string // title, reason and scope
		denied []string
		code   int
	}{
		{"echo x > f; mkdir d; mv f d; rm -r d; echo x > $TMPDIR/f", "no", nil, nil, 0},
		{"echo x > OUT/a; echo x > OUT/b", "once", []string{"Create OUT/a||OUT/"}, nil, 0},
		{"echo x > OUT/deep/a; rm OUT/a", "once", []string{"Create OUT/deep/a||OUT/deep/", "Remove OUT/a||OUT/"}, nil, 0},
		{"echo x > OUT/c; echo y > OUT/c; echo x > OUT/d", "no", []string{"Create OUT/c||OUT/", "Create OUT/c||OUT/", "Create OUT/d||OUT/"}, []string{"Create OUT/c: no", "Create OUT/d: no"}, 1},
		{"mv OUT/b moved", "once", []string{"Move OUT/b to moved||OUT/"}, nil, 0},
		{"echo x > OUT/a", "always", []string{"Create OUT/a||OUT/"}, nil, 0},
		{"echo y > OUT/a; rm OUT/a", "no", nil, nil, 0},
		{"echo x > ~/.cache/tool/a; mkdir ~/.cache/tool/d; echo x > ~/.cache/tool/d/b", "once", []string{"Create ~/.cache/tool/a||~/.cache/tool/"}, nil, 0},
		{"echo x >> ~/.bashrc", "no", []string{"Create ~/.bashrc|shell start-up|~/.bashrc"}, []string{"Create ~/.bashrc: no"}, 1},
		{"echo x > notes", "no", nil, nil, 0},
		{"echo x > ~/notes", "once", []string{"Create ~/notes||~/"}, nil, 0},
		{"echo x > Makefile; echo y > sub.mk", "once", []string{"Create Makefile|build|files of this project for: build"}, nil, 0},
		{"echo x > package.json", "no", []string{"Create package.json|package scripts|files of this project for: package scripts"}, []string{"Create package.json: no"}, 1},
		{"mv Makefile OUT/m && mv OUT/m x.mk", "once", []string{"Move Makefile to OUT/m|build|files of this project for: build and OUT/"}, nil, 0},
		{"exec 3<> /dev/tcp/127.0.0.1/PORT", "once", []string{"Connect to HOST||HOST"}, nil, 0},
		{"exec 3<> /dev/tcp/127.0.0.1/PORT", "no", []string{"Connect to HOST||HOST"}, []string{"Connect to HOST: no"}, 1},
		{"echo x > OWN/f", "once", nil, nil, 1},
		{"rm -rf STATE; mv STATE OUT/s; ls -d STATE", "once", nil, nil, 0},
	} {
		t.Run(c.line, func(t *testing.T) {
			var asked []string
			hidden := strings.NewReplacer(outside, "OUT", host, "HOST")
			out, late, err := r.Run(t.Context(), Command{Line: words.Replace(c.line), Dir: project, Effect: func(_ context.Context, e Effect) (bool, error) {
				asked = append(asked, hidden.Replace(e.Title+"|"+e.Why+"|"+e.Scope()))
				if c.answer != "once" && c.answer != "always" {
					return false, errors.New(c.answer)
				}
				return c.answer == "always", nil
			}}, patience.Soon)
			if err != nil || late || out.Code == nil || *out.Code != c.code {
				t.Errorf("%v, late %v: %+v", err, late, out)
			}
			if !slices.Equal(asked, c.asked) {
				t.Errorf("asked\n%q, want\n%q", asked, c.asked)
			}
			for i, line := range out.Denied {
				out.Denied[i] = hidden.Replace(line)
			}
			if !slices.Equal(out.Denied, c.denied) {
				t.Errorf("denied %q, want %q", out.Denied, c.denied)
			}
		})
	}
	if left, err := os.ReadDir(s.dir); err != nil || slices.ContainsFunc(left, func(e os.DirEntry) bool { return e.IsDir() && e.Name() != "trial" }) {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(s.State); len(left) > 0 {
		t.Errorf("left behind after the end: %v", left)
	}
}

// A command that waits for an answer does not run out of time, and what waits ends with it.
func TestTheTimeOfAQuestionIsNotThatOfTheCommand(t *testing.T) {
	s, project, outside := boxed(t)
	r := registry(t, Options{Backend: s})
	const limit = 10 * time.Millisecond
	var passed, looks atomic.Int64 // on the clock of the registry, which stands still otherwise
	r.now = func() time.Time { looks.Add(1); return time.Unix(0, passed.Load()) }
	out, late, err := r.Run(t.Context(), Command{Line: "echo x > " + outside + "/a; echo done", Dir: project, Effect: func(context.Context, Effect) (bool, error) {
		passed.Add(int64(time.Hour))
		before := looks.Load()
		patience.True(t, "a look at the clock meanwhile", func() bool { return looks.Load() > before+3 })
		return false, nil
	}}, limit)
	if err != nil || late || !strings.Contains(out.Text, "done") {
		t.Errorf("%v, late %v: %+v", err, late, out)
	}
	r.now = time.Now
	back := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	out, _, err = r.Run(ctx, Command{Line: "echo x > " + outside + "/b; echo done", Dir: project, Effect: func(ctx context.Context, _ Effect) (bool, error) {
		cancel()
		<-ctx.Done()
		close(back)
		return false, ctx.Err()
	}}, patience.Soon)
	if !errors.Is(err, context.Canceled) || strings.Contains(out.Text, "done") {
		t.Errorf("%v: %+v", err, out)
	}
	patience.Value(t, "the end of the question", back)
}

// Where no supervisor works, the sandbox refuses what it would have asked about.
func TestASandboxWithoutASupervisorAsksNothing(t *testing.T) {
	s, project, outside := boxed(t)
	s.Supervisor = []string{"sh", "-c", "exit 124", "sh"}
	r := registry(t, Options{Backend: s})
	out, _, err := r.Run(t.Context(), Command{Line: "echo x > f && cat f; echo x > " + outside + "/a", Dir: project, Effect: func(context.Context, Effect) (bool, error) {
		t.Error("asked")
		return true, nil
	}}, patience.Soon)
	if err != nil || !strings.HasPrefix(out.Text, "x\n") || *out.Code == 0 {
		t.Errorf("%v: %+v", err, out)
	}
	s, project, _ = boxed(t)
	s.Supervisor = []string{"sh", "-c", "echo it is broken; exit 1", "sh"}
	r = registry(t, Options{Backend: s})
	if _, _, err := r.Run(t.Context(), Command{Line: "true", Dir: project}, patience.Soon); err == nil || !strings.Contains(err.Error(), "it is broken") {
		t.Error(err)
	}
}
