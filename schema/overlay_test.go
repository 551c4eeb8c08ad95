package schema

import (
	"bytes"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

func folder(file, text string) fstest.MapFS {
	return fstest.MapFS{file: {Data: []byte(text)}}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error has no %q: %v", p, err)
		}
	}
}

func TestEveryOverlayEntryPointsAtSomething(t *testing.T) {
	t.Parallel()
	all, err := LoadFrom(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	patches, err := ReadPatches(Tree)
	if err != nil {
		t.Fatal(err)
	}
	defaults, err := ReadDefaults(Tree)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := ReadDocs(Tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{patches.Check(all), defaults.Check(all), docs.Check(all)} {
		if err != nil {
			t.Error(err)
		}
	}
}

// Unstable has everything that stable has, including the meaning of null.
func TestDraftsKeepTheThreeStateMembersOfStable(t *testing.T) {
	t.Parallel()
	p, err := ReadPatches(Tree)
	if err != nil {
		t.Fatal(err)
	}
	for stable, draft := range map[Edition]Edition{V1: Unstable, V2: V2Unstable} {
		if len(p.Of(stable)) == 0 {
			t.Errorf("%s has no member with three states", stable)
		}
		for m := range p.Of(stable) {
			if !p.Of(draft)[m] {
				t.Errorf("%s: %s has three states in %s only", draft, m, stable)
			}
		}
	}
}

func TestWordsOfASpecificEditionWin(t *testing.T) {
	t.Parallel()
	d, err := ReadDocs(folder(DocsFile, `{
		"definitions": {"ToolCall": {"": "base", "members": {"title": "t", "kind": "k"}, "values": {"v": "w"}, "variants": {"a": "b"}}},
		"methods": {"session/new": {"": "starts", "page": "protocol/session-setup"}},
		"unstable": {"definitions": {"ToolCall": {"members": {"title": "u"}}, "Only": {"": "unstable"}}},
		"v2": {"definitions": {"ToolCall": {"": "two"}}, "methods": {"session/new": {"page": "protocol/v2"}}},
		"v2/unstable": {"definitions": {"ToolCall": {"members": {"kind": "k2u"}}}}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	text := func(e Edition) [4]string {
		w := d.For(e)
		return [4]string{w.Definition("ToolCall"), w.Member("ToolCall", "title"), w.Member("ToolCall", "kind"), w.Definition("Only")}
	}
	for e, want := range map[Edition][4]string{
		V1:         {"base", "t", "k", ""},
		Unstable:   {"base", "u", "k", "unstable"},
		V2:         {"two", "t", "k", ""},
		V2Unstable: {"two", "u", "k2u", "unstable"},
	} {
		if got := text(e); got != want {
			t.Errorf("%s: got %q, want %q", e, got, want)
		}
	}
	w := d.For(V2)
	if w.Value("ToolCall", "v") != "w" || w.Variant("ToolCall", "a") != "b" || w.Variant("Nothing", "a") != "" {
		t.Error("value or variant")
	}
	if text, page := w.Method("session/new"); text != "starts" || page != "protocol/v2" {
		t.Errorf("method: %q, %q", text, page)
	}
}

func TestWordsWithoutTargetAreErrors(t *testing.T) {
	t.Parallel()
	all, err := LoadFrom(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	d, err := ReadDocs(folder(DocsFile, `{
		"definitions": {
			"ToolCall": {"": "x", "members": {"title": "x", "tilte": "x"}},
			"ToolKind": {"values": {"read": "x", "raed": "x"}},
			"ErrorCode": {"values": {"-32000": "x", "-1": "x"}},
			"SessionUpdate": {"variants": {"plan": "x", "plna": "x"}},
			"AuthMethod": {"variants": {"agent": "x"}},
			"SetSessionConfigOptionRequest": {"members": {"value": "x"}},
			"Toolcall": {"": "x", "members": {"title": "not listed"}, "values": {"v": "not listed"}}
		},
		"methods": {"session/new": {"": "x"}, "session/nwe": {"": "x"}},
		"v2": {"definitions": {"ToolCall": {"": "only v1 has it"}}},
		"unstable": {"definitions": {"SubagentUpdate": {"": "x"}}}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `schema/overlay/docs.json: nothing in the schemas matches these entries, correct or delete them:
  definitions: ErrorCode: values: -1
  definitions: SessionUpdate: variants: plna
  definitions: ToolCall: members: tilte
  definitions: ToolKind: values: raed
  definitions: Toolcall
  methods: session/nwe
  v2: definitions: ToolCall`
	if err := d.Check(all); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestWordsFollowRenamesAndRemovals(t *testing.T) {
	t.Parallel()
	all, err := LoadFrom(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	const before = `{
  "definitions": {
    "ToolUse": {
      "": "a < b",
      "members": {
        "title": "t",
        "gone": "g"
      }
    },
    "Gone": {
      "": "x",
      "values": {
        "v": "x"
      }
    },
    "ToolKind": {
      "values": {
        "gone": "g"
      }
    }
  },
  "methods": {
    "session/gone": {
      "": "x"
    }
  },
  "v2": {
    "definitions": {
      "Gone": {
        "": "x"
      }
    }
  }
}
`
	const after = `{
  "definitions": {
    "ToolCall": {
      "": "a < b",
      "members": {
        "title": "t"
      }
    }
  }
}
`
	text, done, err := PruneDocs(folder(DocsFile, before), all, map[string]string{"ToolUse": "ToolCall", "ToolCallUpdate": "Plan"})
	if err != nil || string(text) != after {
		t.Errorf("got %s, %v", text, err)
	}
	want := []string{
		"moved the words of ToolUse to ToolCall",
		"removed the words of definitions: Gone",
		"removed the words of definitions: ToolCall: members: gone",
		"removed the words of definitions: ToolKind: values: gone",
		"removed the words of methods: session/gone",
		"removed the words of v2: definitions: Gone",
	}
	if !reflect.DeepEqual(done, want) {
		t.Errorf("got %q", done)
	}
	now, err := fs.ReadFile(Tree, DocsFile)
	if err != nil {
		t.Fatal(err)
	}
	if text, done, err := PruneDocs(Tree, all, nil); err != nil || done != nil || !bytes.Equal(text, now) {
		t.Errorf("the tree itself: %v, %v", done, err)
	}
}

func TestPatchesAndDefaultsWithoutTargetAreErrors(t *testing.T) {
	t.Parallel()
	all, err := LoadFrom(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	p, err := ReadPatches(folder(PatchesFile, `{"v1": ["SessionInfoUpdate.title", "SessionInfoUpdate.tilte", "Gone.x"], "v3": ["Plan._meta"]}`))
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, p.Check(all), PatchesFile, "v1: SessionInfoUpdate.tilte", "v1: Gone.x", "v3: Plan._meta")
	d, err := ReadDefaults(folder(DefaultsFile, `{"v1": {"ToolKind": "other", "ToolCallStatus": "gone"}}`))
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, d.Check(all), DefaultsFile, "v1: ToolCallStatus: gone")
}

func TestOverlayFilesAreReadStrictly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`{"definitions": {"A": {"member": {}}}}`, `unknown member "member"`},
		{`{"definitions": {"A": {"": 1}}}`, `"": json: cannot unmarshal number`},
		{`{"definitions": {"A": {}, "A": {}}}`, `#/definitions: duplicate member "A"`},
		{`{"v3": {}}`, `unknown field "v3"`},
		{`{"v2": {"v2": {}}}`, `v2: json: unknown field "v2"`},
		{`{`, "unexpected EOF"},
	} {
		_, err := ReadDocs(folder(DocsFile, c.text))
		wantError(t, err, "schema/overlay/docs.json: ", c.want)
	}
	if _, err := ReadDocs(fstest.MapFS{}); err != nil {
		t.Errorf("a folder without words: %v", err)
	}
	if _, err := ReadPatches(fstest.MapFS{}); err == nil {
		t.Error("a folder without patches: no error")
	}
}

func TestLayersReadAnyFormat(t *testing.T) {
	t.Parallel()
	type quirks struct {
		Strict []string `json:"strict"`
	}
	l, err := ReadLayers[quirks](folder(QuirksFile, `{"strict": ["a"], "v2": {"strict": ["b"]}}`), QuirksFile)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := l.For(V2Unstable), []quirks{{[]string{"b"}}, {[]string{"a"}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLedgerNamesUnusedEntries(t *testing.T) {
	t.Parallel()
	l := NewLedger(QuirksFile, "strict: a", "strict: b", "secret: c")
	l.Use("strict: a")
	wantError(t, l.Err(), "schema/overlay/quirks.json", "secret: c\n  strict: b")
	l.Use("strict: b")
	l.Use("secret: c")
	if err := l.Err(); err != nil {
		t.Error(err)
	}
}

func TestEditionNames(t *testing.T) {
	t.Parallel()
	if V2Unstable.Title() != "v2 unstable" || V1.Title() != "v1" || V2Unstable.Version() != 2 || Unstable.Version() != 1 {
		t.Error("title or version")
	}
}
