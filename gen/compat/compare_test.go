package compat_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/gen/compat"
	"github.com/hermes-nvim/hermes/gen/ir"
	"github.com/hermes-nvim/hermes/schema"
)

// frame makes a schema with the envelopes of one agent method and a root.
const frame = `{"anyOf": [], "$defs": {
	"ClientRequest": {"x-docs-ignore": true, "type": "object", "properties": {"params": {"anyOf": [{"$ref": "#/$defs/DoRequest"}%s]}}},
	"AgentResponse": {"x-docs-ignore": true, "anyOf": [{"type": "object", "properties": {"result": {"anyOf": [{"$ref": "#/$defs/DoResponse"}]}}}]},
	"DoRequest": {"type": "object", "x-side": "agent", "x-method": "do", "properties": {%s}},
	"DoResponse": {"type": "object", "x-side": "agent", "x-method": "do", "properties": {}},
	%s
	"End": {"type": "string"}}}`

func lower(t *testing.T, text string) *ir.Spec {
	t.Helper()
	d, err := schema.Parse("t.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := ir.Lower(d, ir.Overlay{Patches: map[string]bool{"DoRequest.three": true}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pair is a change of a schema and its report.
type pair struct{ prev, next, want string }

func pairs() map[string]pair {
	const union = `"U": {"oneOf": [{"type": "object", "properties": {"type": {"const": "a", "type": "string"}}, "required": ["type"], "allOf": [{"$ref": "#/$defs/%s"}]}%s]},
		"A": {"type": "object", "properties": {}}, "B": {"type": "object", "properties": {}},`
	const variant = `, {"type": "object", "properties": {"type": {"const": "b", "type": "string"}}, "required": ["type"]}`
	member := func(m string) string { return fmt.Sprintf(frame, "", m, "") }
	def := func(d string) string { return fmt.Sprintf(frame, "", "", d) }
	return map[string]pair{
		"nothing":        {member(`"a": {"type": "string"}`), member(`"a": {"type": "string"}`), ``},
		"member removed": {member(`"a": {"type": "string"}`), member(``), `BREAK DoRequest.a: removed`},
		"member renamed": {member(`"a": {"type": "string"}, "b": {"type": "string"}`), member(`"a": {"type": "string"}, "c": {"type": "string"}`), `BREAK DoRequest.b: removed; c is new at the same place with the same type, so this is probably its new name
add DoRequest.c: string, optional`},
		"member replaced by another type": {member(`"a": {"type": "string"}`), member(`"c": {"type": "boolean"}`), `BREAK DoRequest.a: removed
add DoRequest.c: boolean, optional`},
		"member moved and renamed": {member(`"a": {"type": "string"}, "b": {"type": "boolean"}, "c": {"type": "boolean"}`), member(`"b": {"type": "boolean"}, "z": {"type": "string"}, "c": {"type": "boolean"}`), `BREAK DoRequest.a: removed
add DoRequest.z: string, optional`},
		"member added":       {member(``), member(`"a": {"type": "string"}`), `add DoRequest.a: string, optional`},
		"member type":        {member(`"a": {"type": "string"}`), member(`"a": {"type": "integer", "format": "int64"}`), `BREAK DoRequest.a: was string, is integer (int64)`},
		"list of":            {member(`"a": {"type": "array", "items": {"type": "string"}}`), member(`"a": {"type": "array", "items": {"$ref": "#/$defs/End"}}`), `BREAK DoRequest.a: was list of string, is list of End`},
		"presence":           {member(`"a": {"type": "string"}`), member(`"a": {"type": ["string", "null"]}`), `wire DoRequest.a: was optional, is optional or null`},
		"limit":              {member(`"a": {"type": "integer", "minimum": 0}`), member(`"a": {"type": "integer", "minimum": 1}`), `wire DoRequest.a: the smallest value was 0, is 1`},
		"two rules":          {member(`"a": {"type": "string", "x-deserialize-default-on-error": true}`), member(`"a": {"type": "string", "default": "x"}`), `wire DoRequest.a: a bad value is refused now; the default was nothing, is "x"`},
		"type added":         {def(``), def(`"N": {"type": "string"},`), `add type N: new, string newtype`},
		"type removed":       {def(`"N": {"type": "string"},`), def(``), `BREAK type N: removed`},
		"type kind":          {def(`"N": {"type": "string"},`), def(`"N": {"type": "object", "properties": {}},`), `BREAK type N: was string newtype, is object`},
		"enum value added":   {def(`"N": {"oneOf": [{"type": "string", "const": "x"}]},`), def(`"N": {"oneOf": [{"type": "string", "const": "x"}, {"type": "string", "const": "y"}]},`), `add N value y: new`},
		"enum value removed": {def(`"N": {"oneOf": [{"type": "string", "const": "x"}, {"type": "string", "const": "y"}]},`), def(`"N": {"oneOf": [{"type": "string", "const": "x"}]},`), `BREAK N value y: removed`},
		"enum opened":        {def(`"N": {"oneOf": [{"type": "string", "const": "x"}]},`), def(`"N": {"anyOf": [{"type": "string", "const": "x"}, {"title": "other", "type": "string"}]},`), `wire type N: takes unknown values now`},
		"variant added":      {def(fmt.Sprintf(union, "A", "")), def(fmt.Sprintf(union, "A", variant)), `add U variant b: new`},
		"variant removed":    {def(fmt.Sprintf(union, "A", variant)), def(fmt.Sprintf(union, "A", "")), `BREAK U variant b: removed`},
		"variant payload":    {def(fmt.Sprintf(union, "A", "")), def(fmt.Sprintf(union, "B", "")), `BREAK U variant a: payload was A, is B`},
		"three states":       {member(`"three": {"type": ["string", "null"]}`), member(`"three": {"type": "string"}`), ``},
		"format of a text":   {member(`"a": {"type": "string"}`), member(`"a": {"type": "string", "format": "uri"}`), `wire DoRequest.a: was string, is string (uri)`},
		"format of a number": {member(`"a": {"type": "integer", "format": "int64"}`), member(`"a": {"type": "integer", "format": "uint64"}`), `BREAK DoRequest.a: was integer (int64), is integer (uint64)`},
		"same Go number":     {member(`"a": {"type": "integer"}`), member(`"a": {"type": "integer", "format": "int64"}`), `wire DoRequest.a: was integer, is integer (int64)`},
		"named number":       {def(`"N": {"type": "integer"},`), def(`"N": {"type": "integer", "format": "int64"},`), `wire type N: format was "", is "int64"`},
		"raw JSON":           {member(`"a": {"type": "object"}`), member(`"a": {}`), `wire DoRequest.a: was object, is any`},
		"encoding added":     {member(`"a": {"type": "string"}`), member(`"a": {"type": "string", "contentEncoding": "base64"}`), `wire DoRequest.a: the encoding was nothing, is base64`},
		"encoding removed":   {member(`"a": {"type": "string", "contentEncoding": "base64"}`), member(`"a": {"type": "string"}`), `BREAK DoRequest.a: the encoding was base64, is nothing`},
		"text becomes enum": {def(`"N": {"type": "string"},`), def(`"N": {"oneOf": [{"type": "string", "const": "x"}]},`), `wire type N: was string newtype, is string enum
add N value x: new`},
		"enum becomes text": {def(`"N": {"oneOf": [{"type": "string", "const": "x"}]},`), def(`"N": {"type": "string"},`), `BREAK type N: was string enum, is string newtype`},
		"list becomes required": {def(`"N": {"type": "object", "required": ["b"], "properties": {"a": {"type": "array", "items": {"type": "string"}}, "b": {"type": "string"}}},`),
			def(`"N": {"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "array", "items": {"type": "string"}}, "b": {"type": "string"}}},`),
			`BREAK N: its constructor takes other arguments: (a []string, b string) were (b string)
wire N.a: was optional, is required`},
		"members change places": {def(`"N": {"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},`),
			def(`"N": {"type": "object", "required": ["a", "b"], "properties": {"b": {"type": "string"}, "a": {"type": "string"}}},`),
			`BREAK N: its constructor takes other arguments: (b string, a string) were (a string, b string)`},
		"renamed": {def(`"N": {"type": "object", "properties": {"of": {"$ref": "#/$defs/N"}, "a": {"type": "string"}}},`), def(`"M": {"type": "object", "properties": {"of": {"$ref": "#/$defs/M"}, "a": {"type": "string"}}},`),
			`BREAK type N: removed; M is new and has the same shape, so this is probably its new name
add type M: new, object; has the shape of N, which is gone`},
		"renamed or not": {def(`"N": {"type": "object", "properties": {"a": {"type": "string"}}},`), def(`"M": {"type": "object", "properties": {"a": {"type": "string"}}}, "O": {"type": "object", "properties": {"a": {"type": "string"}}},`),
			`BREAK type N: removed
add type M: new, object
add type O: new, object`},
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	for name, c := range pairs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, ch := range compat.Compare(lower(t, c.prev), lower(t, c.next)) {
				got = append(got, fmt.Sprintf("%s %s: %s", ch.Level, ch.Where, ch.What))
			}
			if s := strings.Join(got, "\n"); s != c.want {
				t.Errorf("got  %s\nwant %s", s, c.want)
			}
		})
	}
}

