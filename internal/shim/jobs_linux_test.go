//go:build amd64 || arm64

package shim_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
)

// terminal is an interactive shell that a user types into.
type terminal struct {
	t    *testing.T
	file *os.File

	mu     sync.Mutex
	screen bytes.Buffer
	read   int // up to where the screen has been read
}

func newTerminal(t *testing.T, dir string, env []string, command ...string) *terminal {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), append(env, "PS1=ready> ", "TERM=dumb", "HISTFILE=")...)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, file: f}
	var reading sync.WaitGroup
	reading.Go(func() {
		buf := make([]byte, 4096)
		for {
			n, err := f.Read(buf)
			term.mu.Lock()
			term.screen.Write(buf[:n])
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		f.Close()
		reading.Wait()
	})
	return term
}

// expect waits for a text behind the last one.
func (m *terminal) expect(text string) {
	m.t.Helper()
	for end := time.Now().Add(patience.Soon); ; time.Sleep(5 * time.Millisecond) {
		m.mu.Lock()
		screen := m.screen.String()
		m.mu.Unlock()
		if i := strings.Index(screen[m.read:], text); i >= 0 {
			m.read += i + len(text)
			return
		}
		if time.Now().After(end) {
			m.t.Fatalf("%q is not on the screen:\n%s", text, screen[m.read:])
		}
	}
}

func (m *terminal) key(keys string) {
	m.t.Helper()
	if _, err := m.file.WriteString(keys); err != nil {
		m.t.Fatal(err)
	}
}

func TestKeysAndJobsWorkAsWithoutAShim(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	for _, shimmed := range []bool{false, true} {
		t.Run(map[bool]string{false: "without", true: "with"}[shimmed], func(t *testing.T) {
			t.Parallel()
			s := newShimmed(t)
			s.write("run", `exec "$@"`)
			if shimmed {
				cmd := s.command("sh", "-c", "true")
				s.write("run", "exec "+cmd.Path+" shim '"+cmd.Args[2]+"' \"$@\"")
			}
			play(t, newTerminal(t, s.root, nil, "bash", "--norc", "--noprofile", "-i"), s.root)
			if shimmed {
				text := strings.Join(s.lines(journal.Post), "\n")
				if !strings.Contains(text, "write resumed absent") {
					t.Error(text)
				}
			}
		})
	}
}

// A shell whose supervisor was killed changes no file, says why, and can be left.
func TestAShellWithoutItsSupervisorCanBeLeft(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	s := newShimmed(t)
	shell := s.command("bash", "--norc", "--noprofile", "-i")
	m := newTerminal(t, s.root, []string{"HISTFILE="}, "bash", "--norc", "--noprofile", "-i")
	m.expect("ready> ")
	m.key(" '" + strings.Join(shell.Args, "' '") + "'\n")
	m.expect("ready> ")
	m.key(" kill -KILL $PPID\n")
	m.expect("the supervisor has been killed")
	m.key(" echo x > f\n")
	m.expect("not implemented")
	m.key(" sh -c 'echo sta''rted; exec sleep 100'\n")
	m.expect("started")
	m.key("\x03")
	m.expect("ready> ")
	m.key(" exit 9\n")
	m.expect("ready> ")
	m.key(" echo status $?\n")
	m.expect("status 9")
	if _, err := os.Stat(filepath.Join(s.root, "f")); err == nil {
		t.Error("it has changed a file")
	}
}

// play types what a user of a shell with jobs types.
func play(t *testing.T, m *terminal, root string) {
	t.Helper()
	run := func(script string) {
		t.Helper()
		os.RemoveAll(filepath.Join(filepath.Dir(root), "journal"))
		m.expect("ready> ")
		m.key(" sh run " + script + "\n")
	}
	run(`sh -c 'echo sta''rted; exec sleep 100'`)
	m.expect("started")
	m.key("\x03")
	m.expect("ready> ")
	m.key(" echo status $?\n")
	m.expect("status 130")
	run(`sh -c 'trap "echo caught; exit 7" INT; echo sta''rted; while :; do sleep 0.01; done'`)
	m.expect("started")
	m.key("\x03")
	m.expect("caught")
	m.expect("ready> ")
	m.key(" echo status $?\n")
	m.expect("status 7")
	run(`sh -c 'echo sta''rted; exec sleep 100'`)
	m.expect("started")
	m.key("\x1c")
	m.expect("ready> ")
	m.key(" echo status $?\n")
	m.expect("status 131")
	// It stops, goes on in the background and in the foreground, reads what is typed
	// and learns the size of the window.
	run(`bash -c 'echo sta''rted; trap "stty size" WINCH; read line; echo "got $line"; echo x > resumed; until test -e go; do sleep 0.01; done; exit 5'`)
	m.expect("started")
	m.key("\x1a")
	m.expect("Stopped")
	m.expect("ready> ")
	m.key(" fg\n")
	m.expect("sh run")
	m.key("typed\n")
	m.expect("got typed")
	if err := pty.Setsize(m.file, &pty.Winsize{Rows: 33, Cols: 111}); err != nil {
		t.Fatal(err)
	}
	m.expect("33 111")
	if err := os.WriteFile(filepath.Join(root, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m.expect("ready> ")
	m.key(" echo status $?\n")
	m.expect("status 5")
	m.expect("ready> ")
	m.key(" jobs; echo none le''ft\n")
	m.expect("none left")
}
