package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// This file is the only one that knows the validator we build on.

const documentURL = "mem:///schema.json"

// compiler makes programs of the definitions of one schema.
type compiler struct {
	compiler *jsonschema.Compiler
	doc      map[string]any
}

func newCompiler(doc map[string]any) (*compiler, error) {
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("validate: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	c.AssertContent = true
	c.LoadURL = func(u string) (r io.ReadCloser, err error) {
		return nil, fmt.Errorf("refers to %s, outside of the schema", u)
	}
	if err := c.AddResource(documentURL, bytes.NewReader(text)); err != nil {
		return nil, fmt.Errorf("validate: %w", err)
	}
	return &compiler{c, doc}, nil
}

// program judges values of one definition. It is safe for concurrent use.
type program struct {
	schema *jsonschema.Schema
	doc    map[string]any
}

func (c *compiler) compile(definition string) (*program, error) {
	s, err := c.compiler.Compile(documentURL + "#/$defs/" + url.PathEscape(definition))
	if err != nil {
		return nil, fmt.Errorf("validate: %w", err)
	}
	return &program{s, c.doc}, nil
}

// failure is one node of the tree of what went wrong.
type failure struct {
	schema  string // pointer to the keyword in the rewritten schema
	value   string // pointer to the value
	message string
	causes  []failure
}

// run returns nil for a valid value.
func (p *program) run(value any) *failure {
	err := p.schema.Validate(value)
	if err == nil {
		return nil
	}
	if ve, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		f := convert(ve)
		return &f
	}
	return &failure{message: err.Error()}
}

func convert(e *jsonschema.ValidationError) failure {
	_, schema, _ := strings.Cut(e.AbsoluteKeywordLocation, "#")
	f := failure{schema: unescape(schema), value: unescape(e.InstanceLocation), message: e.Message}
	for _, c := range e.Causes {
		f.causes = append(f.causes, convert(c))
	}
	return f
}

// unescape undoes the URL escapes, which leaves a JSON pointer.
func unescape(location string) string {
	if s, err := url.PathUnescape(location); err == nil {
		return s
	}
	return location
}
