package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/hermes-nvim/hermes/internal/jx"
)

// parseText decodes a JSON text, or says why it is not JSON. Like the bindings it
// refuses text that is not UTF-8, and deep nesting.
func parseText(text []byte) (any, *Finding) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	err := d.Decode(&value)
	if err == nil {
		if _, next := d.Token(); next != io.EOF {
			err = errors.New("more text after the value")
		}
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		whole := jx.New(text)
		whole.Skip()
		err = whole.Err()
	}
	if err != nil {
		return nil, &Finding{Rule: "json", Expected: "one JSON value", Got: err.Error()}
	}
	return value, nil
}

// duplicates finds duplicate members of objects. Readers differ in which one they use;
// the bindings refuse both.
func duplicates(text []byte) []Finding {
	w := walk{d: jx.New(text)}
	w.value("")
	return w.found
}

type walk struct {
	d     *jx.Dec
	found []Finding
}

func (w *walk) value(at string) {
	switch w.d.Peek() {
	case '{':
		w.d.Obj()
		seen := map[string]bool{}
		for name, more := w.d.Next(); more; name, more = w.d.Next() {
			k := string(name)
			member := at + "/" + escapePointer.Replace(k)
			if seen[k] {
				w.found = append(w.found, Finding{Pointer: member, Rule: "duplicate", Expected: "member " + quote(k) + " once", Got: "it again"})
			}
			seen[k] = true
			w.value(member)
		}
	case '[':
		w.d.Array()
		for i := 0; w.d.More(']'); i++ {
			w.value(at + "/" + strconv.Itoa(i))
		}
	default:
		w.d.Skip()
	}
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")
