package live

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
)

// robust are the steps with messages that agents do not expect.
var robust = []*step{
	{id: "string-id", title: "An answer has the id of its request, also if that is a string.", tier: Mandatory, requirements: []string{"ACP-JSONRPC-001"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			c, err := d.askAs(`"hermes-lint"`, customMethod, object{}, nil)
			if err == nil {
				_, err = d.wait(ctx, c)
			}
			return answered(err)
		}},
	{id: "unknown-method", title: "An unknown method is answered with -32601.", tier: Advisory, requirements: []string{"ACP-JSONRPC-004"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			_, err = d.call(ctx, unknownMethod, object{})
			if f := (*failure)(nil); errors.As(err, &f) {
				if f.Code == int(acp.ErrorCodeMethodNotFound) {
					return nil
				}
			} else if err == nil {
				return errors.New("it is answered with a result")
			}
			return err
		}},
	{id: "custom-method", title: "A method that begins with _ is answered, known or not.", tier: Mandatory, requirements: []string{"ACP-EXT-001"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			return s.alive(ctx, d)
		}},
	{id: "unknown-notification", title: "Unknown notifications are not answered.", tier: Mandatory, requirements: []string{"ACP-JSONRPC-003"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			return s.unanswered(ctx, d, func() error {
				return errors.Join(d.notify(unknownMethod, object{}), d.notify("_hermes.dev/lint/note", object{}), d.notify("$/hermes/lint", object{}))
			})
		}},
	{id: "stray-answer", title: "An answer that nobody waits for is ignored.", tier: Advisory,
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			return s.unanswered(ctx, d, func() error { return d.send([]byte(`{"jsonrpc":"2.0","id":987654,"result":{}}`)) })
		}},
	{id: "bad-params", title: "After a request with wrong params the connection works.", tier: Advisory, requirements: []string{"ACP-JSONRPC-005", "ACP-ERROR-001"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			_, err = d.call(ctx, acp.MethodSessionNew, object{"cwd": 7})
			if f := (*failure)(nil); errors.As(err, &f) {
				s.note = f.Error()
			} else if err != nil {
				return err
			} else {
				s.note = "session/new with a number as cwd succeeds"
			}
			return s.alive(ctx, d)
		}},
	{id: "message-pieces", title: "A message may arrive in pieces, and two at once.", tier: Mandatory,
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			var calls []*call
			var texts [][]byte
			for _, id := range []string{"700001", "700002"} {
				c := &call{method: customMethod, answer: make(chan *message, 1)}
				d.mu.Lock()
				d.open[id] = c
				d.mu.Unlock()
				calls = append(calls, c)
				texts = append(texts, []byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"`+customMethod+`","params":{"text":"größer 😀"}}`))
			}
			whole := append(bytes.Join(texts, []byte("\n")), '\n')
			// The first piece ends inside a character, the second has the rest of both.
			cut := bytes.IndexByte(whole, 0xc3) + 1
			if err := d.pieces([][]byte{whole[:cut], whole[cut:]}, texts...); err != nil {
				return err
			}
			for _, c := range calls {
				if _, e := d.wait(ctx, c); answered(e) != nil {
					return e
				}
			}
			return nil
		}},
	{id: "message-large", title: "A message of 1 MiB is answered.", tier: Advisory,
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			_, err = d.call(ctx, customMethod, object{"text": strings.Repeat("large ", 1<<20/6)})
			return answered(err)
		}},
	{id: "line-blank", title: "A blank line.", tier: Informational,
		do: func(s *stage, ctx context.Context) error { return s.odd(ctx, "") }},
	{id: "line-noise", title: "A line that is not JSON.", tier: Informational, requirements: []string{"ACP-INFO-PARSE-001"},
		do: func(s *stage, ctx context.Context) error { return s.odd(ctx, `{"jsonrpc":"2.0","id":`) }},
	{id: "line-other", title: "JSON that is not a message.", tier: Informational, requirements: []string{"ACP-INFO-INVALIDREQ-001"},
		do: func(s *stage, ctx context.Context) error { return s.odd(ctx, `{"foo":"bar"}`) }},
}

// answered is nil for an answer of either kind.
func answered(err error) error {
	if f := (*failure)(nil); errors.As(err, &f) {
		return nil
	}
	return err
}

// odd notes what follows a line that no client should send.
func (s *stage) odd(ctx context.Context, text string) error {
	d, err := s.ready(ctx)
	if err != nil {
		return err
	}
	reply, end := d.expect(func(m *message) bool { return m.Method == nil && d.open[string(m.ID)] == nil })
	defer end()
	if err := d.send([]byte(text)); err != nil {
		return err
	}
	if s.note = "no answer"; s.heard(reply, time.Second, d) {
		s.note = "answered"
	}
	short, cancel := context.WithTimeoutCause(ctx, 10*time.Second, late(10*time.Second))
	defer cancel()
	if err := s.alive(short, d); err != nil {
		s.note += "; afterwards " + err.Error()
		s.stop()
	} else {
		s.note += "; the connection works"
	}
	return nil
}

func (s *stage) heard(reply chan *message, limit time.Duration, d *driven) bool {
	select {
	case <-reply:
		return true
	case <-d.ended:
	case <-time.After(limit):
	}
	return false
}
