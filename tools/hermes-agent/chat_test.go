//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/test/llm"
)

// person is somebody in front of a terminal with the program in it.
type person struct {
	t   *testing.T
	dir string
	env []string
	tty *os.File
	cmd *exec.Cmd

	mu   sync.Mutex
	seen *bytes.Buffer
}

func newPerson(t *testing.T) *person {
	t.Helper()
	server, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	home := t.TempDir()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return &person{t: t, dir: dir, env: append(os.Environ(), asProgram+"=1", "HOME="+home, "XDG_STATE_HOME="+home, "XDG_CONFIG_HOME="+home, "OPENAI_BASE_URL="+server.URL+"/v1", "OPENAI_MODEL=scripted", "TERM=xterm")}
}

func (p *person) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	return cmd
}

// start runs the program in a terminal.
func (p *person) start(args ...string) {
	p.t.Helper()
	cmd := p.command(args...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 100})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { cmd.Process.Kill(); tty.Close() })
	p.cmd, p.tty = cmd, tty
	p.mu.Lock()
	p.seen = &bytes.Buffer{}
	seen := p.seen
	p.mu.Unlock()
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := tty.Read(b)
			p.mu.Lock()
			seen.Write(b[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
}

// sees waits for a text behind those seen before.
func (p *person) sees(text string) {
	p.t.Helper()
	patience.True(p.t, text, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		at := strings.Index(p.seen.String(), text)
		if at >= 0 {
			p.seen.Next(at + len(text))
		}
		return at >= 0
	})
}

