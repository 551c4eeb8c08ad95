package injection

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/schema"
)

// slot is a string that the agent is free to choose, named by its place: the
// definition and the members below it.
type slot string

// mapping is an object whose member names may also be slots.
type mapping []member

type member struct{ name, value any }

// message is one message or answer of an agent with slots for its texts.
type message struct {
	method string
	body   any
}

// traffic is everything that an agent can send according to the schema: a message
// for each variant of each union.
type traffic struct {
	notifications, requests, results []message
}

// protocol reads the schema that the Neovim host speaks.
func protocol() (traffic, error) {
	doc, err := schema.Load(schema.V1)
	if err != nil {
		return traffic{}, err
	}
	var all traffic
	for _, name := range doc.Defs {
		node := doc.Def(name)
		side, method := node.Get("x-side").Text(), node.Get("x-method").Text()
		list := &all.requests
		switch {
		case side == "client" && strings.HasSuffix(name, "Request"):
		case side == "client" && strings.HasSuffix(name, "Notification"):
			list = &all.notifications
		case side == "agent" && strings.HasSuffix(name, "Response"):
			list = &all.results
		default:
			continue
		}
		for _, body := range (shapes{doc: doc}).of(node, name) {
			*list = append(*list, message{method, body})
		}
	}
	if len(all.notifications) == 0 || len(all.requests) == 0 || len(all.results) == 0 {
		return all, fmt.Errorf("the schema names no messages of an agent: %d, %d, %d", len(all.notifications), len(all.requests), len(all.results))
	}
	return all, nil
}

// shapes makes values of a schema.
type shapes struct {
	doc    *schema.Document
	inside []string // definitions, the outermost first
}

// of lists values of node in which every optional member is present and every
// alternative occurs; of an enum only one value. It is empty where a definition
// would contain itself.
func (s shapes) of(node *schema.Node, at string) []any {
	if ref := node.Ref(); ref != "" {
		if slices.Contains(s.inside, ref) {
			return nil
		}
		target := s.doc.Def(ref)
		if isObject(target) { // the members of others are named by their place
			at = ref
		}
		return shapes{s.doc, append(slices.Clone(s.inside), ref)}.of(target, at)
	}
	if c := node.Get("const"); c != nil {
		return []any{json.RawMessage(c.JSON())}
	}
	if e := node.Get("enum"); e != nil {
		return []any{json.RawMessage(e.Arr[0].JSON())}
	}
	types := slices.DeleteFunc(slices.Clone(node.Types()), func(name string) bool { return name == "null" })
	switch {
	case node.Has("properties") || slices.Contains(types, "object"):
		return s.objects(node, at)
	case len(node.Branches()) > 0:
		var all []any
		constants := 0
		for _, branch := range node.Branches() {
			if branch.Has("const") { // one word of an enum is enough
				if constants++; constants > 1 {
					continue
				}
			}
			all = append(all, s.of(branch, at)...)
		}
		return all
	case len(types) == 0 && len(node.Types()) > 0: // null
		return nil
	case len(types) == 0: // any value
		return []any{slot(at), mapping{{"command", slot(at)}, {slot(at), []any{slot(at)}}}}
	}
	switch types[0] {
	case "string":
		return []any{slot(at)}
	case "array":
		return []any{s.of(node.Get("items"), at+"[]")}
	case "boolean":
		return []any{true}
	}
	return []any{1}
}

func isObject(node *schema.Node) bool {
	return node.Has("properties") || slices.Contains(node.Types(), "object") || slices.ContainsFunc(node.Branches(), isObject)
}