func TestNewRequiredMemberBreaksAConstructor(t *testing.T) {
	t.Parallel()
	object := func(required, members string) string {
		return fmt.Sprintf(frame, "", "", `"N": {"type": "object", "required": [`+required+`], "properties": {`+members+`}},`)
	}
	for _, c := range []struct {
		prev string
		want compat.Level
	}{
		{object(``, `"b": {"type": "string"}`), compat.Wire},
		{object(`"b"`, `"b": {"type": "string"}`), compat.Break},
	} {
		next := strings.Replace(strings.Replace(c.prev, `"required": [`, `"required": ["a", `, 1), `"b": {`, `"a": {"type": "string"}, "b": {`, 1)
		next = strings.Replace(next, `"a", ]`, `"a"]`, 1)
		got := compat.Compare(lower(t, c.prev), lower(t, next))
		if len(got) != 1 || got[0].Level != c.want || !strings.Contains(got[0].What, "new and required, string") {
			t.Errorf("got %v, want %s", got, c.want)
		}
	}
}

func TestNewAndRemovedMethodsAreReported(t *testing.T) {
	t.Parallel()
	prev := fmt.Sprintf(frame, "", "", "")
	next := strings.NewReplacer(
		`"#/$defs/DoRequest"}`, `"#/$defs/DoRequest"}, {"$ref": "#/$defs/GoRequest"}`,
		`"#/$defs/DoResponse"}`, `"#/$defs/DoResponse"}, {"$ref": "#/$defs/GoResponse"}`,
		`"End":`, `"GoRequest": {"type": "object", "x-side": "agent", "x-method": "go", "properties": {}},
			"GoResponse": {"type": "object", "x-side": "agent", "x-method": "go", "properties": {}}, "End":`,
	).Replace(prev)
	levels := func(a, b string) (out []compat.Level) {
		for _, c := range compat.Compare(lower(t, a), lower(t, b)) {
			if strings.HasPrefix(c.Where, "method agent go") {
				out = append(out, c.Level)
			}
		}
		return out
	}
	if got := levels(prev, next); len(got) != 1 || got[0] != compat.Impl {
		t.Errorf("a new method: %v", got)
	}
	if got := levels(next, prev); len(got) != 1 || got[0] != compat.Break {
		t.Errorf("a removed method: %v", got)
	}
}

