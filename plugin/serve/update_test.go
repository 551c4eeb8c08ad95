package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/test/editors"

	"github.com/hermes-nvim/hermes/acp"
)

// sampleUpdates are params of session/update: recorded ones, the examples of
// the documentation, and one of each kind.
func sampleUpdates(t testing.TB) []string {
	t.Helper()
	var list []string
	for _, r := range testagent.Updates() {
		list = append(list, `{"sessionId":"s","update":`+r.JSON+`}`)
	}
	for _, name := range []string{"traffic.jsonl", "examples.jsonl"} {
		f, err := os.Open(filepath.Join(editors.Root(t), "acp", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var line struct {
				Message struct {
					Method string
					Params json.RawMessage
				}
			}
			if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
				t.Fatal(err)
			}
			if line.Message.Method == acp.MethodSessionUpdate {
				list = append(list, string(line.Message.Params))
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// byTypes is the data of an update made from nothing but the decoded value.
func byTypes(n *acp.SessionNotification) *wire.Object {
	o := wire.From(n.AppendJSON(nil))
	var members map[string]json.RawMessage
	if err := json.Unmarshal(acp.AppendSessionUpdate(nil, n.Update), &members); err != nil {
		panic(err)
	}
	var cleared []string
	for name, v := range members {
		if string(v) == "null" {
			cleared = append(cleared, name)
		}
	}
	if cleared != nil {
		o.Strs("cleared", cleared)
	}
	return o
}

// inLua is what Neovim's decoder makes of text: numbers of double precision, no
// null members, and the last of two members of the same name.
func inLua(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return withoutNulls(v)
}

func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, m := range v {
			if m == nil {
				delete(v, name)
			} else {
				v[name] = withoutNulls(m)
			}
		}
	case []any:
		for i, e := range v {
			v[i] = withoutNulls(e)
		}
	}
	return v
}

// spelt removes members from got that are false and not in want: where the
// types do not distinguish false from absent, Lua gets false.
func spelt(got, want any) {
	switch got := got.(type) {
	case map[string]any:
		want, _ := want.(map[string]any)
		for name, m := range got {
			if w, ok := want[name]; !ok && m == false {
				delete(got, name)
			} else {
				spelt(m, w)
			}
		}
	case []any:
		want, _ := want.([]any)
		for i := range min(len(got), len(want)) {
			spelt(got[i], want[i])
		}
	}
}

// sameInLua compares what Lua gets of the text with what the types hold.
func sameInLua(t *testing.T, text []byte) {
	t.Helper()
	var n acp.SessionNotification
	wrong := n.UnmarshalJSON(text)
	u, err := readUpdate(text, wire.Lost{})
	if (err == nil) != (wrong == nil) {
		t.Errorf("%v, want %v: %s", err, wrong, text)
	}
	if err != nil || wrong != nil {
		return
	}
	got, want := inLua(t, u.data.JSON()), inLua(t, byTypes(&n).JSON())
	for _, v := range []any{got, want} {
		if cleared, ok := v.(map[string]any)["cleared"].([]any); ok {
			set := map[any]bool{}
			for _, name := range cleared {
				set[name] = true
			}
			v.(map[string]any)["cleared"] = set
		}
	}
	spelt(got, want)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Lua gets\n%v, want\n%v, of\n%s", got, want, text)
	}
}

// spoilt calls f with text once for each value in it, in whose place something
// else stands.
func spoilt(text string, f func([]byte)) {
	replacements := []string{
		`null`, `false`, `true`, `-7`, `1.5`, `12345678901234567890`, `9007199254740993.0`, `"x"`, `"\ud83d\ude00\u0000\/"`, `[]`, `{}`,
		`[null]`, `["x",null,5]`, `[{"type":"text"}]`, `{"a":null,"b":[null,1e300]}`,
	}
	var values []int // where values start
	depth := json.NewDecoder(strings.NewReader(text))
	depth.UseNumber()
	for {
		if _, err := depth.Token(); err != nil {
			break
		}
		values = append(values, int(depth.InputOffset()))
	}
	for _, at := range values {
		rest := strings.TrimLeft(text[at:], ":, ")
		start := len(text) - len(rest)
		var v json.RawMessage
		if json.NewDecoder(strings.NewReader(rest)).Decode(&v) != nil {
			continue
		}
		for _, r := range replacements {
			f([]byte(text[:start] + r + text[start+len(v):]))
		}
	}
}

func TestLuaSeesOfAnUpdateWhatTheTypesHold(t *testing.T) {
	t.Parallel()
	for _, text := range sampleUpdates(t) {
		sameInLua(t, []byte(text))
		var spaced bytes.Buffer
		if err := json.Indent(&spaced, []byte(text), " ", "\t"); err != nil {
			t.Fatal(err)
		}
		sameInLua(t, spaced.Bytes())
	}
}

func TestWhatTheDecoderForgivesDoesNotReachLua(t *testing.T) {
	t.Parallel()
	for _, r := range testagent.Updates() {
		spoilt(`{"sessionId":"s","update":`+r.JSON+`,"_meta":{"a":1},"later":{"b":[2]}}`, func(text []byte) { sameInLua(t, text) })
	}
	for text, absent := range map[string]string{
		`{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","messageId":7,"content":{"type":"text","text":"a"}}}`:  `"messageId"`,
		`{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","locations":[{"path":"p"},"bad"]}}`: `"bad"`,
		`{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":1,"size":2},"_meta":"bad"}`:                            `"bad"`,
	} {
		u, err := readUpdate([]byte(text), wire.Lost{})
		if err != nil {
			t.Fatal(err)
		}
		if got := u.data.JSON(); bytes.Contains(got, []byte(absent)) {
			t.Errorf("Lua gets %s", got)
		}
	}
}

func TestOnlyMembersThatAreClearedAreNamed(t *testing.T) {
	t.Parallel()
	for update, want := range map[string]string{
		`{"sessionUpdate":"session_info_update","title":null,"updatedAt":null,"_meta":null}`:                               `,"cleared":["title","updatedAt"]`,
		`{"sessionUpdate":"session_info_update","title":"null"}`:                                                           ``,
		`{"sessionUpdate":"agent_message_chunk","messageId":null,"content":{"type":"text","text":"a","annotations":null}}`: ``,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","rawInput":null,"kind":null}`:                                `,"cleared":["rawInput"]`,
		`{"sessionUpdate":"_new","what":null,"deep":{"er":null}}`:                                                          `,"cleared":["what"]`,
		`{"sessionUpdate":"plan","entries":[],"later":{"a":null}}`:                                                         ``,
	} {
		u, err := readUpdate([]byte(`{"sessionId":"s","update":`+update+`}`), wire.Lost{})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(u.data.JSON()); got != `{"sessionId":"s","update":`+update+want+`}` {
			t.Errorf("%s became %s", update, got)
		}
	}
}
