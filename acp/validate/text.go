package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/internal/shape"
)

// parse reads a JSON text, or says why it is not one. Like the bindings it refuses text
// that is not UTF-8, and deep nesting.
func parse(text []byte) (jtree.Value, []Finding) {
	var tree jtree.Tree
	err := tree.Parse(text)
	if err == nil {
		return tree.Root(), nil
	}
	if why := syntax(text); why != nil { // which says it in the words that people know
		err = why
	}
	return jtree.Value{}, []Finding{{Rule: "json", Expected: "one JSON value", Got: err.Error()}}
}

func syntax(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	var value json.RawMessage
	err := d.Decode(&value)
	if err == nil {
		if _, next := d.Token(); next != io.EOF {
			err = errors.New("more text after the value")
		}
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// duplicates finds duplicate members of objects. Readers differ in which one they use;
// the bindings refuse both.
func duplicates(whole jtree.Value) (found []Finding) {
	list := whole.Tree().Duplicates()
	slices.SortFunc(list, func(a, b jtree.Value) int { return a.Offset() - b.Offset() })
	for _, v := range list {
		at := v.Pointer()
		name := unescape.Replace(at[strings.LastIndexByte(at, '/')+1:])
		found = append(found, Finding{at, "duplicate", "member " + shape.Quote(name) + " once", "it again"})
	}
	return found
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")
