package acptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp/validate"
)

// example is a line of a file of messages: messages from the documentation of the
// protocol, or messages that agents and a client have sent.
type example struct {
	Page    string `json:"page"`    // of the documentation, or agent and recording
	N       int    `json:"n"`       // its number there
	Answers string `json:"answers"` // method of the request that a result belongs to
	To      string `json:"to"`      // of a recording: who received it
	Message struct {
		Method string          `json:"method"`
		ID     json.RawMessage `json:"id"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	} `json:"message"`
}

// Examples decodes and encodes the messages of a file. Some of them are wrong: the
// map wrong says which ones do not survive ("page#n"), and why. An entry that is not
// needed is an error.
func Examples(t *testing.T, p Package, name string, wrong map[string]string) {
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	v := validate.New(validate.Edition(p.Edition), validate.Tolerant)
	good := 0
	for lines.Scan() {
		var e example
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%s#%d", e.Page, e.N)
		err := p.example(e)
		if err == nil && e.To != "" {
			err = agreed(v, e, lines.Bytes())
		}
		reason, known := wrong[name]
		switch {
		case err != nil && known:
			t.Logf("%s: %s (%v)", name, reason, err)
		case err != nil:
			t.Errorf("%s: %v\n  %s", name, err, lines.Bytes())
		case known:
			t.Errorf("%s decodes now; delete it from the list", name)
		default:
			good++
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d examples survive", good)
}

// Traffic is Examples for messages of every shape that two published agents, and one
// on the TypeScript SDK, exchanged with a client. The client made mistakes on purpose.
// more lists further messages that this version does not know.
func Traffic(t *testing.T, p Package, name string, more map[string]string) {
	wrong := map[string]string{
		"gemini-0.61.0/modes#22":    "a method that was removed",
		"gemini-0.61.0/modes#23":    "a method that was removed",
		"sdk-remote-2.4.0/http#113": "no such method, on purpose",
		"zedclaude-0.16.2/modes#18": "a method that was removed",
		"zedclaude-0.16.2/modes#19": "a method that was removed",
	}
	for _, agent := range []string{"gemini-0.61.0/errors#11", "sdk-2.4.0/errors#10", "zedclaude-0.16.2/errors#11"} {
		wrong[agent] = "no such method, on purpose"
	}
	for _, agent := range []string{"gemini-0.61.0/errors#19", "sdk-2.4.0/errors#18", "zedclaude-0.16.2/errors#19"} {
		wrong[agent] = "a prompt without content, on purpose"
	}
	maps.Copy(wrong, more)
	Examples(t, p, name, wrong)
}

func (p Package) example(e example) error {
	m := e.Message
	switch {
	case m.Error != nil:
		return survivesExample(m.Error, p.Definitions["Error"])
	case m.Result != nil:
		return p.exampleOf(e.Answers, Result, m.Result)
	case m.ID != nil:
		return p.exampleOf(m.Method, Request, m.Params)
	}
	return p.exampleOf(m.Method, Notification, m.Params)
}

// agreed returns what the validator finds in a recorded message.
func agreed(v *validate.Validator, e example, line []byte) error {
	var raw struct{ Message json.RawMessage }
	if err := json.Unmarshal(line, &raw); err != nil {
		return err
	}
	found, err := v.Message(validate.Side(e.To), raw.Message, e.Answers)
	if err != nil || len(found) == 0 {
		return err
	}
	return fmt.Errorf("decodes, but the validator finds %v", found)
}

func (p Package) exampleOf(method string, kind Kind, text json.RawMessage) error {
	if strings.HasPrefix(method, "_") {
		return nil // an extension; its text passes as it is
	}
	for _, m := range p.Protocol.Methods {
		if m.Name != method || kind == Notification != m.Notification && kind == Notification {
			continue
		}
		return survivesExample(text, func(b []byte) ([]byte, any, error) {
			enc, err := p.Protocol.Decode(m, kind, b)
			if err != nil {
				return nil, nil, err
			}
			return enc.AppendJSON(nil), nil, nil
		})
	}
	return fmt.Errorf("no method %q", method)
}

func survivesExample(text []byte, codec Codec) error {
	out, _, err := codec(text)
	if err != nil {
		return err
	}
	if bytes.Equal(bytes.TrimSpace(text), []byte("null")) {
		text = []byte("{}")
	}
	if at, differ := difference(withoutDefaults(parse(string(text))), withoutDefaults(parse(string(out)))); differ {
		return fmt.Errorf("differs at /%s: %s", strings.Join(at, "/"), out)
	}
	return nil
}

// withoutDefaults drops members whose value means the same as their absence.
func withoutDefaults(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if x != nil && x != false {
				out[k] = withoutDefaults(x)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, withoutDefaults(x))
		}
		return out
	}
	return v
}
