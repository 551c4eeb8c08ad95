package openai

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// The words for tags in a Profile.
const (
	tagThink = "think"
	tagCall  = "tool_call"
	tagOpen  = "open" // reasoning begins without a tag, and only its end has one
)

// tags reads what models write into the text where no parser of the server takes it out:
// reasoning and tool calls. It passes text on as soon as that cannot be either.
type tags struct {
	calls calls // knows the tools

	held    string // what may be the beginning of a tag
	closing string // the end of the reasoning that is being read; empty: it is text
	assumed bool   // no tag has shown yet that this is reasoning
	thought strings.Builder
	said    bool // there was text besides white space
	fence   bool // the text is in a block of code
	middle  bool // of a line
	length  int  // of the text so far

	stray   bool // the text so far was reasoning
	strayAt int
	found   []string // for the Profile
}

func newTags(tools []model.Spec, open bool) *tags {
	t := &tags{calls: calls{tools: tools}}
	if open {
		t.closing, t.assumed = "</think>", true
	}
	return t
}

// reasons are the tags around reasoning.
var reasons = map[string]string{
	"<think>": "</think>", "<thinking>": "</thinking>", "<thought>": "</thought>", "<reasoning>": "</reasoning>", "[THINK]": "[/THINK]",
}

// callEnds are the tags around a call. Those without an end go to the end of the answer.
var callEnds = map[string]string{
	"<tool_call>": "</tool_call>", "<function_call>": "</function_call>", "<function=": "</function>",
	"[TOOL_CALLS]": "", "<|python_tag|>": "", "<|tool_calls_section_begin|>": "", `{"name"`: "", `{"type"`: "",
}

// feed takes a piece of the text.
func (t *tags) feed(text string) (visible, reasoning string, found []model.Call) {
	t.held += text
	for {
		if t.closing != "" {
			before, after, closed := strings.Cut(t.held, t.closing)
			if !closed {
				keep := partial(t.held, t.closing)
				reasoning += t.think(t.held[:len(t.held)-keep])
				t.held = t.held[len(t.held)-keep:]
				return visible, reasoning, found
			}
			reasoning += t.think(before)
			t.held, t.closing, t.assumed = strings.TrimLeft(after, "\n"), "", false
			t.found = with(t.found, tagThink)
			continue
		}
		if t.held == "" {
			return visible, reasoning, found
		}
		// At most one line is looked at: all tags are at the beginning of one.
		end := strings.IndexByte(t.held, '\n') + 1
		if t.middle {
			if end == 0 {
				end = len(t.held)
			}
			visible += t.show(t.held[:end])
			continue
		}
		line := strings.TrimLeft(t.held, " \t\r\n")
		if !t.fence && t.reads(line, &found) {
			continue
		}
		if t.waits(line) {
			return visible, reasoning, found
		}
		if strings.HasPrefix(line, "```") {
			t.fence = !t.fence
		}
		if rest, ok := strings.CutPrefix(line, "</think>"); ok && !t.fence && !t.stray && t.thought.Len() == 0 && (rest == "" || rest[0] == '\n') {
			t.stray, t.strayAt = true, t.length
			t.found = with(t.found, tagOpen)
			t.held = strings.TrimLeft(rest, "\n")
			continue
		}
		skipped := len(t.held) - len(line)
		if end = strings.IndexByte(line, '\n') + 1; end == 0 {
			end = len(line)
		}
		visible += t.show(t.held[:skipped+end])
	}
}

// show passes on a text that ends with a line or in the middle of one.
func (t *tags) show(text string) string {
	t.held = t.held[len(text):]
	t.middle = !strings.HasSuffix(text, "\n")
	t.said = t.said || strings.TrimSpace(text) != ""
	t.length += len(text)
	return text
}

func (t *tags) think(text string) string {
	if t.thought.Len() == 0 {
		text = strings.TrimLeft(text, "\n")
	}
	t.thought.WriteString(text)
	return text
}

// reads takes a whole tag from the beginning of a line. Only what fits a tool is a call;
// everything else is what the model has to say about tags.
func (t *tags) reads(line string, found *[]model.Call) bool {
	if !t.said {
		for open, end := range reasons {
			if rest, ok := strings.CutPrefix(line, open); ok {
				t.held, t.closing = rest, end
				return true
			}
		}
	}
	for open, end := range callEnds {
		rest, ok := strings.CutPrefix(line, open)
		if !ok || end == "" {
			continue
		}
		inner, after, closed := strings.Cut(rest, end)
		if list := t.read(open, inner); closed && list != nil {
			*found = append(*found, list...)
			t.held = strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(after, "\n"), "</tool_call>"), "\n")
			return true
		}
	}
	return false
}

// waits reports whether more text may make a tag of a line.
func (t *tags) waits(line string) bool {
	if t.fence {
		return line != "" && strings.HasPrefix("```", line)
	}
	for _, open := range []string{"```", "</think>"} {
		if line == open && open[0] == '<' || line != open && strings.HasPrefix(open, line) && line != "" {
			return true
		}
	}
	if !t.said {
		for open := range reasons {
			if line != open && strings.HasPrefix(open, line) {
				return true
			}
		}
	}
	if len(t.calls.tools) == 0 {
		return line == ""
	}
	for open, end := range callEnds {
		switch {
		case end == "" && t.said:
		case line != open && strings.HasPrefix(open, line):
			return true
		case strings.HasPrefix(line, open) && (end == "" || !strings.Contains(line, end)):
			return true
		}
	}
	return line == ""
}