func (p *person) types(keys string) {
	p.t.Helper()
	if _, err := p.tty.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// first is the id of the first session.
func (p *person) first() string {
	p.t.Helper()
	out, err := p.command("sessions").Output()
	list := strings.Split(strings.TrimSpace(string(out)), "\n")
	words := strings.Fields(list[len(list)-1])
	if err != nil || len(words) == 0 {
		p.t.Fatalf("%v: %s", err, out)
	}
	return words[0]
}

func (p *person) leaves() {
	p.t.Helper()
	p.types("\x04")
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	if err := patience.Value(p.t, "the end of the chat", ended); err != nil {
		p.t.Error(err)
	}
}

func TestAChatInATerminal(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.start("chat")
	p.sees("> ")
	p.types("SAY hello there\r")
	p.sees("hello there\r\n")
	p.sees("> ")
	p.types("/to\t\r") // completed
	p.sees("Tools: read, write")
	p.sees("> ")
	p.types("SAY from \\\rCALL read {\"path\":\"a.txt\"}\r") // two lines
	p.sees("from ")
	p.sees("* Read a.txt")
	p.sees("  two")
	p.sees("> ")
	p.types("\x1b[200~SAY pasted\rSAY lines\x1b[201~\r")
	p.sees("pastedlines")
	p.sees("> ")
	p.types("CALL edit {\"path\":\"a.txt\",\"old\":\"two\",\"new\":\"2\"}\r")
	p.sees("-two")
	p.sees("+2")
	p.sees("3 Reject? ")
	p.types("x\r1\r")
	p.sees("Done. replaced 1 place")
	p.sees("> ")
	p.types("CALL write {\"path\":\"b.txt\",\"content\":\"x\"}\r1\r") // too early to be an answer
	p.sees("* Write b.txt")
	p.sees("3 Reject? ")
	p.types("3\r")
	p.sees("the user denied it")
	p.sees("> 1")
	p.sees("> ")
	if _, err := os.Stat(filepath.Join(p.dir, "b.txt")); err == nil {
		t.Error("what was typed before the question has answered it")
	}
	p.types("SLOW 600\r")
	p.sees("tick 2")
	p.types("\x03") // cancels
	p.sees("the turn ended early: cancelled")
	p.sees("> ")
	p.types("rubbish\x03SAY \x1b[A\x03") // forgets the line
	p.types("/mode\r")
	p.sees("* ask")
	p.types("/mode plan\r/mode\r")
	p.sees("* plan")
	p.sees("> ") // before, the end of a file is one of no line
	p.leaves()
	if b, err := os.ReadFile(filepath.Join(p.dir, "a.txt")); err != nil || string(b) != "one\n2\n" {
		t.Errorf("a.txt has %q, %v", b, err)
	}
	p.start("chat", "-c") // shows it again
	p.sees("SAY hello there")
	p.sees("* Edit a.txt")
	p.sees("> ")
	p.types("\x1b[A\x1b[A\x1b[A\x1b[A") // the history
	p.sees("SLOW 600")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	patience.Value(t, "the end of the program", ended)
	first := p.first()
	p.start() // the default in a terminal
	p.sees("> ")
	p.leaves()
	p.start("chat", "--session", first)
	p.sees("SAY hello there")
	p.sees("> ")
	p.leaves()
}

func TestAChatOfOneTurn(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	for _, test := range []struct {
		args     []string
		in       string
		out, err string
		status   int
	}{
		{[]string{"chat", "-q", "SAY the answer"}, "", "the answer", "", 0},
		{[]string{"chat", "-q"}, "SAY from a pipe", "from a pipe", "", 0},
		{[]string{"chat", "-q", `CALL write {"path":"b.txt","content":"x"}`}, "", "Done. the user denied it", "* Write b.txt\n  @@ -0,0 +1 @@\n  +x\n  \\ No newline at end of file\n! denied: there is nobody to ask; --mode, --allow and the settings can allow it in advance\n  the user denied it; do not try to do the same in another way\n", statusDenied},
		{[]string{"chat", "-q", "--mode", "plan", `CALL write {"path":"b.txt","content":"x"}`}, "", "Done. ", "hermes-agent: denied: Write b.txt\n", statusDenied},
		{[]string{"chat", "-q", `CALL terminal {"command":"rm -rf x"}`}, "", "Done. ", "deletes a folder with everything in it", statusDenied},
		{[]string{"chat", "-q", "--allow", "recursive-delete", `CALL terminal {"command":"rm -rf x"}`}, "", "Done. ", "* ", 0},
		{[]string{"chat", "-q", "--allow", "rm -rf x", `CALL terminal {"command":"rm -rf x"}`}, "", "Done. ", "* ", 0},
		{[]string{"chat", "-q", "--allow", "rm -rf y", `CALL terminal {"command":"rm -rf x"}`}, "", "Done. ", "* ", statusDenied},
		{[]string{"chat", "-q", "--allow", "own-settings", "SAY x"}, "", "", "own-settings is never allowed", statusFailed},
		{[]string{"chat", "-q", "--mode", "accept-edits", `CALL write {"path":"Makefile","content":"x"}`}, "", "Done. ", "denied", statusDenied}, // other programs run it
		{[]string{"chat", "-q", "--mode", "accept-edits", `CALL write {"path":"c.txt","content":"x"}`}, "", "Done. wrote", "+x", 0},
		{[]string{"chat", "-q", "--mode", "fly", "SAY x"}, "", "", `has no value "fly"`, statusFailed},
		{[]string{"chat", "-q", "--model", "none", "SAY x"}, "", "", `has no value "none"`, statusFailed},
		{[]string{"chat", "-q", "--json", "SAY x"}, "", `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}` + "\n", "", 0},
		{[]string{"chat", "-q", "--json", "SAY x"}, "", `"status":"done","stopReason":"end_turn"}}` + "\n", "", 0},
		{[]string{"chat", "-q", "--json", `CALL write {"path":"b.txt","content":"x"}`}, "", `"denied":["Write b.txt"],"error":"denied: Write b.txt","sessionId":`, "", statusDenied},
		{[]string{"chat", "--json"}, "", "", "usage: hermes-agent chat", statusFailed},
		{[]string{"chat", "-q"}, "", "", "usage: hermes-agent chat", statusFailed},
		{[]string{"chat", "hello"}, "", "", "usage: hermes-agent chat", statusFailed},
		{[]string{"chat", "--session", "none", "-q", "x"}, "", "", "unknown session", statusFailed},
	} {
		cmd := p.command(test.args...)
		cmd.Stdin = strings.NewReader(test.in)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		if cmd.ProcessState.ExitCode() != test.status || !strings.Contains(out.String(), test.out) || !strings.Contains(errs.String(), test.err) {
			t.Errorf("%q: %v\nout: %s\nerr: %s", test.args, err, out.String(), errs.String())
		}
		if strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), "* ") {
			t.Errorf("%q prints more than the answer: %q", test.args, out.String())
		}
	}
	if _, err := os.Stat(filepath.Join(p.dir, "b.txt")); err == nil {
		t.Error("a file was written without permission")
	}
}
