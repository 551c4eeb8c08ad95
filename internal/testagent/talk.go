package testagent

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// message is one that a program hears.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

// next reads a message. It ends the program with the input.
func next(in *bufio.Reader) (m message, line []byte, err error) {
	line, eof := in.ReadBytes('\n')
	if eof != nil {
		end(0)
	}
	return m, line, json.Unmarshal(line, &m)
}

// usual are the answers of a program that ANSWER has given no others.
var usual = map[string]string{
	"initialize":     `"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`,
	"session/new":    `"result":{"sessionId":"mine"}`,
	"session/prompt": `"result":{"stopReason":"end_turn"}`,
}

func answer(_ context.Context, p *player, rest string) error {
	method, member, ok := strings.Cut(rest, " ")
	if !ok || !json.Valid([]byte("{"+member+"}")) {
		return fmt.Errorf("no member of an answer: %s", member)
	}
	if p.answers == nil {
		p.answers = map[string]string{}
	}
	p.answers[method] = member
	return nil
}

func talk(ctx context.Context, p *player, method string) error {
	in, err := p.input()
	if err != nil {
		return err
	}
	for {
		m, _, err := next(in)
		if err != nil || m.ID == nil || m.Method == "" {
			continue // no request
		}
		p.id = string(m.ID)
		if m.Method == method {
			return nil
		}
		if err := reply(ctx, p, m.Method); err != nil {
			return err
		}
		p.heard = append(p.heard, m.Method+" "+string(m.Params))
	}
}

// reply answers the last request that was heard.
func reply(_ context.Context, p *player, method string) error {
	member, ok := p.answers[method]
	if !ok {
		member, ok = usual[method]
	}
	if !ok {
		member = `"result":{}`
	}
	return p.write(`{"jsonrpc":"2.0","id":` + p.id + `,` + member + "}\n")
}

func request(_ context.Context, p *player, rest string) error {
	in, err := p.input()
	if err != nil {
		return err
	}
	method, params, _ := strings.Cut(rest, " ")
	if strings.HasPrefix(rest, `"`) {
		d := json.NewDecoder(strings.NewReader(rest))
		if err := d.Decode(&method); err != nil {
			return err
		}
		params = rest[d.InputOffset():]
	}
	quoted, err := json.Marshal(method)
	if err != nil {
		return err
	}
	p.asked++
	id := fmt.Sprintf(`"a%d"`, p.asked)
	err = p.write(`{"jsonrpc":"2.0","id":` + id + `,"method":` + string(quoted) + `,"params":` + params + "}\n")
	for err == nil {
		m, line, bad := next(in)
		if bad == nil && string(m.ID) == id {
			p.answer = strings.TrimSpace(string(line))
			return nil
		}
	}
	return err
}

func copyFile(_ context.Context, _ *player, rest string) error {
	from, to, _ := strings.Cut(rest, " ")
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}
