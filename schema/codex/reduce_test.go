package codex_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/testcodex"
	"github.com/hermes-nvim/hermes/schema"
	"github.com/hermes-nvim/hermes/schema/codex"
)

func TestThePinnedSchemaHoldsNoProse(t *testing.T) {
	t.Parallel()
	var root any
	if err := json.Unmarshal(codex.Schema, &root); err != nil {
		t.Fatal(err)
	}
	var look func(at string, v any, names bool)
	look = func(at string, v any, names bool) {
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				if s, text := e.(string); text && !names && (k == "description" || k == "title" && strings.Contains(s, ". ")) {
					t.Errorf("%s/%s: %q", at, k, s)
				}
				look(at+"/"+k, e, k == "properties" || k == "$defs")
			}
		case []any:
			for _, e := range v {
				look(at, e, false)
			}
		}
	}
	look("#", root, false)
}

func TestThePinnedSchemaIsTheRecordedOne(t *testing.T) {
	t.Parallel()
	source, err := codex.Pinned()
	if err != nil {
		t.Fatal(err)
	}
	if got := schema.Sum(codex.Schema); got != source.Reduced {
		t.Errorf("schema.json has the sum %s, the record says %s", got, source.Reduced)
	}
}

// TestTheInstalledCodexHasThePinnedSchema also proves that the schema can be made
// from the published binary.
func TestTheInstalledCodexHasThePinnedSchema(t *testing.T) {
	t.Parallel()
	binary := testcodex.Binary(t)
	source, err := codex.Pinned()
	if err != nil {
		t.Fatal(err)
	}
	version, err := exec.Command(binary, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(version), source.Version) {
		t.Fatalf("installed is %swhile the schema is that of %s: run go run ./tools/codexschema", version, source.Version)
	}
	bundle, err := codex.Bundle(binary)
	if err != nil {
		t.Fatal(err)
	}
	if got := schema.Sum(bundle); got != source.Original {
		t.Errorf("the bundle has the sum %s, the record says %s", got, source.Original)
	}
	reduced, err := codex.Reduce(bundle)
	if err != nil {
		t.Fatal(err)
	}
	n, err := schema.ParseNode(bytes.NewReader(reduced))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(n.Format(), codex.Schema) {
		t.Error("schema.json is not what the binary's schema reduces to: run go run ./tools/codexschema")
	}
}

