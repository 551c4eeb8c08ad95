//go:build unix

// Command agent misbehaves as the script in HERMES_HOSTILE says, a step a line:
//
//	hear [METHOD]        read messages up to one with that method; $ID is its id
//	obey                 hear a prompt, and do the steps in its _meta.steps
//	say TEXT             write a line
//	put TEXT             write a quoted Go string as it is
//	part FILE N          write the first N bytes of a file
//	drip N WAIT TEXT     write a line in pieces of N bytes
//	flood N TEXT         write a line N times; $N is its number; endless when N is 0
//	giant BYTES          write one update of that size
//	endless              write a line that never ends
//	err TEXT             write a line to standard error
//	wait DURATION        do nothing
//	untilEOF             read until the input ends
//	deaf                 ignore TERM, HUP and INT from now on
//	child                leave a process of the same kind behind in the group
//	freeze               stop this process with SIGSTOP
//	kill                 die by SIGKILL
//	exit CODE
//	again                start over
//
// A script that ends without an exit leaves with status 0.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const scriptEnv = "HERMES_HOSTILE"

func main() {
	p := &player{in: bufio.NewReaderSize(os.Stdin, 64<<10)}
	steps := strings.Split(os.Getenv(scriptEnv), "\n")
	for i := 0; i < len(steps); i++ {
		verb, rest, _ := strings.Cut(strings.TrimSpace(steps[i]), " ")
		if verb == "again" {
			i = -1
			continue
		}
		p.do(steps[i], verb, rest)
	}
}

func (p *player) do(line, verb, rest string) {
	if err := p.step(verb, strings.ReplaceAll(rest, "$ID", p.id)); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", line, err)
		os.Exit(99)
	}
}

type player struct {
	in *bufio.Reader
	id string // of the last request

	steps []string // it brought
}

func (p *player) step(verb, rest string) error {
	first, second, _ := strings.Cut(rest, " ")
	n, _ := strconv.Atoi(first)
	switch verb {
	case "":
	case "hear":
		return p.hear(rest)
	case "obey":
		if err := p.hear("session/prompt"); err != nil {
			return err
		}
		for _, line := range p.steps {
			verb, rest, _ := strings.Cut(line, " ")
			p.do(line, verb, rest)
		}
	case "say":
		return write(rest + "\n")
	case "put":
		text, err := strconv.Unquote(rest)
		if err != nil {
			return err
		}
		return write(text)
	case "part":
		bytes, err := strconv.Atoi(second)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(first)
		if err != nil {
			return err
		}
		return write(string(text[:bytes]))
	case "drip":
		pause, text, _ := strings.Cut(second, " ")
		d, err := time.ParseDuration(pause)
		for text += "\n"; err == nil && text != ""; time.Sleep(d) {
			err = write(text[:min(n, len(text))])
			text = text[min(n, len(text)):]
		}
		return err
	case "flood":
		w := bufio.NewWriterSize(os.Stdout, 32<<10)
		for i := 0; n == 0 || i < n; i++ {
			if _, err := w.WriteString(strings.ReplaceAll(second, "$N", strconv.Itoa(i)) + "\n"); err != nil {
				return err
			}
		}
		return w.Flush()
	case "giant":
		return giant(n)
	case "endless":
		for block := strings.Repeat("x", 64<<10); ; {
			if err := write(block); err != nil {
				return err
			}
		}
	case "err":
		fmt.Fprintln(os.Stderr, rest)
	case "wait":
		d, err := time.ParseDuration(rest)
		time.Sleep(d)
		return err
	case "untilEOF":
		for {
			if _, err := p.in.Discard(1); err != nil {
				return nil
			}
		}
	case "deaf":
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
	case "child":
		c := exec.Command(os.Args[0])
		c.Env = []string{scriptEnv + "=deaf\nwait 1h"}
		return c.Start()
	case "freeze":
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(time.Hour) // another thread may be the first to stop
	case "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Hour)
	case "exit":
		os.Exit(n)
	default:
		return fmt.Errorf("no step %q", verb)
	}
	return nil
}

// hear reads up to a message with a method, or the next message, and ends the
// program with the input.
func (p *player) hear(method string) error {
	for {
		line, err := p.in.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Meta struct{ Steps []string } `json:"_meta"`
			}
		}
		if err := json.Unmarshal(bytes.TrimSpace(line), &m); err != nil {
			return err
		}
		if method == "" || m.Method == method {
			if m.ID != nil {
				p.id, p.steps = string(m.ID), m.Params.Meta.Steps
			}
			return nil
		}
	}
}

// giant writes one session/update of n bytes.
func giant(n int) error {
	head, tail := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","x":"`, `"}}`+"\n"
	if err := write(head); err != nil {
		return err
	}
	block := strings.Repeat("x", 256<<10)
	for left := n - len(head) - len(tail) + 1; left > 0; left -= len(block) {
		if err := write(block[:min(left, len(block))]); err != nil {
			return err
		}
	}
	return write(tail)
}

func write(s string) error {
	_, err := os.Stdout.WriteString(s)
	return err
}
