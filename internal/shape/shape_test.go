package shape

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/internal/shape/oracle"
	v1 "github.com/hermes-nvim/hermes/schema/v1"
	v2 "github.com/hermes-nvim/hermes/schema/v2"
)

func TestEveryKeywordIsUnderstood(t *testing.T) {
	t.Parallel()
	for name, text := range map[string][]byte{"v1": v1.Unstable, "the draft of v2": draft, "v2": v2.Unstable} {
		var doc any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		unknown := map[string]bool{}
		var walk func(v any, members bool)
		walk = func(v any, members bool) {
			switch x := v.(type) {
			case map[string]any:
				for k, c := range x {
					if !members && !slices.Contains(keywords, k) && !slices.Contains(silent, k) {
						unknown[k] = true
					}
					if k != "default" && k != "discriminator" || members {
						walk(c, !members && (k == "properties" || k == "$defs"))
					}
				}
			case []any:
				for _, c := range x {
					walk(c, false)
				}
			}
		}
		walk(doc, false)
		for k := range unknown {
			t.Errorf("%s: keyword %s", name, k)
		}
	}
}

func TestEachEditionHasItsMethods(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		edition  *Edition
		has, not string
		tag      string
	}{
		{"v1", V1(), "session/load", "auth/login", "tool_call"},
		{"the draft of v2", V2Draft(), "auth/login", "tool_call/cancel", "state_update"},
		{"v2", V2(), "tool_call/cancel", "session/load", "state_update"},
	} {
		m := c.edition.Method([]byte(c.has))
		if m == nil || m.Request == nil || m.Result == nil || m.Handler != Agent || c.edition.Method([]byte(c.not)) != nil {
			t.Errorf("%s: %s is %+v, and %s is %+v", c.name, c.has, m, c.not, c.edition.Method([]byte(c.not)))
		}
		update := c.edition.Method([]byte("session/update"))
		if update == nil || update.Notification == nil || update.Handler != Client || !c.edition.Definition("SessionUpdate").HasCase(c.tag) {
			t.Errorf("%s: session/update is %+v", c.name, update)
		}
		if m := c.edition.Method([]byte("$/cancel_request")); m == nil || m.Handler != Agent|Client || m.Request != nil {
			t.Errorf("%s: $/cancel_request is %+v", c.name, m)
		}
	}
}

func TestPatternsAndEncodingsAreChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shape *Shape
		text  string
		want  bool
	}{
		{V2Draft().Definition("Cost"), `{"amount":1,"currency":"EUR"}`, true},
		{V2Draft().Definition("Cost"), `{"amount":1,"currency":"euro"}`, false},
		{V2().Definition("ImageContent"), `{"data":"aGk=","mimeType":"image/png"}`, true},
		{V2().Definition("ImageContent"), `{"data":"aGk","mimeType":"image/png"}`, false},
	} {
		var tree jtree.Tree
		if err := tree.Parse([]byte(c.text)); err != nil {
			t.Fatal(err)
		}
		if got := c.shape.Fits(tree.Root()); got != c.want {
			t.Errorf("%s: %v", c.text, got)
		}
	}
}

// messages are real and made-up messages of one version, each with the definition of
// its payload.
func payloads(t testing.TB, e *Edition, files ...string) map[string][]json.RawMessage {
	t.Helper()
	list := map[string][]json.RawMessage{}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		in := bufio.NewScanner(f)
		in.Buffer(nil, 16<<20)
		methods := map[string]string{}
		for in.Scan() {
			var m struct {
				Msg            json.RawMessage
				Message        json.RawMessage
				Dir, Direction string
				ID             json.RawMessage
				Method         string
				Params, Result json.RawMessage
			}
			if json.Unmarshal(in.Bytes(), &m) != nil {
				continue
			}
			for _, inner := range []json.RawMessage{m.Msg, m.Message} {
				if inner != nil {
					_ = json.Unmarshal(inner, &m)
				}
			}
			from := m.Dir + m.Direction
			switch {
			case m.Method != "" && m.ID != nil:
				methods[from+string(m.ID)] = m.Method
				if x := e.Method([]byte(m.Method)); x != nil && x.Request != nil && m.Params != nil {
					list[x.Request.name] = append(list[x.Request.name], m.Params)
				}
			case m.Method != "":
				if x := e.Method([]byte(m.Method)); x != nil && x.Notification != nil && m.Params != nil {
					list[x.Notification.name] = append(list[x.Notification.name], m.Params)
				}
			case m.Result != nil:
				for key, method := range methods {
					if strings.HasSuffix(key, string(m.ID)) && !strings.HasPrefix(key, from) {
						if x := e.Method([]byte(method)); x != nil && x.Result != nil {
							list[x.Result.name] = append(list[x.Result.name], m.Result)
						}
					}
				}
			}
		}
	}
	return list
}