// bundle is a published schema with the methods Hermes uses, all of which carry
// the definition Used.
func bundle(t *testing.T, change func(defs, v2 map[string]any)) []byte {
	t.Helper()
	defs, v2 := map[string]any{}, map[string]any{}
	object := func() map[string]any { return map[string]any{"type": "object", "description": "Prose."} }
	for frame, methods := range map[string][]codex.Method{
		"ClientRequest": codex.Requests, "ServerRequest": codex.Questions,
		"ServerNotification": codex.Notifications, "ClientNotification": codex.Announcements,
	} {
		var branches []any
		for _, m := range methods {
			props := map[string]any{"method": map[string]any{"enum": []any{m.Wire}, "type": "string"}}
			if m.Params != "" {
				props["params"] = map[string]any{"$ref": "#/definitions/v2/" + m.Params}
				v2[m.Params] = object()
			}
			if m.Result != "" {
				v2[m.Result] = object()
			}
			branches = append(branches, map[string]any{"properties": props})
		}
		defs[frame] = map[string]any{"oneOf": branches}
	}
	if change != nil {
		change(defs, v2)
	}
	defs["v2"] = v2
	b, err := json.Marshal(map[string]any{"definitions": defs})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestShapesThatTheGeneratorDoesNotKnowAreRewritten(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, member, want string }{
		{"words open", `{"enum":["a","b"],"type":"string"}`, `"ModelListParamsX":{"oneOf":[{"const":"a","type":"string"},{"const":"b","type":"string"},{"title":"Other","type":"string"}]}`},
		{"object gets a name", `{"type":"object","properties":{"y":{"type":"boolean"}}}`, `"ModelListParamsX":{"properties":{"y":{"type":"boolean"}},"type":"object"}`},
		{"reference with prose beside it", `{"allOf":[{"$ref":"#/definitions/v2/T"}],"description":"Prose."}`, `"x":{"$ref":"#/$defs/T"}`},
		{"tag", `{"$ref":"#/definitions/v2/U"}`, `"U":{"oneOf":[{"properties":{"m":{"type":"string"},"n":{"type":"integer"},"o":{"type":"string"},"type":{"const":"a","type":"string"}},"required":["type"],"type":"object"}]}`},
		{"word or object", `{"$ref":"#/definitions/v2/W"}`, `"W":{"oneOf":[{"title":"Word","type":"string"},{"$ref":"#/$defs/WMore","title":"More"},{"title":"Other"}]}`},
		{"list has no name", `{"$ref":"#/definitions/v2/L"}`, `"x":{"items":{"$ref":"#/$defs/T"},"type":"array"}`},
		{"any value", `true`, `"x":{}`},
		{"format", `{"type":"integer","format":"uint"}`, `"x":{"format":"uint64","type":"integer"}`},
		{"required or null", `{"type":["string","null"]}`, `"ModelListParams":{"properties":{"x":{"type":["string","null"]}},"type":"object"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := bundle(t, func(_, v2 map[string]any) {
				v2["ModelListParams"] = map[string]any{"type": "object", "required": []any{"x"}, "properties": map[string]any{"x": json.RawMessage(test.member)}}
				v2["T"] = json.RawMessage(`{"type":"string"}`)
				v2["L"] = json.RawMessage(`{"type":"array","items":{"$ref":"#/definitions/v2/T"}}`)
				v2["U"] = json.RawMessage(`{"oneOf":[{"type":"object","title":"A","properties":{"type":{"enum":["a"],"type":"string"},"n":{"type":"integer"}},"required":["type"],"anyOf":[{"properties":{"m":{"type":"string"}},"required":["m"]},{"properties":{"o":{"type":"string"}},"required":["o"]}]}]}`)
				v2["W"] = json.RawMessage(`{"oneOf":[{"type":"string","enum":["a"]},{"type":"object","properties":{"more":{"type":"string"}},"required":["more"]},{"type":["string","object"]}]}`)
				v2["Unused"] = json.RawMessage(`{"type":"string"}`)
			})
			got, err := codex.Reduce(b)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(got), test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			for _, unwanted := range []string{"Prose.", "Unused"} {
				if strings.Contains(string(got), unwanted) {
					t.Errorf("%s was kept", unwanted)
				}
			}
			if _, err := schema.Parse("codex", got); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAMethodThatIsGoneFailsTheReduction(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(defs, v2 map[string]any)
		want   string
	}{
		{"method", func(defs, _ map[string]any) { defs["ServerRequest"] = map[string]any{"oneOf": []any{}} }, "no method execCommandApproval"},
		{"result", func(_, v2 map[string]any) { delete(v2, "TurnStartResponse") }, "no definition TurnStartResponse"},
		{"reference", func(_, v2 map[string]any) {
			v2["TurnStartParams"] = json.RawMessage(`{"type":"object","properties":{"x":{"$ref":"#/definitions/v2/Gone"}}}`)
		}, "no definition Gone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, err := codex.Reduce(bundle(t, test.change)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

func TestChangesAreListedByPath(t *testing.T) {
	t.Parallel()
	const values = `"const": "acceptForSession"`
	for _, test := range []struct{ name, from, to, want string }{
		{"nothing", values, values, ""},
		{"definition", `"$defs": {`, `"$defs": { "New": { "properties": { "words": { "type": "string" } } },`, "+ New.words.type = string"},
		{"value", values, `"const": "acceptForever"`, "+ FileChangeApprovalDecision[acceptForever].const = acceptForever"},
		{"value", values, `"const": "acceptForever"`, "- FileChangeApprovalDecision[acceptForSession].const = acceptForSession"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			other := strings.ReplaceAll(string(codex.Schema), test.from, test.to)
			list, err := codex.Changes([]byte(other))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(list, "|")
			if (test.want == "") != (got == "") {
				t.Errorf("got %q", got)
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q in it", got, test.want)
			}
		})
	}
}
