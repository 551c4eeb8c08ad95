// Package oracle judges values by a schema with a library that others have written, so
// that tests can compare. No program imports it.
package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

const documentURL = "mem:///schema.json"

// Schema judges values of the definitions of one schema. One goroutine may use it at a
// time.
type Schema struct {
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// New reads a schema of the protocol.
func New(text []byte) (*Schema, error) {
	doc, err := decode(text)
	if err != nil {
		return nil, err
	}
	amend(doc)
	if text, err = json.Marshal(doc); err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.Draft, c.AssertFormat, c.AssertContent = jsonschema.Draft2020, true, true
	c.LoadURL = func(u string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("refers to %s, outside of the schema", u)
	}
	return &Schema{c, map[string]*jsonschema.Schema{}}, c.AddResource(documentURL, bytes.NewReader(text))
}

// Check returns an error if a JSON text does not fit a definition.
func (s *Schema) Check(definition string, text []byte) error {
	compiled := s.compiled[definition]
	if compiled == nil {
		var err error
		if compiled, err = s.compiler.Compile(documentURL + "#/$defs/" + url.PathEscape(definition)); err != nil {
			return err
		}
		s.compiled[definition] = compiled
	}
	value, err := decode(text)
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

func decode(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return value, d.Decode(&value)
}

// limits is the smallest and the largest value of an integer format.
var limits = map[any][2]json.Number{
	"int32":  {"-2147483648", "2147483647"},
	"int64":  {"-9223372036854775808", "9223372036854775807"},
	"uint16": {"0", "65535"},
	"uint32": {"0", "4294967295"},
	"uint64": {"0", "18446744073709551615"},
}

// amend adds the limits of the integer formats, which JSON Schema does not know, and
// drops the regular expressions of other languages, which the library cannot judge.
func amend(v any) {
	switch x := v.(type) {
	case map[string]any:
		if x["format"] == "regex" {
			delete(x, "format")
		}
		if format, ok := x["format"].(string); ok && limits[format] != [2]json.Number{} {
			for i, keyword := range []string{"minimum", "maximum"} {
				if x[keyword] == nil {
					x[keyword] = limits[format][i]
				}
			}
		}
		for _, c := range x {
			amend(c)
		}
	case []any:
		for _, c := range x {
			amend(c)
		}
	}
}
