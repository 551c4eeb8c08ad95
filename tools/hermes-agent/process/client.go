package process

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/terminal"
)

// Terminals are the terminals of a client. An acp.Client has these methods.
type Terminals interface {
	CreateTerminal(context.Context, *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error)
	TerminalOutput(context.Context, *acp.TerminalOutputRequest) (*acp.TerminalOutputResponse, error)
	WaitForTerminalExit(context.Context, *acp.WaitForTerminalExitRequest) (*acp.WaitForTerminalExitResponse, error)
	KillTerminal(context.Context, *acp.KillTerminalRequest) (*acp.KillTerminalResponse, error)
	ReleaseTerminal(context.Context, *acp.ReleaseTerminalRequest) (*acp.ReleaseTerminalResponse, error)
}

// plain is a line that means the same without a shell.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./-][A-Za-z0-9_./:=@%+, -]*$`)

// Vector is the program and the arguments of a line. Rules of clients are about
// programs, so only lines that need a shell get one.
func Vector(line string) []string {
	line = strings.TrimSpace(line)
	if words := strings.Fields(line); plain.MatchString(line) && !strings.Contains(words[0], "=") {
		if _, err := exec.LookPath(words[0]); err == nil { // otherwise it is a word of the shell
			return words
		}
	}
	return append(shell(), line)
}

// again is the pause before waiting again on a client that stopped waiting.
const again = time.Second

// inClient is a command in a terminal of the client, where the user sees it and can
// end it.
type inClient struct {
	terminals Terminals
	session   acp.SessionID
	id        acp.TerminalID
	done      chan struct{} // closed when the terminal is released
	forget    func()        // ends the wait for its end

	mu       sync.Mutex
	out      string // what the client kept when it was last asked, the newest
	cut      bool   // it has not kept everything
	seen     string // by news
	released bool   // out is final
}

// inClient starts a command in a terminal of the client.
func (r *Registry) inClient(ctx context.Context, _ string, c Command, exited func(s terminal.Status, lost bool)) (child, error) {
	vector := Vector(c.Line)
	created, err := r.opts.Terminals.CreateTerminal(ctx, &acp.CreateTerminalRequest{
		SessionID: r.opts.Session, Command: vector[0], Args: vector[1:],
		Cwd: acp.Some(c.Dir), OutputByteLimit: acp.Some[uint64](MaxOutput),
	})
	if err != nil {
		return nil, err
	}
	if c.Shown != nil {
		c.Shown(created.TerminalID)
	}
	waiting, forget := context.WithCancel(context.Background())
	t := &inClient{terminals: r.opts.Terminals, session: r.opts.Session, id: created.TerminalID, done: make(chan struct{}), forget: forget}
	go func() {
		defer forget()
		status, err := t.wait(waiting)
		t.release()
		exited(status, err != nil)
		close(t.done)
	}()
	return t, nil
}

// wait waits for the end of the command. A client may end the wait before, for example
// with the turn that began it.
func (t *inClient) wait(ctx context.Context) (terminal.Status, error) {
	for {
		end, err := t.terminals.WaitForTerminalExit(ctx, &acp.WaitForTerminalExitRequest{SessionID: t.session, TerminalID: t.id})
		if err == nil {
			return terminal.Status{Code: int(end.ExitCode.V), Signal: end.Signal.V}, nil
		}
		t.mu.Lock()
		status, lost := t.fetch()
		t.mu.Unlock()
		switch {
		case status != nil:
			return terminal.Status{Code: int(status.ExitCode.V), Signal: status.Signal.V}, nil
		case lost != nil:
			return terminal.Status{}, err
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return terminal.Status{}, err
		}
	}
}

// fetch asks the client for the output, and for the status if the command has ended. The
// caller holds mu.
func (t *inClient) fetch() (*acp.TerminalExitStatus, error) {
	if t.released {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	answer, err := t.terminals.TerminalOutput(ctx, &acp.TerminalOutputRequest{SessionID: t.session, TerminalID: t.id})
	if err != nil {
		return nil, err
	}
	t.out, t.cut = answer.Output, answer.Truncated
	return answer.ExitStatus, nil
}

// release keeps the output and gives the terminal back.
func (t *inClient) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.fetch(); err != nil {
		t.out += fmt.Sprintf("[the output is lost: %v]\n", err)
	}
	t.released = true
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	t.terminals.ReleaseTerminal(ctx, &acp.ReleaseTerminalRequest{SessionID: t.session, TerminalID: t.id}) // a client that is gone has released it
}

func (t *inClient) news() news {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fetch()
	known := overlap(t.seen, t.out)
	t.seen = t.out
	return news{Text: t.out[known:], Cut: t.cut && known == 0}
}

// overlap is how much of the beginning of now is the end of what was seen. Both are
// the ends of one text.
func overlap(seen, now string) int {
	if strings.HasPrefix(now, seen) {
		return len(seen)
	}
	// The algorithm of Knuth, Morris and Pratt: shorter[i] is the longest beginning of now
	// that also ends behind its byte i, and is not all of it.
	shorter := make([]int, len(now))
	extend := func(n int, next byte) int {
		for n == len(now) || n > 0 && now[n] != next {
			n = shorter[n-1]
		}
		if now[n] == next {
			n++
		}
		return n
	}
	if now == "" {
		return 0
	}
	for i := 1; i < len(now); i++ {
		shorter[i] = extend(shorter[i-1], now[i])
	}
	n := 0
	for i := range len(seen) {
		n = extend(n, seen[i])
	}
	return n
}

func (t *inClient) log() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fetch()
	return t.out
}

func (t *inClient) write(context.Context, string) error {
	return errors.New("it runs in a terminal of the user, where nothing can be typed: start it with input")
}

// end kills the command and waits until the output is complete.
func (t *inClient) end() error {
	select {
	case <-t.done:
		return nil
	default:
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	t.mu.Lock()
	if !t.released { // not in the middle of it either
		t.terminals.KillTerminal(ctx, &acp.KillTerminalRequest{SessionID: t.session, TerminalID: t.id}) // it may have ended
	}
	t.mu.Unlock()
	select {
	case <-t.done:
	case <-ctx.Done(): // the client does not answer
		t.forget()
		<-t.done
	}
	return nil
}
