package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// check says what is wrong with the arguments of a call in words that a model can act
// on: which member, what it is and what it has to be.
func check(schema *jsonschema.Schema, arguments json.RawMessage) error {
	decoder := json.NewDecoder(bytes.NewReader(arguments))
	decoder.UseNumber()
	var v any
	err := decoder.Decode(&v)
	if err == nil {
		if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is text behind the object")
		}
	}
	if err != nil {
		return fmt.Errorf("the arguments are not valid JSON (%w), perhaps because the answer was cut off: %s", err, quote(string(arguments)))
	}
	err = schema.Validate(v)
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	return fmt.Errorf("the arguments do not fit the schema of the tool: %s", strings.Join(leaves(invalid, nil), "; "))
}

// leaves lists the reasons of a validation error without those that only sum up others.
func leaves(e *jsonschema.ValidationError, list []string) []string {
	for _, cause := range e.Causes {
		list = leaves(cause, list)
	}
	if len(e.Causes) > 0 {
		return list
	}
	at := strings.ReplaceAll(strings.TrimPrefix(e.InstanceLocation, "/"), "/", ".")
	if at == "" {
		return append(list, e.Message)
	}
	return append(list, at+": "+e.Message)
}

// quote repeats the beginning of what a model wrote.
func quote(text string) string {
	const most = 200
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return fmt.Sprintf("%q", text)
}
