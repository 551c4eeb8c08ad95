package main

import (
	"errors"
	"os"
	"os/exec"
	"sync"

	"github.com/hermes-nvim/hermes/internal/process"
)

// life is a process of an agent, and its ends of the line.
type life struct {
	cmd                   *exec.Cmd
	stdin, stdout, stderr *os.File
}

// bear starts a process of an agent.
func bear(argv []string) (*life, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	l := &life{cmd: cmd}
	err := process.Piped(cmd, func(p process.Pipes) error {
		l.stdin, l.stdout, l.stderr = p.Stdin, p.Stdout, p.Stderr
		return cmd.Start()
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// lives is the agent of a proxy: one process, and after a fault another one. Messages
// of the client go to the present process.
type lives struct {
	mu     sync.Mutex
	turned sync.Cond
	now    *life
	ending bool // now is being killed, and another process follows
	closed bool // the client has closed its side
	over   bool // no process follows
}

func newLives(first *life) *lives {
	l := &lives{now: first}
	l.turned.L = &l.mu
	return l
}

// wait waits for the next process while one follows another. l.mu is held.
func (l *lives) wait() {
	for l.ending && !l.over {
		l.turned.Wait()
	}
}

// settled returns when no process is about to follow another.
func (l *lives) settled() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wait()
}

// Write passes on the client's bytes.
func (l *lives) Write(b []byte) (int, error) { return l.pass(b, func() {}) }

// pass passes on the client's bytes. Before that it calls told, while it is certain
// which process will get them. Bytes that the process leaves unread when it is killed
// are lost.
func (l *lives) pass(b []byte, told func()) (int, error) {
	l.mu.Lock()
	l.wait()
	told()
	to := l.now
	l.mu.Unlock()
	n, err := to.stdin.Write(b)
	if err == nil {
		return n, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now != to || l.ending {
		return len(b), nil
	}
	return n, err
}

// Close passes on that the client has closed its side.
func (l *lives) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return l.now.stdin.Close()
}

// kill ends the process of now, and lets another one follow.
func (l *lives) kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ending && !l.over {
		l.ending = true
		l.now.cmd.Process.Kill()
		l.now.stdin.Close() // what it has started notices, too
	}
}

// restarts reports whether another process has to follow the one of now, which has exited.
func (l *lives) restarts() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ending
}

// next continues with another process, nil if none could be started.
func (l *lives) next(one *life) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending = false; one == nil {
		l.over = true
	} else if l.now = one; l.closed {
		one.stdin.Close()
	}
	l.turned.Broadcast()
}

// signal passes a signal on.
func (l *lives) signal(s os.Signal) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending {
		return errors.New("the agent is being restarted")
	}
	return l.now.cmd.Process.Signal(s)
}
