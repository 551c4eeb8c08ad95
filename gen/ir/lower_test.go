package ir_test

import (
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/gen/ir"
	"github.com/hermes-nvim/hermes/schema"
)

// The error of every mistake names the place and what is wrong.
func TestUnknownShapesStop(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, defs, want string }{
		{"required member that may be null", `"A":{"type":"object","properties":{"b":{"type":["string","null"]}},"required":["b"]}`, "#/$defs/A/properties/b: a required member that may be null"},
		{"anonymous object", `"A":{"type":"object","properties":{"b":{"type":"object","properties":{"c":{"type":"string"}}}}}`, "an object without a name"},
		{"anonymous union", `"A":{"type":"object","properties":{"b":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`, "a union without a name"},
		{"two types", `"A":{"type":"object","properties":{"b":{"type":["string","integer"]}}}`, "several types"},
		{"nullable element", `"A":{"type":"object","properties":{"b":{"type":"array","items":{"type":["string","null"]}}}}`, "an element that may be null"},
		{"list as definition", `"A":{"type":"array","items":{"type":"string"}}`, "#/$defs/A: unknown shape"},
		{"map as definition", `"A":{"type":"object","additionalProperties":{"type":"string"}}`, "a definition that is a map"},
		{"two tags", `"A":{"oneOf":[{"type":"object","properties":{"t":{"const":"x"}}},{"type":"object","properties":{"u":{"const":"y"}}}]}`, `two tags, "t" and "u"`},
		{"tag used twice", `"A":{"oneOf":[{"type":"object","properties":{"t":{"const":"x"}}},{"type":"object","properties":{"t":{"const":"x"}}}]}`, `the tag "x" is used twice`},
		{"wrong discriminator", `"A":{"oneOf":[{"type":"object","properties":{"t":{"const":"x"}}}],"discriminator":{"propertyName":"u"}}`, `discriminator is "u" but the constants are in "t"`},
		{"open branch that takes known tags", `"A":{"anyOf":[{"type":"object","properties":{"t":{"const":"x"}}},{"title":"other","type":"object","properties":{"t":{"type":"string"}}}]}`, "an open branch that does not exclude the known tags"},
		{"nothing selects", `"A":{"anyOf":[{"title":"B","allOf":[{"$ref":"#/$defs/B"}]},{"title":"C","allOf":[{"$ref":"#/$defs/C"}]}]},"B":{"type":"object"},"C":{"type":"object"}`, `variant "B" requires no member that could select it`},
		{"limit that is not an integer", `"A":{"type":"object","properties":{"b":{"type":"integer","minimum":0.5}}}`, "minimum is 0.5, which is not an integer"},
		{"member declared twice", `"A":{"oneOf":[{"type":"object","properties":{"t":{"const":"x"}},"required":["t"],"allOf":[{"$ref":"#/$defs/B"}]}]},"B":{"type":"object","properties":{"t":{"type":"string"}}}`, `#/$defs/A/oneOf/0: the member "t" is declared by the union and by the variant`},
		{"method in no envelope", `"ARequest":{"type":"object","x-method":"a","x-side":"agent"}`, `has x-method "a" but is in no envelope`},
		{"request without response", `"ARequest":{"type":"object","x-method":"a","x-side":"agent"},` + envelope("ClientRequest", "ARequest"), `request "ARequest" and response "" do not make a pair`},
		{"wrong side", `"ANotification":{"type":"object","x-method":"a","x-side":"client"},` + envelope("ClientNotification", "ANotification"), `x-side is "client", the envelope says that the agent handles it`},
		{"envelope without method", `"ANotification":{"type":"object"},` + envelope("ClientNotification", "ANotification"), "is in an envelope but has no x-method"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			doc, err := schema.Parse("test.json", []byte(`{"$defs":{`+test.defs+`}}`))
			if err != nil {
				t.Fatal(err)
			}
			_, err = ir.Lower(doc, ir.Overlay{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v\nwant %s", err, test.want)
			}
		})
	}
}

func envelope(name, params string) string {
	return `"` + name + `":{"type":"object","properties":{"method":{"type":"string"},"params":{"anyOf":[{"allOf":[{"$ref":"#/$defs/` + params + `"}]}]}},"x-docs-ignore":true}`
}