// Unstable has everything that stable has, so a program can switch without changes.
func TestStableToUnstableBreaksNothing(t *testing.T) {
	t.Parallel()
	patches, err := schema.ReadPatches(schema.Tree)
	if err != nil {
		t.Fatal(err)
	}
	spec := func(e schema.Edition) *ir.Spec {
		d, err := schema.Load(e)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ir.Lower(d, ir.Overlay{Patches: patches.Of(e)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	changes := compat.Compare(spec(schema.V1), spec(schema.Unstable))
	for _, c := range changes {
		if c.Level == compat.Break {
			t.Errorf("%s: %s", c.Where, c.What)
		}
	}
	for _, level := range []compat.Level{compat.Impl, compat.Wire, compat.Add} {
		if compat.Count(changes, level) == 0 {
			t.Errorf("no change is %s: the drafts have lost what they are for", level)
		}
	}
}

func TestTheReportNamesTypesWithoutWords(t *testing.T) {
	t.Parallel()
	text := string(compat.Markdown("1.0.0", "1.1.0", []compat.Section{
		{Title: "v1", Changes: []compat.Change{{compat.Break, "type A", "removed"}, {compat.Doc, "B", ""}}, Wordless: []string{`"C": {"": ""}`, `"D": {"": ""}`}},
		{Title: "v2"},
	}))
	for _, want := range []string{
		"# The protocol from 1.0.0 to 1.1.0\n",
		"| v1 | 1 | 0 | 0 | 0 | 1 |\n| v2 | 0 | 0 | 0 | 0 | 0 |\n",
		"### v1: BREAK\n\n- `type A`: removed\n",
		"### v1: doc\n\n`B`\n",
		"### v1: new and without words\n\nPaste these into `schema/overlay/docs.json` and fill them in:\n\n```json\n\"C\": {\"\": \"\"},\n\"D\": {\"\": \"\"}\n```\n",
		"## v2\n\nNo change.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report has no %q:\n%s", want, text)
		}
	}
}
