package schema

import (
	"bytes"
	"strings"
	"testing"
)

func parseString(t *testing.T, s string) *Node {
	t.Helper()
	n, err := ParseNode(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestReduceDropsOnlyProse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{`{"description":"x","type":"object"}`, `{"type":"object"}`},
		{`{"properties":{"description":{"description":"x","type":"string"}}}`, `{"properties":{"description":{"type":"string"}}}`},
		{`{"$defs":{"description":{"anyOf":[{"description":"x"},true]}}}`, `{"$defs":{"description":{"anyOf":[{},true]}}}`},
		{`{"items":{"description":"x"},"not":{"description":"x"}}`, `{"items":{},"not":{}}`},
		{`{"default":{"description":"x"},"const":{"description":"x"}}`, `{"default":{"description":"x"},"const":{"description":"x"}}`},
		{`{"additionalProperties":{"description":"x","z":1,"a":12345678901234567890}}`, `{"additionalProperties":{"z":1,"a":12345678901234567890}}`},
	} {
		if got := Reduce(parseString(t, c.in)).JSON(); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestReduceOfAReducedSchemaIsTheSchema(t *testing.T) {
	t.Parallel()
	for _, e := range Editions {
		n, err := ParseNode(bytes.NewReader(e.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(Reduce(n).Format(), e.Bytes()) {
			t.Errorf("%s changes when it is reduced again", e)
		}
	}
}

func TestFormatKeepsOrderAndBreaksLongValues(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 90)
	for _, c := range []struct{ in, want string }{
		{`{}`, "{}\n"},
		{`{"b":1,"a":[1,"<&>",{}]}`, "{\n  \"b\": 1,\n  \"a\": [1, \"<&>\", {}]\n}\n"},
		{`{"a":{"k":"` + long + `"}}`, "{\n  \"a\": {\n    \"k\": \"" + long + "\"\n  }\n}\n"},
		{`["` + long + `",[]]`, "[\n  \"" + long + "\",\n  []\n]\n"},
	} {
		if got := string(parseString(t, c.in).Format()); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestFormatLosesNothing(t *testing.T) {
	t.Parallel()
	for _, e := range Editions {
		n, err := ParseNode(bytes.NewReader(e.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(n.Format()), "\n") {
			if len(line) > formatWidth {
				t.Errorf("%s:%d: %d columns", e.File(), i+1, len(line))
			}
		}
		if again := parseString(t, string(n.Format())); again.JSON() != n.JSON() {
			t.Errorf("%s: formatted text is another document", e)
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add(`{"a":[1,{"b":null}],"c":"é\u2028"}`)
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseNode(strings.NewReader(s))
		if err != nil {
			return
		}
		again, err := ParseNode(bytes.NewReader(n.Format()))
		if err != nil || again.JSON() != n.JSON() {
			t.Fatalf("%q: formatted %q: %v", s, n.Format(), err)
		}
	})
}
