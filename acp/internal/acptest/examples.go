package acptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// example is a line of testdata/examples.jsonl: a message that the
// documentation of the protocol shows.
type example struct {
	Page    string `json:"page"`
	N       int    `json:"n"`       // its number on the page
	Answers string `json:"answers"` // method of the request that a result belongs to
	Message struct {
		Method string          `json:"method"`
		ID     json.RawMessage `json:"id"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	} `json:"message"`
}

// Examples decodes and encodes the messages that the documentation shows. The
// pages have mistakes: wrong says which examples do not decode ("page#n"), and
// why; an entry that is not needed is an error.
func Examples(t *testing.T, p Package, wrong map[string]string) {
	file, err := os.Open("testdata/examples.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	good := 0
	for lines.Scan() {
		var e example
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%s#%d", e.Page, e.N)
		err := p.example(e)
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

func (p Package) exampleOf(method string, kind Kind, text json.RawMessage) error {
	if strings.HasPrefix(method, "_") {
		return nil // an extension; its text passes as it is
	}
	for _, m := range p.Protocol.Methods {
		if m.Name != method || kind == Notification != m.Notification && kind == Notification {
			continue
		}
		return survivesExample(text, func(b []byte) ([]byte, []Violation, error) {
			enc, err := p.Protocol.Decode(m, kind, b)
			if err != nil {
				return nil, nil, err
			}
			return enc(nil), nil, nil
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

// withoutDefaults drops members that say what their absence says as well.
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
