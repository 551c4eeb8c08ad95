//go:build unix

package process

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/patience"
)

func TestTheSandboxLetsCommandsChangeTheirFolderOnly(t *testing.T) {
	if runtime.GOOS != "linux" || len((confine.Rules{}).Missing()) > 0 {
		t.Skip("this system has no sandbox")
	}
	outside, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary) // commands may change it
	inside := filepath.Join(outside, "project")
	if err := os.Mkdir(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	r := registry(t, Options{Backend: &Sandbox{Launcher: []string{"/proc/self/exe", "sandbox"}}})
	out, _, err := r.Run(t.Context(), Command{Line: "echo a >in; echo b >../out; echo done", Dir: inside}, time.Minute)
	if err != nil || !strings.Contains(out.Text, "done") {
		t.Fatalf("%v: %+v", err, out)
	}
	if read(t, filepath.Join(inside, "in")) != "a\n" {
		t.Error("the command could not change its folder")
	}
	if _, err := os.Stat(filepath.Join(outside, "out")); err == nil {
		t.Error("the command changed what is outside its folder")
	}
}

// The programs below stand for ssh and docker: what they run has a session of its
// own, as on another machine, and outlives them.
const otherMachine = `
while [ $# -gt 1 ]; do case $1 in -o|-p) shift 2;; *) shift;; esac; done
exec setsid -w sh -c "$1"
`

const containers = `
echo "$@" >>"$DOCKER_LOG"
case $1 in
run) for last; do :; done; exec sh -c "$last" ;;
exec) shift; while [ "$1" != sh ]; do shift; done; exec setsid -w "$@" ;;
esac
`

func TestACommandOnAnotherMachineEndsThere(t *testing.T) {
	t.Setenv("PATH", program(t, "ssh", otherMachine)+":"+os.Getenv("PATH"))
	dir := t.TempDir()
	r := registry(t, Options{Backend: SSH{Host: "user@host", Dir: dir, Options: []string{"-p", "22"}}})
	out, _, err := r.Run(t.Context(), Command{Line: `echo "it's $(pwd)"; exit 4`, Dir: "/"}, time.Minute)
	if err != nil || out.Text != "it's "+dir+"\n" || *out.Code != 4 {
		t.Errorf("%v: %+v", err, out)
	}
	id := startAndKill(t, r, dir)
	if _, err := os.Stat(note(id)); err == nil {
		t.Error("a note stays behind")
	}
}

func TestAllCommandsShareOneContainer(t *testing.T) {
	for _, engine := range []string{"docker", "podman"} {
		t.Run(engine, func(t *testing.T) { shareOneContainer(t, engine) })
	}
}

func shareOneContainer(t *testing.T, engine string) {
	dir, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	t.Setenv("PATH", program(t, engine, containers)+":"+os.Getenv("PATH"))
	t.Setenv("DOCKER_LOG", log)
	r := registry(t, Options{Backend: NewContainer(engine, "alpine", dir, []string{"--network", "none"}, nil)})
	if r.Reach(t.Context()) != Isolated {
		t.Error("a container is isolated")
	}
	for range 2 {
		out, _, err := r.Run(t.Context(), Command{Line: "pwd", Dir: dir}, time.Minute)
		if err != nil || out.Text != dir+"\n" {
			t.Errorf("%v: %+v", err, out)
		}
	}
	startAndKill(t, r, dir)
	calls := read(t, log)
	if strings.Count(calls, "run --rm -i --init") != 1 || !strings.Contains(calls, "-v "+dir+":"+dir+" -w "+dir+" ") || !strings.Contains(calls, " --network none alpine") {
		t.Errorf("the calls are\n%s", calls)
	}
}

// startAndKill starts a command whose folder is dir and kills it. The process that ran
// it, of another session, must end as well.
func startAndKill(t *testing.T, r *Registry, dir string) (id string) {
	t.Helper()
	id = start(t, r, "echo $$ >pid; sleep 1000")
	noted := filepath.Join(dir, "pid")
	patience.True(t, "the command", func() bool { b, _ := os.ReadFile(noted); return strings.HasSuffix(string(b), "\n") })
	if _, err := r.Kill(id); err != nil {
		t.Fatal(err)
	}
	pid := pids(t, noted, 1)[0]
	patience.True(t, "the end of the command", func() bool { return !alive(pid) })
	return id
}

func TestAContainerThatDoesNotStartIsAnError(t *testing.T) {
	t.Setenv("PATH", program(t, "docker", "echo no such image >&2; exit 125\n")+":"+os.Getenv("PATH"))
	r := registry(t, Options{Backend: NewContainer("docker", "nope", t.TempDir(), nil, nil)})
	if _, err := r.Start(t.Context(), Command{Line: "ls", Dir: "/"}); err == nil || !strings.Contains(err.Error(), "no such image") {
		t.Error(err)
	}
	missing := registry(t, Options{Backend: NewContainer("no-such-program", "x", t.TempDir(), nil, nil)})
	if _, err := missing.Start(t.Context(), Command{Line: "ls", Dir: "/"}); err == nil || !strings.Contains(err.Error(), "no-such-program") {
		t.Error(err)
	}
}
