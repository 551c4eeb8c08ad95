package validate

import (
	"encoding/json"
	"fmt"
	"strings"
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
	if m.request != "" {
		return v.payload(m.request, text, true)
	}
	return v.payload(m.notification, text, true)
}

// Result checks the result of a request that a side has answered.
func (v *Validator) Result(from Side, method string, text []byte) ([]Finding, error) {
	m, err := v.method(from, method)
	if m == nil || err != nil {
		return nil, err
	}
	if m.response == "" {
		return nil, fmt.Errorf("validate: %s is a notification, it has no result", method)
	}
	return v.payload(m.response, text, v.mode == Tolerant)
}

// payload checks a text. If the definition requires no members, the text may be
// missing, or null if nullable is set.
func (v *Validator) payload(definition string, text []byte, nullable bool) ([]Finding, error) {
	absent := len(text) == 0
	if !absent && !(nullable && string(text) == "null") {
		return v.Value(definition, text)
	}
	findings, err := v.Value(definition, []byte("{}"))
	if err != nil || len(findings) == 0 {
		return nil, err
	}
	got := "null"
	if absent {
		got = "nothing"
	}
	return []Finding{{Rule: "required", Expected: "object (" + definition + ")", Got: got}}, nil
}

// Message checks a whole JSON-RPC request or notification that a side receives, or a
// response to one of its own requests. answers is the method of that request, and
// empty for anything other than a response.
func (v *Validator) Message(to Side, message []byte, answers string) ([]Finding, error) {
	var frame map[string]json.RawMessage
	if value, broken := parseText(message); broken != nil {
		return []Finding{*broken}, nil
	} else if _, ok := value.(map[string]any); !ok {
		return []Finding{{Rule: "type", Expected: "object", Got: typeOf(value)}}, nil
	}
	if err := json.Unmarshal(message, &frame); err != nil {
		return nil, err
	}
	findings := checkVersion(frame)
	for _, d := range duplicates(message) {
		if strings.Count(d.Pointer, "/") == 1 { // the parts are checked on their own
			findings = append(findings, d)
		}
	}
	if id, ok := frame["id"]; ok {
		more, err := v.part("RequestId", id, "/id")
		if err != nil {
			return nil, err
		}
		findings = append(findings, more...)
	}
	var err error
	var more []Finding
	if method, ok := frame["method"]; ok {
		more, err = v.call(to, method, frame)
	} else {
		more, err = v.response(to, answers, frame)
	}
	return append(findings, more...), err
}

func checkVersion(frame map[string]json.RawMessage) []Finding {
	switch got := frame["jsonrpc"]; {
	case got == nil:
		return []Finding{missing("", "jsonrpc")}
	case string(got) != `"2.0"`:
		return []Finding{{Pointer: "/jsonrpc", Rule: "const", Expected: `"2.0"`, Got: shorten(string(got))}}
	}
	return nil
}

// call checks a request or notification.
func (v *Validator) call(to Side, method json.RawMessage, frame map[string]json.RawMessage) ([]Finding, error) {
	var name string
	if err := json.Unmarshal(method, &name); err != nil || string(method) == "null" {
		return []Finding{{Pointer: "/method", Rule: "type", Expected: "string", Got: typeOf(decode(method))}}, nil
	}
	table, err := v.methods()
	if err != nil {
		return nil, err
	}
	if isExtension(name) {
		return nil, nil
	}
	m := table.find(to, name)
	if m == nil {
		return []Finding{{Pointer: "/method", Rule: "method", Expected: "method of the " + string(to), Got: quote(name)}}, nil
	}
	definition, kind := m.notification, "request with an id"
	if frame["id"] != nil {
		definition, kind = m.request, "notification without an id"
	}
	if definition == "" {
		return []Finding{{Rule: "method", Expected: kind, Got: quote(name)}}, nil
	}
	findings, err := v.payload(definition, frame["params"], true)
	return below("/params", findings), err
}

// response checks an answer to a request that a side has sent.
func (v *Validator) response(to Side, method string, frame map[string]json.RawMessage) ([]Finding, error) {
	var findings []Finding
	if frame["id"] == nil {
		findings = append(findings, missing("", "id"))
	}
	result, failed := frame["result"], frame["error"]
	if (result == nil) == (failed == nil) {
		return append(findings, Finding{Rule: "response", Expected: `one of "method", "result" and "error"`, Got: names(frame)}), nil
	}
	if failed != nil {
		more, err := v.part("Error", failed, "/error")
		return append(findings, more...), err
	}
	if method == "" || isExtension(method) {
		return findings, nil
	}
	table, err := v.methods()
	if err != nil {
		return nil, err
	}
	for _, from := range []Side{Agent, Client, Proxy} {
		if m := table.find(from, method); m != nil && m.response != "" && (from != to || from == Proxy) {
			more, err := v.payload(m.response, result, v.mode == Tolerant)
			return append(findings, below("/result", more)...), err
		}
	}
	return nil, fmt.Errorf("validate: nobody answers %s to the %s", method, to)
}

// part checks a member of a frame.
func (v *Validator) part(definition string, text json.RawMessage, at string) ([]Finding, error) {
	findings, err := v.Value(definition, text)
	return below(at, findings), err
}

// method finds a method. It returns neither a method nor an error for an extension.
func (v *Validator) method(side Side, name string) (*method, error) {
	table, err := v.methods()
	if err != nil || isExtension(name) {
		return nil, err
	}
	if m := table.find(side, name); m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("validate: the %s has no method %q", side, name)
}

func isExtension(method string) bool { return strings.HasPrefix(method, "_") }

func below(at string, findings []Finding) []Finding {
	for i := range findings {
		findings[i].Pointer = at + findings[i].Pointer
	}
	return findings
}
