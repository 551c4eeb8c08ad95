package live

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/internal/process"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

// Agent is a running agent.
type Agent struct {
	In     io.WriteCloser // its standard input
	Out    io.Reader      // its standard output
	Exited <-chan struct{}
	Status func() string // how it exited
	End    func() error  // closes its input, and ends it and all that it started if it does not exit in time
	Kill   func()        // ends it now
}

// Program says how to start an agent.
type Program struct {
	Argv   []string
	Env    []string          // NAME=value, besides the environment of this process
	Keeper []string          // see launch.Command
	Stderr func(line []byte) // gets each line of standard error
}

const (
	graceTime = 2 * time.Second // between the stages of the end
	lastWords = 500 * time.Millisecond
	maxStderr = 64 << 10 // of a line, in bytes
)

// Start starts an agent in a process group of its own, in the folder of this process. It
// never outlives this process where there is a keeper.
func (p Program) Start() (*Agent, error) {
	x := exec.Command(p.Argv[0], p.Argv[1:]...)
	if x.Err != nil {
		return nil, x.Err
	}
	x.Env = append(os.Environ(), p.Env...)
	exited := make(chan struct{})
	var status process.Exit
	read := make(chan struct{})
	var group *process.Group
	var pipes process.Pipes
	err := process.Piped(x, func(ours process.Pipes) (err error) {
		pipes = ours
		group, err = process.Start(x, process.Kind{Whole: true, Death: process.Terminated, Keeper: p.Keeper}, func(_ *process.Group, e process.Exit) {
			status = e
			ours.Stdout.SetReadDeadline(time.Now().Add(lastWords)) // others may hold it open
			ours.Stderr.SetReadDeadline(time.Now().Add(lastWords))
			<-read
			close(exited)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	group.Busy(true) // so that no daemon is spared
	go func() {
		defer close(read)
		defer pipes.Stderr.Close()
		r := bufio.NewReaderSize(pipes.Stderr, maxStderr)
		for {
			line, more, err := r.ReadLine()
			if err != nil {
				return
			}
			if p.Stderr != nil {
				p.Stderr(line)
			}
			for more && err == nil {
				_, more, err = r.ReadLine() // the rest of a long line
			}
		}
	}()
	var once sync.Once
	gone := func(limit time.Duration) bool {
		select {
		case <-exited:
			return true
		case <-time.After(limit):
			return false
		}
	}
	a := &Agent{In: pipes.Stdin, Out: pipes.Stdout, Exited: exited}
	a.Status = func() string {
		if status.Signal != "" {
			return "ended by " + status.Signal
		}
		return fmt.Sprintf("exit status %d", status.Code)
	}
	a.Kill = func() {
		group.Look()
		group.Kill()
		gone(graceTime)
	}
	a.End = func() error {
		once.Do(func() {
			group.Look()
			pipes.Stdin.Close()
			if !gone(graceTime) {
				group.Terminate()
			}
			if !gone(graceTime) {
				group.Kill()
			}
		})
		if !gone(2 * graceTime) {
			return errors.New("the agent is still running after KILL")
		}
		pipes.Stdout.Close()
		return nil
	}
	return a, nil
}

// words are the last lines on the standard error of an agent, without secrets. They say why
// an agent ended that nobody had asked to. All methods may be called concurrently.
type words struct {
	mu    sync.Mutex
	lines []string
}

// The most that is quoted of them.
const (
	quotedLines = 3
	quotedBytes = 200 // of a line
)

func (w *words) add(line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	line, _ = trace.Redact(line)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines[max(0, len(w.lines)-quotedLines+1):], lint.Visible(line, quotedBytes))
}

// last is the end of a sentence about the end of the agent, empty if it printed
// nothing.
func (w *words) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.lines) == 0 {
		return ""
	}
	return "; stderr: " + strings.Join(w.lines, " | ")
}