// objects combines the members of an object with those of its alternatives.
func (s shapes) objects(node *schema.Node, at string) []any {
	var parts [][]mapping
	if properties := node.Get("properties"); properties != nil {
		for _, name := range properties.Keys {
			var values []mapping
			for _, value := range s.of(properties.Obj[name], at+"."+name) {
				values = append(values, mapping{{name, value}})
			}
			parts = append(parts, values)
		}
	}
	if more := node.Get("additionalProperties"); more != nil && more.Kind == '{' {
		var all mapping
		for _, value := range s.of(more, at+"{}") {
			all = append(all, member{slot(at + "{name}"), value})
		}
		parts = append(parts, []mapping{all})
	} else if more.True() && !node.Has("properties") {
		parts = append(parts, []mapping{{{slot(at + "{name}"), slot(at + "{}")}}})
	}
	if all := node.Get("allOf"); all != nil {
		for _, part := range all.Arr {
			parts = append(parts, mappings(s.of(part, at)))
		}
	}
	var branches []mapping
	for _, branch := range node.Branches() {
		branches = append(branches, mappings(s.of(branch, at))...)
	}
	parts = append(parts, branches)
	most := 1
	for _, part := range parts {
		most = max(most, len(part))
	}
	var out []any
	for i := range most {
		var whole mapping
		for _, part := range parts {
			if len(part) > 0 {
				whole = append(whole, part[i%len(part)]...)
			}
		}
		out = append(out, whole)
	}
	return out
}

func mappings(values []any) []mapping {
	var list []mapping
	for _, value := range values {
		if m, ok := value.(mapping); ok {
			list = append(list, m)
		}
	}
	return list
}

// fill writes a value as JSON with a text for each slot. Of members with the
// same name only the first is kept.
func fill(value any, text func(slot) string) []byte {
	return appendFilled(nil, value, text)
}

func appendFilled(b []byte, value any, text func(slot) string) []byte {
	switch v := value.(type) {
	case slot:
		return appendText(b, text(v))
	case string:
		return appendText(b, v)
	case json.RawMessage:
		return append(b, v...)
	case []any:
		b = append(b, '[')
		for i, element := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendFilled(b, element, text)
		}
		return append(b, ']')
	case mapping:
		b = append(b, '{')
		seen := map[string]bool{}
		for i, m := range v {
			name, ok := m.name.(string)
			if !ok {
				if name = text(m.name.(slot)); seen[name] {
					name = fmt.Sprint(name, i)
				}
			}
			if seen[name] {
				continue
			}
			if len(seen) > 0 {
				b = append(b, ',')
			}
			seen[name] = true
			b = appendFilled(append(appendText(b, name), ':'), m.value, text)
		}
		return append(b, '}')
	}
	return fmt.Append(b, value) // a number or a boolean
}

func appendText(b []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return append(b, quoted...)
}

// slots lists every slot of some messages once.
func slots(lists ...[]message) []slot {
	var all []slot
	for _, list := range lists {
		for _, m := range list {
			fill(m.body, func(s slot) string {
				all = append(all, s)
				return string(s)
			})
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestTheSchemaGivesEveryMessageOfAnAgent(t *testing.T) {
	t.Parallel()
	all, err := protocol()
	if err != nil {
		t.Fatal(err)
	}
	have := map[slot]bool{}
	for _, s := range slots(all.notifications, all.requests, all.results) {
		have[s] = true
	}
	for _, want := range []slot{
		"TextContent.text", "ToolCall.title", "ToolCallUpdate.title", "ToolCallLocation.path", "ToolCall.rawInput", "Diff.newText", "PlanEntry.content",
		"AvailableCommand.name", "SessionMode.name", "SessionConfigSelectOption.name", "PermissionOption.name", "StringPropertySchema.default",
		"ElicitationSchema.properties{name}", "EnumOption.title", "ElicitationUrlMode.url", "CreateTerminalRequest.command", "SessionInfo.title",
		"AuthMethodAgent.name", "Implementation.title", "NewSessionResponse.sessionId",
	} {
		if !have[want] {
			t.Errorf("no message has %s", want)
		}
	}
	for _, list := range [][]message{all.notifications, all.requests, all.results} {
		for _, m := range list {
			if text := fill(m.body, func(s slot) string { return string(s) }); !json.Valid(text) {
				t.Errorf("%s: %s", m.method, text)
			}
		}
	}
}
