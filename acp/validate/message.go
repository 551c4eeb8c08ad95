package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/internal/shape"
)

// Params checks the params of a request or notification that a side receives.
// Without params, text is empty. The error is about the call: the side does not have
// the method. Methods that start with an underscore are extensions, about which the
// schema says nothing.
func (v *Validator) Params(to Side, method string, text []byte) ([]Finding, error) {
	m, err := v.method(to, method)
	if m == nil || err != nil {
		return nil, err
	}
	if m.Request != nil {
		return payload(m.Request, text, true), nil
	}
	return payload(m.Notification, text, true), nil
}

// Result checks the result of a request that a side has answered.
func (v *Validator) Result(from Side, method string, text []byte) ([]Finding, error) {
	m, err := v.method(from, method)
	if m == nil || err != nil {
		return nil, err
	}
	if m.Result == nil {
		return nil, fmt.Errorf("validate: %s is a notification, it has no result", method)
	}
	return payload(m.Result, text, v.mode == Tolerant), nil
}

// payload checks a text. If the definition requires no members, the text may be
// missing, or null if nullable is set.
func payload(s *shape.Shape, text []byte, nullable bool) []Finding {
	if len(text) == 0 {
		return part(s, jtree.Value{}, "", nullable)
	}
	value, broken := parse(text)
	if broken != nil {
		return broken
	}
	return append(part(s, value, "", nullable), duplicates(value)...)
}

// part checks a payload in a tree, whose place is at.
func part(s *shape.Shape, v jtree.Value, at string, nullable bool) []Finding {
	if v.Exists() && !(nullable && v.IsNull()) {
		return explain(s, v)
	}
	if !s.Requires() {
		return nil
	}
	return []Finding{{at, "required", "object (" + s.Name() + ")", v.Kind().String()}}
}

// Message checks a whole JSON-RPC request or notification that a side receives, or a
// response to one of its own requests. answers is the method of that request, and
// empty for anything other than a response.
func (v *Validator) Message(to Side, message []byte, answers string) ([]Finding, error) {
	edition, err := v.edition()
	if err != nil {
		return nil, err
	}
	frame, broken := parse(message)
	if broken != nil {
		return broken, nil
	} else if !frame.IsObject() {
		return []Finding{{Rule: "type", Expected: "object", Got: shape.TypeOf(frame)}}, nil
	}
	findings := append(checkVersion(frame.Get("jsonrpc")), duplicates(frame)...)
	if id := frame.Get("id"); id.Exists() {
		findings = append(findings, explain(edition.Definition("RequestId"), id)...)
	}
	var more []Finding
	if method := frame.Get("method"); method.Exists() {
		more = v.call(edition, to, method, frame)
	} else {
		more, err = v.response(edition, to, answers, frame)
	}
	return append(findings, more...), err
}

func checkVersion(got jtree.Value) []Finding {
	switch {
	case !got.Exists():
		return []Finding{missing("", "jsonrpc")}
	case !got.Is("2.0"):
		return []Finding{{"/jsonrpc", "const", `"2.0"`, shape.Show(got)}}
	}
	return nil
}

// call checks a request or notification.
func (v *Validator) call(edition *shape.Edition, to Side, method, frame jtree.Value) []Finding {
	if !method.IsString() {
		return []Finding{{"/method", "type", "string", shape.TypeOf(method)}}
	}
	name := method.Str()
	if isExtension(name) {
		return nil
	}
	m := edition.Handled(sides[to], name)
	if m == nil {
		return []Finding{{"/method", "method", "method of the " + string(to), shape.Quote(name)}}
	}
	definition, kind := m.Notification, "request with an id"
	if frame.Get("id").Exists() {
		definition, kind = m.Request, "notification without an id"
	}
	if definition == nil {
		return []Finding{{"", "method", kind, shape.Quote(name)}}
	}
	return part(definition, frame.Get("params"), "/params", true)
}

// response checks an answer to a request that a side has sent.
func (v *Validator) response(edition *shape.Edition, to Side, method string, frame jtree.Value) ([]Finding, error) {
	var findings []Finding
	if !frame.Get("id").Exists() {
		findings = append(findings, missing("", "id"))
	}
	result, failed := frame.Get("result"), frame.Get("error")
	switch {
	case result.Exists() == failed.Exists():
		return append(findings, Finding{"", "response", `one of "method", "result" and "error"`, names(frame)}), nil
	case failed.Exists():
		return append(findings, explain(edition.Definition("Error"), failed)...), nil
	case method == "", isExtension(method):
		return findings, nil
	}
	for _, from := range []Side{Agent, Client, Proxy} {
		if m := edition.Handled(sides[from], method); m != nil && m.Result != nil && (from != to || from == Proxy) {
			return append(findings, part(m.Result, result, "/result", v.mode == Tolerant)...), nil
		}
	}
	return nil, fmt.Errorf("validate: nobody answers %s to the %s", method, to)
}

// names lists the members of a frame.
func names(frame jtree.Value) string {
	var list []string
	for name := range frame.Members() {
		list = append(list, shape.Quote(string(name)))
	}
	if len(list) == 0 {
		return "no members"
	}
	slices.Sort(list)
	return shape.Shorten(strings.Join(list, ", "))
}

var sides = map[Side]shape.Side{Agent: shape.Agent, Client: shape.Client, Proxy: shape.Proxy}

// method finds a method. It returns neither a method nor an error for an extension.
func (v *Validator) method(side Side, name string) (*shape.Method, error) {
	edition, err := v.edition()
	if err != nil || isExtension(name) {
		return nil, err
	}
	if m := edition.Handled(sides[side], name); m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("validate: the %s has no method %q", side, name)
}

func isExtension(method string) bool { return strings.HasPrefix(method, "_") }
