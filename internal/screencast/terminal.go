package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
)

const term = "xterm-256color"

// patience is how long a scene waits for what comes next.
const patience = 60 * time.Second

// terminal runs a program, shows its output on a screen and records it.
type terminal struct {
	file *os.File
	cmd  *exec.Cmd
	done chan struct{} // the output has ended

	mu      sync.Mutex // guards the fields below
	screen  *screen
	record  recording
	began   time.Time
	changed time.Time
}

func open(ctx context.Context, columns, lines int, program string, args ...string) (*terminal, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "TERM="+term, "COLORTERM=truecolor", "NVIM=", "TMUX=", "VIMRUNTIME=", "LC_ALL=C.UTF-8")
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(columns), Rows: uint16(lines)})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	t := &terminal{file: file, cmd: cmd, done: make(chan struct{}), screen: newScreen(columns, lines), began: time.Now()}
	t.record = recording{columns: columns, lines: lines}
	go t.read()
	return t, nil
}

// answers are what programs ask a terminal at their start.
var answers = []struct{ query, answer string }{
	{"\x1b[5n", "\x1b[0n"},                            // are you well?
	{"\x1b[c", "\x1b[?62;22c"},                        // what are you?
	{"\x1b]11;?", "\x1b]11;rgb:1414/1616/1b1b\x1b\\"}, // which background?
}

func (t *terminal) read() {
	defer close(t.done)
	buffer := make([]byte, 1<<16)
	for {
		n, err := t.file.Read(buffer)
		if err != nil {
			return // the program has ended
		}
		data := buffer[:n]
		for _, a := range answers {
			if bytes.Contains(data, []byte(a.query)) {
				t.file.WriteString(a.answer)
			}
		}
		t.mu.Lock()
		t.screen.Write(data)
		t.changed = time.Now()
		t.record.events = append(t.record.events, event{t.changed.Sub(t.began), string(data)})
		t.mu.Unlock()
	}
}

func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen.text()
}

// wait returns once the text is on the screen and nothing has changed for a moment.
func (t *terminal) wait(text string) error {
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		t.mu.Lock()
		quiet := time.Since(t.changed) > 300*time.Millisecond
		shown := strings.Contains(t.screen.text(), text)
		t.mu.Unlock()
		if shown && quiet {
			return nil
		} else if time.Now().After(end) {
			return fmt.Errorf("no %q on the screen:\n%s", text, t.text())
		}
	}
}

// keys types as a person does.
func (t *terminal) keys(keys string) error {
	for _, key := range keys {
		if _, err := t.file.WriteString(string(key)); err != nil {
			return fmt.Errorf("type %q: %w", keys, err)
		}
		time.Sleep(60 * time.Millisecond)
	}
	return nil
}

// close ends Neovim as a user does.
func (t *terminal) close() error {
	defer t.file.Close()
	if _, err := t.file.WriteString("\x1c\x0e:qa!\r"); err != nil {
		return fmt.Errorf("quit %s: %w", t.cmd.Path, err)
	}
	select {
	case <-t.done:
	case <-time.After(patience):
		t.cmd.Process.Kill()
		return fmt.Errorf("quit %s: it still runs", t.cmd.Path)
	}
	if err := t.cmd.Wait(); err != nil {
		return fmt.Errorf("run %s: %w", t.cmd.Path, err)
	}
	return nil
}
