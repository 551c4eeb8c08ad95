package openai

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// calls puts the pieces of tool calls together. By OpenAI's rules the first piece of a call
// has its id and its name, and each piece its index. Endpoints leave out, repeat and change
// all three, so what a piece belongs to is decided by all of them.
type calls struct {
	tools []model.Spec
	list  []model.Call
	place map[int]int // in list, by the index that the endpoint gave
	bare  bool        // a call came without an id
	twins bool        // two calls came with the same id
}

// callPiece is a piece of a call. Arguments are a text or, at some endpoints, an object.
type callPiece struct {
	Index    *int
	ID       string
	Function struct {
		Name      string
		Arguments json.RawMessage
	}
}

// add adds what one event has of calls and returns how many bytes that is. single is a call
// in the form that came before tool calls.
func (c *calls) add(pieces, single json.RawMessage) int {
	var list []json.RawMessage
	json.Unmarshal(pieces, &list) // not a list: no calls
	size := 0
	for at, raw := range list {
		var p callPiece
		if json.Unmarshal(raw, &p) == nil {
			size += c.piece(p, opaqueOf(raw), at)
		}
	}
	if single != nil {
		var p callPiece
		if json.Unmarshal(single, &p.Function) == nil {
			size += c.piece(p, nil, 0)
		}
	}
	return size
}

// opaqueOf returns the members of a call that only its model understands.
func opaqueOf(raw json.RawMessage) model.Opaque {
	var all model.Opaque
	json.Unmarshal(raw, &all)
	for name, value := range all {
		if slices.Contains([]string{"index", "id", "type", "function"}, name) || string(value) == "null" {
			delete(all, name)
		}
	}
	return all
}

func (c *calls) piece(p callPiece, opaque model.Opaque, at int) int {
	arguments := string(p.Function.Arguments)
	var text string
	if json.Unmarshal(p.Function.Arguments, &text) == nil {
		arguments = text
	}
	index := at
	if p.Index != nil {
		index = *p.Index
	}
	place, known := c.place[index]
	if known && c.begins(p, c.list[place]) {
		known = false
	}
	if !known && p.Function.Name == "" && p.Index == nil && len(c.list) > 0 {
		place, known = len(c.list)-1, true // a piece without anything continues the last call
	}
	if !known {
		if c.place == nil {
			c.place = map[int]int{}
		}
		place = len(c.list)
		c.twins = c.twins || p.ID != "" && slices.ContainsFunc(c.list, func(o model.Call) bool { return o.ID == p.ID })
		c.list = append(c.list, model.Call{})
	}
	if c.place == nil {
		c.place = map[int]int{}
	}
	c.place[index] = place
	call := &c.list[place]
	if call.ID == "" {
		call.ID = p.ID
	}
	switch {
	case call.Name == "":
		call.Name = p.Function.Name
	case call.Arguments == "" && c.find(call.Name) == "" && c.find(call.Name+p.Function.Name) != "":
		call.Name += p.Function.Name // it came in two pieces
	}
	call.Arguments += arguments
	for name, value := range opaque {
		if call.Opaque == nil {
			call.Opaque = model.Opaque{}
		}
		call.Opaque[name] = value
	}
	return len(arguments) + len(p.Function.Name)
}

// begins reports whether a piece begins another call than the one that has its index. A
// piece without a name never does: at some endpoints every piece has an id of its own.
func (c *calls) begins(p callPiece, last model.Call) bool {
	arguments := strings.Trim(string(p.Function.Arguments), `"`)
	switch {
	case p.Function.Name == "":
		return false
	case p.ID != "" && last.ID != "" && p.ID != last.ID:
		return true
	case p.Function.Name == last.Name && (arguments == "" || arguments == "null"):
		return false // some endpoints repeat the name in every piece
	}
	return whole(last.Arguments)
}

// whole reports whether arguments are complete.
func whole(arguments string) bool {
	return strings.HasPrefix(strings.TrimSpace(arguments), "{") && json.Valid([]byte(arguments))
}

// done returns the calls as their model meant them.
func (c *calls) done() []model.Call {
	for i := range c.list {
		call := &c.list[i]
		c.bare = c.bare || call.ID == ""
		if name := c.find(call.Name); name != "" {
			call.Name = name
		}
		call.Arguments = argumentsOf(call.Arguments)
	}
	return c.list
}

func (c *calls) learn(p *Profile) {
	switch {
	case c.twins:
		p.IDs = "repeated"
	case c.bare:
		p.IDs = "missing"
	}
	for _, call := range c.list {
		for name := range call.Opaque {
			p.Opaque = with(p.Opaque, name)
		}
	}
}

// find returns the tool that a name stands for: models add what they were trained with.
func (c *calls) find(name string) string {
	name, _, _ = strings.Cut(name, "<|")
	name = strings.TrimSpace(name)
	for _, prefix := range []string{"functions.", "function.", "tools.", "tool."} {
		name = strings.TrimPrefix(name, prefix)
	}
	for _, t := range c.tools {
		if strings.EqualFold(t.Name, name) {
			return t.Name
		}
	}
	return ""
}

var fenced = regexp.MustCompile("(?s)^```[a-z]*\\s*(.*?)\\s*(?:```)?$")

// argumentsOf takes off what some models put around arguments: a fence, a second encoding,
// or an end behind the end. Arguments that it cannot read stay as they are.
func argumentsOf(text string) string {
	trimmed := strings.TrimSpace(text)
	if m := fenced.FindStringSubmatch(trimmed); m != nil {
		trimmed = m[1]
	}
	var inner string
	if json.Unmarshal([]byte(trimmed), &inner) == nil && whole(inner) {
		return inner
	}
	if whole(trimmed) {
		return trimmed
	}
	decoder := json.NewDecoder(strings.NewReader(trimmed))
	var object map[string]json.RawMessage
	if decoder.Decode(&object) != nil {
		return text
	}
	if rest := trimmed[decoder.InputOffset():]; strings.Trim(rest, "`}]; \t\r\n") != "" && !strings.HasPrefix(strings.TrimSpace(rest), "<|") {
		return text
	}
	return trimmed[:decoder.InputOffset()]
}
