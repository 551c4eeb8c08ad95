package testagent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// Env is the environment variable with the scenario of a program.
const Env = "HERMES_TEST_SCENARIO"

// Main plays the scenario in Env and ends the program, with status 0 unless the
// scenario says otherwise. Without a scenario it returns at once.
func Main() {
	scenario, ok := os.LookupEnv(Env)
	if !ok {
		return
	}
	p := &player{out: os.Stdout}
	steps := strings.Split(scenario, "\n")
	for i := 0; i < len(steps); i++ {
		if steps[i] == "AGAIN" {
			i = -1
			continue
		}
		p.must(steps[i])
	}
	end(0)
}

// end ends the program. With the race detector, os.Exit waits a second first, and so
// whoever ends an agent would.
func end(code int) { syscall.Exit(code) }

// must runs a step of a program.
func (p *player) must(step string) {
	if err := p.do(context.Background(), step); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", step, err)
		end(99)
	}
}

var errOnlyProgram = errors.New("it works only in the scenario of a program")

var programVerbs = map[string]step{
	"AGAIN":   again,    // start the program's scenario over
	"ANSWER":  answer,   // METHOD MEMBER: give requests for METHOD this answer in TALK: "result":JSON or "error":JSON
	"CHILD":   child,    // leave a deaf process behind in the group
	"COPY":    copyFile, // FROM TO: copy a file
	"DEAF":    deaf,     // ignore TERM, HUP, INT and PIPE from now on
	"DRIP":    drip,     // N WAIT TEXT: write a line in pieces of N bytes
	"ENDLESS": endless,  // write a line that never ends
	"EOF":     untilEOF, // read until the input ends
	"ERR":     complain, // TEXT: write a line to standard error
	"EXIT":    exit,     // CODE: end the program
	"FLOOD":   flood,    // N TEXT: write a line N times, where $N is its number; 0: for ever
	"FREEZE":  freeze,   // stop this process with SIGSTOP
	"GIANT":   giant,    // BYTES: write one update of that size
	"HEAR":    hear,     // [METHOD]: read messages up to one with that method
	"IF":      ifThere,  // PATH STEP: do a step if there is such a file
	"IGNORE":  ignore,   // DURATION: do nothing for that long, whatever happens
	"KILL":    die,      // die by SIGKILL
	"LINE":    line,     // TEXT: write a line
	"OBEY":    obey,     // hear a prompt, and do the steps in its text
	"PART":    part,     // FILE N: write the first N bytes of a file
	"PUT":     put,      // TEXT: write a quoted Go string
	"REMOVE":  remove,   // PATH: remove a file
	"REPLY":   reply,    // METHOD: answer the last request that was heard, as TALK answers METHOD
	"REQUEST": request,  // METHOD PARAMS: send a request and wait for its answer; METHOD may be a JSON string
	"SERVE":   serve,    // [MODE...]: be an Agent of that mode until the connection ends
	"TALK":    talk,     // [METHOD]: answer requests, up to one for that method or the end of the input
	"TOUCH":   touch,    // PATH TEXT: write a file; \n is a line end
	"UNTIL":   until,    // PATH: wait until there is such a file
	"WAIT":    wait,     // [DURATION]: wait for the end of the turn, or for that long
}

func again(context.Context, *player, string) error { return errOnlyProgram }

func (p *player) write(text string) error {
	if p.out == nil {
		return errors.New("this connection is not made of bytes")
	}
	_, err := io.WriteString(p.out, text)
	return err
}

func (p *player) input() (*bufio.Reader, error) {
	if p.turn != nil {
		return nil, errors.New("the connection reads the input")
	}
	if p.in == nil {
		p.in = bufio.NewReaderSize(os.Stdin, 64<<10)
	}
	return p.in, nil
}

func child(context.Context, *player, string) error {
	c := exec.Command(os.Args[0])
	c.Env = []string{Env + "=DEAF\nWAIT 1h"}
	return c.Start()
}

func deaf(context.Context, *player, string) error {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
	return nil
}

func drip(_ context.Context, p *player, rest string) error {
	var n int
	var pause string
	if _, err := fmt.Sscan(rest, &n, &pause); err != nil {
		return err
	}
	d, err := time.ParseDuration(pause)
	for text := strings.SplitN(rest, " ", 3)[2] + "\n"; err == nil && text != ""; time.Sleep(d) {
		err = p.write(text[:min(n, len(text))])
		text = text[min(n, len(text)):]
	}
	return err
}

func endless(_ context.Context, p *player, _ string) error {
	for block := strings.Repeat("x", 64<<10); ; {
		if err := p.write(block); err != nil {
			return err
		}
	}
}