// mutants yields a JSON text with one value after the other replaced or removed.
func mutants(text json.RawMessage, yield func([]byte)) {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return
	}
	emit := func() {
		b, _ := json.Marshal(v)
		yield(b)
	}
	emit()
	var walk func(x any, set func(any), remove func(), back func())
	walk = func(x any, set func(any), remove func(), back func()) {
		for _, other := range []any{nil, true, 1.0, -1.0, 1.5, 1e9, "x", "", "https://x.test/", "text", "_x", []any{}, []any{1.0}, map[string]any{}} {
			set(other)
			emit()
		}
		if remove != nil {
			remove()
			emit()
		}
		back()
		switch y := x.(type) {
		case map[string]any:
			for k, c := range y {
				walk(c, func(n any) { y[k] = n }, func() { delete(y, k) }, func() { y[k] = c })
			}
		case []any:
			for i, c := range y {
				if i == 2 {
					break
				}
				walk(c, func(n any) { y[i] = n }, nil, func() { y[i] = c })
			}
		}
	}
	whole := v
	walk(v, func(n any) { v = n }, nil, func() { v = whole })
}

func TestShapesAgreeWithTheSchemaLibrary(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		edition *Edition
		schema  []byte
		files   []string
	}{
		{"v1", V1(), v1.Unstable, []string{"../../acp/testdata/traffic.jsonl", "../../acp/testdata/examples.jsonl"}},
		{"v2", V2(), v2.Unstable, []string{"../../acp/testdata/examples.jsonl"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			library, err := oracle.New(c.schema)
			if err != nil {
				t.Fatal(err)
			}
			checked, wrong := 0, 0
			for definition, texts := range payloads(t, c.edition, c.files...) {
				left := 700 // per definition; the library is slow
				for _, text := range texts {
					if left <= 0 {
						break
					}
					mutants(text, func(m []byte) {
						if left--; left < 0 {
							return
						}
						want := library.Check(definition, m)
						var tree jtree.Tree
						if err := tree.Parse(m); err != nil {
							t.Fatal(err)
						}
						checked++
						if got := c.edition.Definition(definition).Fits(tree.Root()); got != (want == nil) {
							if wrong++; wrong < 20 {
								t.Errorf("%s: fits: %v, the schema library says %v\n%s", definition, got, want, m)
							}
						}
						mismatches := 0
						c.edition.Definition(definition).Check(tree.Root(), func(p Problem) bool {
							if p.Kind < Undeclared {
								mismatches++
							}
							return true
						})
						if (mismatches == 0) != (want == nil) {
							if wrong++; wrong < 20 {
								t.Errorf("%s: %d problems, the schema library says %v\n%s", definition, mismatches, want, m)
							}
						}
					})
				}
			}
			t.Logf("%d values checked", checked)
			if checked < 1000 {
				t.Errorf("only %d values were checked", checked)
			}
		})
	}
}

func TestAWordThatNoListHasIsInventedOrExtended(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ definition, text, want string }{
		{"ToolKind", `"edit"`, ""},
		{"ToolKind", `"_deploy"`, `extended ToolKind  of "_deploy"`},
		{"ToolKind", `"deploy"`, `invented ToolKind  of "deploy"`},
		{"ToolCallUpdate", `{"toolCallId":"t1","kind":"deploy","status":null}`, `invented ToolKind /kind of "deploy"`},
		{"PlanEntry", `{"content":"a","priority":"urgent","status":"pending"}`, `invented PlanEntryPriority /priority of "urgent"`},
		{"ContentBlock", `{"type":"text","text":"a"}`, ""},
		{"ContentBlock", `{"type":"_chart","values":[]}`, `extended ContentBlock /type of {"type":"_chart","values":[]}`},
		{"ContentBlock", `{"type":"chart","values":[]}`, `invented ContentBlock /type of {"type":"chart","values":[]}`},
		{"RequestId", `"a"`, ""},
	} {
		var tree jtree.Tree
		if err := tree.Parse([]byte(c.text)); err != nil {
			t.Fatal(err)
		}
		got := ""
		V2().Definition(c.definition).Check(tree.Root(), func(p Problem) bool {
			if name := map[Kind]string{Invented: "invented", Extended: "extended"}[p.Kind]; name != "" {
				got += name + " " + p.Name + " " + p.At.Pointer() + " of " + string(p.Of.Text())
			}
			return true
		})
		if got != c.want {
			t.Errorf("%s %s: %q, want %q", c.definition, c.text, got, c.want)
		}
		if !V2().Definition(c.definition).Fits(tree.Root()) {
			t.Errorf("%s %s does not fit", c.definition, c.text)
		}
	}
}
