package socket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/runtime/transport/access"
)

const (
	greeting     = "hermes/1 "
	maxGreeting  = 2048 // bytes of a handshake line
	accepted     = "ok"
	refused      = "error "
	wrongToken   = "wrong token"
	noHandshake  = "expected the line \"hermes/1 TOKEN\""
	answerWithin = 2 * time.Second // for the one line of a server's answer
)

var errHandshake = errors.New("handshake")

// greet is the client's half, until ctx ends.
func greet(ctx context.Context, c net.Conn, token access.Token) (err error) {
	c.SetDeadline(time.Now().Add(HandshakeTimeout)) // before the end of ctx can move it
	defer c.SetDeadline(time.Time{})
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Now()) })
	defer func() {
		if !stop() && ctx.Err() != nil {
			err = ctx.Err()
		}
	}()
	if _, err := io.WriteString(c, greeting+token.Reveal()+"\n"); err != nil {
		return err
	}
	line, err := readLine(c)
	if err != nil {
		return fmt.Errorf("%w: no answer: %w", errHandshake, err)
	}
	if line == accepted {
		return nil
	}
	if reason, ok := strings.CutPrefix(line, refused); ok {
		return &RefusedError{Addr: c.RemoteAddr().String(), Reason: printable(reason)}
	}
	return fmt.Errorf("%w: %s is not a hermes server", errHandshake, c.RemoteAddr())
}

// admit is the server's half; answer sends its verdict.
func admit(c net.Conn, token access.Token) error {
	c.SetDeadline(time.Now().Add(HandshakeTimeout))
	line, err := readLine(c)
	if err != nil {
		return fmt.Errorf("%w: %w", errHandshake, err)
	}
	given, ok := strings.CutPrefix(line, greeting)
	if !ok {
		return errors.New(noHandshake)
	}
	if !token.Equal(given) {
		return errors.New(wrongToken)
	}
	return nil
}

func answer(c net.Conn, verdict error) error {
	c.SetDeadline(time.Now().Add(answerWithin))
	defer c.SetDeadline(time.Time{})
	line := accepted
	if verdict != nil {
		line = refused + printable(verdict.Error())
	}
	_, err := io.WriteString(c, line+"\n")
	return err
}

// readLine reads up to a line feed and nothing beyond it, which belongs to the
// messages.
func readLine(r io.Reader) (string, error) {
	var line []byte
	var b [1]byte
	for len(line) < maxGreeting {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return "", err
		}
		if b[0] == '\n' {
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		line = append(line, b[0])
	}
	return "", fmt.Errorf("line longer than %d bytes", maxGreeting)
}

// printable is a line from the other end as it may be shown.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), 200)]
}