func untilEOF(_ context.Context, p *player, _ string) error {
	in, err := p.input()
	if err == nil {
		_, err = in.WriteTo(io.Discard)
	}
	return err
}

func complain(_ context.Context, _ *player, rest string) error {
	_, err := fmt.Fprintln(os.Stderr, rest)
	return err
}

func exit(_ context.Context, _ *player, rest string) error {
	code, err := strconv.Atoi(rest)
	if err == nil {
		end(code)
	}
	return err
}

func flood(_ context.Context, p *player, rest string) error {
	count, text, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(count)
	if err != nil || p.out == nil {
		return errors.Join(err, p.write(""))
	}
	w := bufio.NewWriterSize(p.out, 32<<10)
	for i := 0; n == 0 || i < n; i++ {
		if _, err := w.WriteString(strings.ReplaceAll(text, "$N", strconv.Itoa(i)) + "\n"); err != nil {
			return err
		}
	}
	return w.Flush()
}

func freeze(context.Context, *player, string) error { return signalSelf(stop) }

func die(context.Context, *player, string) error { return signalSelf(os.Kill) }

// signalSelf does not return: another thread may be the first to stop.
func signalSelf(s os.Signal) error {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(s)
	}
	if err == nil {
		time.Sleep(time.Hour)
	}
	return err
}

func giant(_ context.Context, p *player, rest string) error {
	n, err := strconv.Atoi(rest)
	if err != nil {
		return err
	}
	head, tail := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","x":"`, `"}}`+"\n"
	if err := p.write(head); err != nil {
		return err
	}
	block := strings.Repeat("x", 256<<10)
	for left := n - len(head) - len(tail) + 1; left > 0; left -= len(block) {
		if err := p.write(block[:min(left, len(block))]); err != nil {
			return err
		}
	}
	return p.write(tail)
}

// hear ends the program with the input.
func hear(_ context.Context, p *player, method string) error {
	in, err := p.input()
	for err == nil {
		m, _, err := next(in)
		if err != nil {
			return err
		}
		if method == "" || m.Method == method {
			if m.ID != nil && m.Method != "" {
				var params struct{ Prompt []struct{ Text string } }
				if err := json.Unmarshal(m.Params, &params); m.Params != nil && err != nil {
					return err
				}
				p.id, p.steps = string(m.ID), nil
				for _, block := range params.Prompt {
					p.steps = append(p.steps, strings.Split(block.Text, "\n")...)
				}
			}
			return nil
		}
	}
	return err
}

func ignore(_ context.Context, _ *player, rest string) error {
	d, err := time.ParseDuration(rest)
	time.Sleep(d)
	return err
}

func ifThere(ctx context.Context, p *player, rest string) error {
	path, step, _ := strings.Cut(rest, " ")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return p.do(ctx, step)
}

func line(_ context.Context, p *player, rest string) error { return p.write(rest + "\n") }

func obey(ctx context.Context, p *player, _ string) error {
	if err := hear(ctx, p, acp.MethodSessionPrompt); err != nil {
		return err
	}
	for _, step := range p.steps {
		p.must(step)
	}
	return nil
}

func part(_ context.Context, p *player, rest string) error {
	path, count, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return p.write(string(text[:n]))
}

func put(_ context.Context, p *player, rest string) error {
	text, err := strconv.Unquote(rest)
	if err != nil {
		return err
	}
	return p.write(text)
}

func remove(_ context.Context, _ *player, path string) error { return os.Remove(path) }

func serve(ctx context.Context, p *player, mode string) error {
	a := &Agent{Mode: mode}
	if p.turn != nil {
		return errOnlyProgram
	}
	if err := a.check(); err != nil {
		return err
	}
	if p.in == nil {
		a.serve(ctx, transport.Stdio(), p.out)
	} else { // it may have read ahead
		a.serve(ctx, transport.NewStream(p.in, p.out), p.out)
	}
	return nil
}

func touch(_ context.Context, _ *player, rest string) error {
	path, text, _ := strings.Cut(rest, " ")
	return os.WriteFile(path, []byte(strings.ReplaceAll(text, `\n`, "\n")), 0o644)
}

func until(ctx context.Context, _ *player, path string) error {
	for {
		if _, err := os.Lstat(path); err == nil {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return nil
		}
	}
}

func wait(ctx context.Context, _ *player, rest string) error {
	var after <-chan time.Time
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil {
			return err
		}
		after = time.After(d)
	}
	select {
	case <-after:
	case <-ctx.Done():
	}
	return nil
}
