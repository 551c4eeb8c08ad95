package schema

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/atombender/go-jsonschema/pkg/schemas"
)

func TestEveryEditionLoads(t *testing.T) {
	t.Parallel()
	all, err := LoadFrom(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range Editions {
		// Count in the text itself, without any pass of the loader.
		var text struct {
			Defs map[string]json.RawMessage `json:"$defs"`
		}
		if err := json.Unmarshal(e.Bytes(), &text); err != nil {
			t.Fatal(err)
		}
		if got, want := len(all[e].Defs), len(text.Defs); got != want || want == 0 {
			t.Errorf("%s: %d definitions, the text has %d", e, got, want)
		}
		if n := all[e].Count["description"]; n != 0 {
			t.Errorf("%s: %d descriptions are left", e, n)
		}
	}
}

// A keyword in a place that the walk does not reach would be ignored, so the walk
// must find each one in the text. The test uses keywords that are not also names
// of members of the protocol.
func TestTheWalkReachesEverySchema(t *testing.T) {
	t.Parallel()
	all, err := LoadFrom(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range Editions {
		for keyword := range Keywords {
			if !strings.ContainsAny(keyword, "$-") && keyword != "allOf" && keyword != "not" {
				continue
			}
			if got, want := all[e].Count[keyword], bytes.Count(e.Bytes(), []byte(`"`+keyword+`":`)); got != want {
				t.Errorf("%s: the walk found %s %d times, the text has it %d times", e, keyword, got, want)
			}
		}
		if all[e].Count["$ref"] == 0 || all[e].Count["x-deserialize-default-on-error"] == 0 {
			t.Errorf("%s: nothing was counted", e)
		}
	}
}

func TestLoadStops(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"at an unknown keyword": {
			`{"$defs": {"A": {"type": "object", "properties": {"b": {"type": "string", "maxLength": 3}}}}}`,
			`t.json#/$defs/A/properties/b: unknown keyword "maxLength": decide what it means, then add it to schema/keywords.go`,
		},
		"at a keyword of a branch": {
			`{"$defs": {"A": {"oneOf": [{"x-new": 1}]}}}`,
			`#/$defs/A/oneOf/0: unknown keyword "x-new"`,
		},
		"at an unknown format of a number": {
			`{"$defs": {"A": {"type": "object", "properties": {"b": {"type": ["integer", "null"], "format": "int128"}}}}}`,
			`t.json#/$defs/A/properties/b: unknown format "int128": decide which Go type and which check it needs, then add it to Formats in schema/keywords.go`,
		},
		"at an unknown format of a text": {
			`{"$defs": {"A": {"type": "string", "format": "uuid"}}}`,
			`#/$defs/A: unknown format "uuid"`,
		},
		"at a format of another type": {
			`{"$defs": {"A": {"type": "string", "format": "uint32"}}}`,
			`#/$defs/A: format "uint32" of type string: it is known for integer only`,
		},
		"at a format without a type": {
			`{"$defs": {"A": {"format": "uri"}}}`,
			`#/$defs/A: format "uri" of type `,
		},
		"at a value that is not a schema":    {`{"$defs": {"A": {"items": 3}}}`, "cannot unmarshal number"},
		"at members that are not an object":  {`{"$defs": {"A": {"not": {"anyOf": {}}}}}`, "cannot unmarshal object"},
		"at a reference to nothing":          {`{"$defs": {"A": {"$ref": "#/$defs/B"}}}`, `#/$defs/A: $ref "#/$defs/B": no such definition`},
		"at a duplicate member":              {`{"$defs": {"A": {}, "A": {}}}`, `t.json: #/$defs: duplicate member "A"`},
		"at a document without schemas":      {`{"type": "object"}`, "has no $defs"},
		"at a second document":               {`{"$defs": {"A": {}}} {}`, "more data after the document"},
		"at the end of a cut document":       {`{"$defs": {"A": {`, "unexpected EOF"},
		"at something that is not an object": {`[]`, "cannot unmarshal array"},
		"at bottomless nesting":              {strings.Repeat(`{"not":`, 300), "nested deeper than 200"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("t.json", []byte(c.in))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestLoadNamesEveryProblem(t *testing.T) {
	t.Parallel()
	_, err := Parse("t.json", []byte(`{"$defs": {"A": {"x-a": 1}, "B": {"x-b": 1}}}`))
	if err == nil || !strings.Contains(err.Error(), "2 problems") || !strings.Contains(err.Error(), "x-a") || !strings.Contains(err.Error(), "x-b") {
		t.Errorf("got %v", err)
	}
}

// The test gives the two passes different documents, because they disagree about
// the same document only if go-jsonschema has a bug.
func TestParityFindsADisagreement(t *testing.T) {
	t.Parallel()
	const raw = `{"$defs": {"A": {"title": "t", "type": ["object", "null"], "required": ["b"], "properties": {"b": {"$ref": "#/$defs/B"}},
		"oneOf": [{"const": "x"}], "not": {"type": "null"}, "additionalProperties": false},
		"B": {"type": "integer", "minimum": 0, "format": "uint16"}, "C": {"type": "array", "items": {}, "minItems": 1}}}`
	for name, c := range map[string]struct{ old, new, want string }{
		"a lost definition":   {`, "C": {"type": "array", "items": {}, "minItems": 1}`, ``, "#/$defs/C: the typed pass lost this definition"},
		"a reference":         {`"#/$defs/B"`, `"#/$defs/C"`, "disagree about $ref"},
		"a type":              {`["object", "null"]`, `["object"]`, "disagree about type"},
		"a title":             {`"title": "t"`, `"title": "u"`, "disagree about title"},
		"a required member":   {`"required": ["b"]`, `"required": []`, "disagree about required"},
		"a member":            {`"properties": {"b": {"$ref": "#/$defs/B"}}`, `"properties": {}`, "disagree about properties"},
		"a constant":          {`"const": "x"`, `"const": "y"`, "disagree about const"},
		"a branch":            {`[{"const": "x"}]`, `[]`, "disagree about oneOf"},
		"a negation":          {`"not": {"type": "null"}, `, ``, "disagree about not"},
		"a type in a negate":  {`"not": {"type": "null"}`, `"not": {"type": "string"}`, "#/$defs/A/not: passes disagree about type"},
		"a closed object":     {`, "additionalProperties": false`, ``, "disagree about additionalProperties"},
		"a limit":             {`"minimum": 0`, `"minimum": 1`, "disagree about minimum"},
		"a limit that is off": {`"minimum": 0, `, ``, "disagree about minimum"},
		"a format":            {`uint16`, `uint32`, "disagree about format"},
		"an element type":     {`"items": {}, `, ``, "disagree about items"},
		"a count":             {`"minItems": 1`, `"minItems": 2`, "disagree about minItems"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := ParseNode(strings.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			typed, err := schemas.FromJSONReader(strings.NewReader(strings.Replace(raw, c.old, c.new, 1)))
			if err != nil {
				t.Fatal(err)
			}
			p := &problems{}
			checkParity(&Document{Raw: n, Typed: typed, Defs: n.Get("$defs").Keys}, p)
			if err := p.err("t.json"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestRecordedSumsMatchTheFiles(t *testing.T) {
	t.Parallel()
	s, err := ReadOverlay[Sources](Tree, SourcesFile)
	if err != nil {
		t.Fatal(err)
	}
	tree := os.DirFS(".")
	if err := s.Verify(tree); err != nil {
		t.Error(err)
	}
	s.Schemas[2].Reduced = strings.Repeat("0", 64)
	if err := s.Verify(tree); err == nil || !strings.Contains(err.Error(), "schema/v2/schema.json: was changed by hand") {
		t.Errorf("got %v", err)
	}
	s.Schemas = s.Schemas[:3]
	if _, err := s.Of(V2Unstable); err == nil || !strings.Contains(err.Error(), "run specupdate") {
		t.Errorf("got %v", err)
	}
}

func TestPackagesEmbedTheFilesOfTheirEdition(t *testing.T) {
	t.Parallel()
	for i, a := range Editions {
		for _, b := range Editions[i+1:] {
			if bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("%s and %s are the same", a, b)
			}
		}
	}
}
