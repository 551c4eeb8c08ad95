package neovim

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/hermes-nvim/hermes/gen/ir"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// explain gives everything words, made from its name.
func explain(s *ir.Spec) {
	members := func(owner string, list []*ir.Field) {
		for _, f := range list {
			f.Doc = "Explains " + f.Wire + " of " + owner + "."
		}
	}
	for _, t := range s.Types {
		t.Doc = "Explains " + t.Name + "."
		members(t.Name, t.Fields)
		for i, v := range t.Values {
			t.Values[i].Doc = "Explains the value " + v.Wire + "."
		}
		if t.Union == nil {
			continue
		}
		for _, v := range t.Union.Variants {
			v.Doc = "Explains the variant " + variantName(v) + "."
			members(t.Name, v.Fields)
		}
	}
	for _, m := range s.Methods {
		m.Doc, m.Page = "Explains "+m.Wire+".", "protocol/tiny"
	}
}

// tiny is a protocol with one of each shape.
func tiny() *ir.Spec {
	ref := func(n string) ir.TypeRef { return ir.TypeRef{Ref: n} }
	text := ir.TypeRef{Prim: "string"}
	sessionID := &ir.Field{Wire: "sessionId", Type: ref("SessionId"), Presence: ir.Required}
	object := func(name string, fields ...*ir.Field) *ir.Type {
		return &ir.Type{Name: name, Kind: ir.Object, Fields: fields}
	}
	s := &ir.Spec{
		Types: []*ir.Type{
			{Name: "SessionId", Kind: ir.String},
			{Name: "Mood", Kind: ir.EnumStr, Open: true, Values: []ir.Value{{Wire: "good"}, {Wire: "bad"}}},
			{Name: "Code", Kind: ir.EnumInt, Values: []ir.Value{{Wire: "-1"}}},
			{Name: "Anything", Kind: ir.Any},
			{Name: "Frame", Kind: ir.Envelope},
			{Name: "Key", Kind: ir.ByType, Union: &ir.Union{Variants: []*ir.Variant{
				{Title: "number", Type: &ir.TypeRef{Prim: "integer"}},
				{Title: "list", Type: &ir.TypeRef{Elem: &ir.TypeRef{Ref: "SessionId"}}},
			}}},
			{Name: "Place", Kind: ir.ByKeys, Union: &ir.Union{Variants: []*ir.Variant{
				{Title: "here", Ref: "Text"}, {Title: "there", Ref: "Chunk"},
			}}},
			object("Text", &ir.Field{Wire: "text", Type: text, Presence: ir.Required},
				&ir.Field{Wire: "_meta", Type: ir.TypeRef{Prim: "meta"}, Presence: ir.Nullable}),
			{Name: "ContentBlock", Kind: ir.Tagged, Union: &ir.Union{Tag: "type", Variants: []*ir.Variant{{Wire: "text", Ref: "Text"}}}},
			object("Chunk", &ir.Field{Wire: "content", Type: ref("ContentBlock"), Presence: ir.Required}),
			object("Title",
				&ir.Field{Wire: "title", Type: text, Presence: ir.Patch},
				&ir.Field{Wire: "$tags", Type: ir.TypeRef{Map: true, Elem: &ir.TypeRef{Elem: &text}}, Presence: ir.Optional}),
			{Name: "SessionUpdate", Kind: ir.Tagged, Union: &ir.Union{Tag: "sessionUpdate", Variants: []*ir.Variant{
				{Wire: "chunk", Ref: "Chunk"}, {Wire: "title", Ref: "Title"},
			}}},
			object("SessionNotification", sessionID, &ir.Field{Wire: "update", Type: ref("SessionUpdate"), Presence: ir.Required}),
			object("AskRequest", sessionID, &ir.Field{Wire: "mood", Type: ref("Mood"), Presence: ir.Required}),
			object("AskResponse",
				&ir.Field{Wire: "reply", Type: text, Presence: ir.Required},
				&ir.Field{Wire: "extra", Type: ir.TypeRef{Map: true, Elem: &text}, Presence: ir.Optional}),
			object("GreetRequest", &ir.Field{Wire: "place", Type: ref("Place"), Presence: ir.Optional}),
			object("GreetResponse", &ir.Field{Wire: "code", Type: ref("Code"), Presence: ir.Required}),
		},
		Methods: []*ir.Method{
			{Wire: "greet", Handler: "agent", Request: "GreetRequest", Response: "GreetResponse"},
			{Wire: "ask", Handler: "client", Request: "AskRequest", Response: "AskResponse"},
			{Wire: "session/update", Handler: "client", Notification: "SessionNotification"},
		},
		ByName: map[string]*ir.Type{},
	}
	for _, x := range s.Types {
		s.ByName[x.Name] = x
	}
	explain(s)
	return s
}

func tinyRows() EventRows {
	return EventRows{
		Requests: map[string]*EventRow{
			"ask": {Name: "Asked", When: "The agent asks.", Answer: &Answer{
				Takes: "a reply", Empty: []byte(`{"reply": ""}`), String: []byte(`{"reply": "$"}`), Table: []byte(`{"reply": "none"}`),
			}},
			"*": {Name: "AskedElse", When: "The agent asks something else.", Answer: &Answer{Takes: "anything", Any: []byte(`"$"`)}},
		},
		Notifications: map[string]*EventRow{"*": {Name: "ToldElse", When: "The agent tells something else."}},
		Updates: map[string]*EventRow{
			"chunk": {By: "content.type", Rows: map[string]*EventRow{
				"text": {Name: "ChunkOfText", When: "Text arrives."},
				"*":    {Name: "ChunkOfElse", When: "Something else arrives."},
			}},
			"title": {Name: "TitleChanged", Alias: []string{"Title"}, When: "The title changed.", Flat: map[string]FlatPath{
				"name": {Of: "title"}, "json": {Of: "title", As: "json"},
			}},
			"*": {Name: "UpdateUnknown", When: "An unknown update arrives."},
		},
		Replies: map[string]*EventRow{"greet": {Name: "Greeted", Params: []string{"place"}, When: "The agent greets back."}},
		Prompt: map[string]*EventRow{
			"text": {Name: "SentText", When: "Text goes out."},
			"*":    {Name: "SentElse", When: "Something else goes out."},
		},
		Local: []*EventRow{{Name: "Ended", Session: true, When: "It is over.", Data: []DataMember{{Name: "reason?", Type: "string", Doc: "Why."}}}},
	}
}

func TestTinyProtocol(t *testing.T) {
	t.Parallel()
	for path, got := range byPath(t, tiny(), tinyRows()) {
		golden := filepath.Join("testdata", "tiny", filepath.Base(path)+".golden")
		if *update {
			if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs; see what changed with -update and git diff", golden)
		}
	}
}