// end returns what is left at the end of the answer.
func (t *tags) end() (visible, reasoning string, found []model.Call) {
	rest := t.held
	t.held = ""
	if t.closing != "" {
		if t.assumed { // it was no reasoning
			text := t.thought.String() + rest
			t.closing = ""
			t.length += len(text)
			t.found = with(t.found, "")
			return text, "", nil
		}
		t.found = with(t.found, tagThink)
		return "", t.think(rest), nil
	}
	line := strings.TrimLeft(rest, " \t\r\n")
	if line == "</think>" && !t.stray {
		t.stray, t.strayAt = true, t.length
		t.found = with(t.found, tagOpen)
		return "", "", nil
	}
	if !t.fence {
		for open := range callEnds {
			if inner, ok := strings.CutPrefix(line, open); ok {
				if list := t.read(open, inner); list != nil {
					return "", "", list
				}
			}
		}
	}
	if !t.said && strings.TrimSpace(rest) == "" {
		return "", "", nil
	}
	return t.showRest(rest), "", nil
}

func (t *tags) showRest(rest string) string {
	t.length += len(rest)
	return rest
}

var (
	xmlCall      = regexp.MustCompile(`(?s)^\s*(?:<function=)?([\w.-]+)>?\s*(.*)$`)
	xmlParameter = regexp.MustCompile(`(?s)<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>`)
	glmArgument  = regexp.MustCompile(`(?s)<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>`)
	kimiCall     = regexp.MustCompile(`(?s)<\|tool_call_begin\|>\s*([\w.-]+)(?::\d+)?\s*<\|tool_call_argument_begin\|>\s*(.*?)\s*<\|tool_call_end\|>`)
	mistralCall  = regexp.MustCompile(`(?s)^\s*([\w-]+)(?:\[CALL_ID\]\w+)?\[ARGS\](\{.*\})\s*$`)
)

// read returns the calls in a text behind a tag, or nil if not all of it are calls of tools
// that there are.
func (t *tags) read(open, inner string) []model.Call {
	list := t.parse(open, strings.TrimSpace(inner))
	for i := range list {
		name := t.calls.find(list[i].Name)
		if name == "" {
			return nil
		}
		list[i].Name = name
	}
	if list != nil {
		t.found = with(t.found, tagCall)
	}
	return list
}

func (t *tags) parse(open, inner string) []model.Call {
	if strings.HasPrefix(open, "{") {
		inner = open + inner
	}
	if m := kimiCall.FindAllStringSubmatch(inner, -1); m != nil {
		var list []model.Call
		for _, one := range m {
			list = append(list, model.Call{Name: one[1], Arguments: one[2]})
		}
		return list
	}
	if m := mistralCall.FindStringSubmatch(inner); m != nil {
		return []model.Call{{Name: m[1], Arguments: m[2]}}
	}
	inner = strings.TrimSuffix(inner, "<|eom_id|>")
	if strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[") {
		return jsonCalls(inner)
	}
	m := xmlCall.FindStringSubmatch(inner)
	if m == nil {
		return nil
	}
	parameters := append(xmlParameter.FindAllStringSubmatch(m[2], -1), glmArgument.FindAllStringSubmatch(m[2], -1)...)
	if parameters == nil && open != "<function=" && !strings.Contains(inner, "</function>") {
		return nil
	}
	arguments := map[string]any{}
	for _, p := range parameters {
		arguments[p[1]] = t.value(m[1], p[1], p[2])
	}
	b, err := json.Marshal(arguments)
	if err != nil {
		return nil
	}
	return []model.Call{{Name: m[1], Arguments: string(b)}}
}

// jsonCalls reads calls that are JSON: one object, or several, or a list.
func jsonCalls(text string) []model.Call {
	type call struct {
		Name                  string
		Arguments, Parameters json.RawMessage
		Function              json.RawMessage
	}
	var list []model.Call
	var add func(raw json.RawMessage) bool
	add = func(raw json.RawMessage) bool {
		var many []json.RawMessage
		if json.Unmarshal(raw, &many) == nil {
			return !slices.ContainsFunc(many, func(one json.RawMessage) bool { return !add(one) })
		}
		var c call
		if json.Unmarshal(raw, &c) != nil {
			return false
		}
		if strings.HasPrefix(string(c.Function), "{") {
			return add(c.Function)
		}
		arguments := c.Arguments
		if arguments == nil {
			arguments = c.Parameters
		}
		var text string
		if json.Unmarshal(arguments, &text) == nil {
			arguments = json.RawMessage(text)
		}
		list = append(list, model.Call{Name: c.Name, Arguments: string(arguments)})
		return c.Name != "" && arguments != nil
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	for decoder.More() {
		var raw json.RawMessage
		if decoder.Decode(&raw) != nil || !add(raw) {
			return nil
		}
	}
	return list
}

// value reads a parameter that is written without quotes: a text, unless the schema of the
// tool says something else.
func (t *tags) value(tool, parameter, text string) any {
	for _, spec := range t.calls.tools {
		if spec.Name != t.calls.find(tool) {
			continue
		}
		var schema struct {
			Properties map[string]struct{ Type any }
		}
		if json.Unmarshal(spec.Parameters, &schema) == nil && schema.Properties[parameter].Type != "string" && json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
	}
	return text
}

// partial returns how many bytes at the end of a text may be the beginning of a word.
func partial(text, word string) int {
	for n := min(len(text), len(word)-1); n > 0; n-- {
		if strings.HasSuffix(text, word[:n]) {
			return n
		}
	}
	return 0
}

// learn returns the tags of a Profile after this answer.
func (t *tags) learn(known []string) []string {
	for _, word := range t.found {
		if word == "" { // reasoning without a tag was assumed, and there was none
			known = slices.DeleteFunc(slices.Clone(known), func(k string) bool { return k == tagOpen })
			continue
		}
		known = with(known, word)
	}
	if len(known) == 0 {
		return nil
	}
	return known
}
