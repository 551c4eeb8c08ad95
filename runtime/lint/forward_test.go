package lint_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// Lines begin with who sends them, > or <, and then with where they are: n between the
// client and the proxy, f between the proxy and the agent.
func TestAProxyIsBlamedOnlyForWhatItEvidentlyLost(t *testing.T) {
	t.Parallel()
	update := func(rest string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{` + rest + `}}}`
	}
	prompt := func(id, content string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"session/prompt","params":{"sessionId":"s1","prompt":[` + content + `]}}`
	}
	tool := func(kind, title string) string {
		return update(`"sessionUpdate":"tool_call_update","toolCallId":"c1","title":"` + title + `","kind":"` + kind + `"`)
	}
	const words, picture = `{"type":"text","text":"Paint"}`, `{"type":"_acme_picture","data":"A"}`
	for name, c := range map[string]struct {
		lines   []string
		verdict string
		says    string
	}{
		"a word that passes":                     {[]string{"<f" + tool("_paint", "A"), "<n" + tool("_paint", "A")}, "pass", ""},
		"a word that becomes another":            {[]string{"<f" + tool("_paint", "A"), "<n" + tool("other", "A")}, "fail", `changes "_paint"`},
		"a word of a later version":              {[]string{"<f" + tool("paint", "A"), "<n" + tool("other", "A")}, "fail", `changes "paint"`},
		"a known word that becomes another":      {[]string{"<f" + tool("read", "A"), "<n" + tool("other", "A")}, "not exercised", ""},
		"a word that is lost":                    {[]string{"<f" + tool("_paint", "A"), "<n" + update(`"sessionUpdate":"tool_call_update","toolCallId":"c1","title":"A"`)}, "fail", `leaves out "_paint"`},
		"another title, too":                     {[]string{"<f" + tool("_paint", "A"), "<n" + tool("other", "B")}, "not exercised", ""},
		"a message that is dropped":              {[]string{"<f" + tool("_paint", "A")}, "not exercised", ""},
		"a message of the agent's own":           {[]string{"<f" + tool("_paint", "A"), "<f" + tool("other", "A"), "<n" + tool("other", "A")}, "not exercised", ""},
		"the same, in another order":             {[]string{"<f" + tool("_paint", "A"), "<n" + tool("other", "A"), "<f" + tool("other", "A")}, "not exercised", ""},
		"clocks that differ":                     {[]string{"<n" + tool("_paint", "A"), "<f" + tool("_paint", "A")}, "pass", ""},
		"other spacing and order":                {[]string{"<f" + tool("_paint", "A"), "<n" + strings.ReplaceAll(update(`"kind":"_p\u0061int","title":"A","sessionUpdate":"tool_call_update","toolCallId":"c1"`), ":", ": ")}, "pass", ""},
		"an element that is lost":                {[]string{">n" + prompt("5", words+","+picture), ">f" + prompt(`"p5"`, words)}, "fail", `leaves out "_acme_picture"`},
		"the first element that is lost":         {[]string{">n" + prompt("5", picture+","+words), ">f" + prompt(`"p5"`, words)}, "fail", `leaves out "_acme_picture", which it received at /params/prompt/0`},
		"an element that becomes another":        {[]string{">n" + prompt("5", words+","+picture), ">f" + prompt(`"p5"`, words+`,{"type":"text","text":"?"}`)}, "fail", `changes "_acme_picture"`},
		"a member of an element that is lost":    {[]string{">n" + prompt("5", words+","+picture), ">f" + prompt(`"p5"`, words+`,{"type":"_acme_picture"}`)}, "fail", `changes "_acme_picture"`},
		"another id":                             {[]string{">n" + prompt("5", words+","+picture), ">f" + prompt(`"p5"`, words+","+picture)}, "pass", ""},
		"an element that is added":               {[]string{">n" + prompt("5", words+","+picture), ">f" + prompt(`"p5"`, words+","+picture+","+words)}, "not exercised", ""},
		"nothing known that says which it is":    {[]string{">n" + prompt("5", picture), ">f" + prompt(`"p5"`, `{"type":"_acme_picture","data":"B"}`)}, "not exercised", ""},
		"an update of its own for a dropped one": {[]string{"<f" + update(`"sessionUpdate":"_acme","n":1`), "<n" + update(`"sessionUpdate":"agent_message_chunk","messageId":"m","content":`+words)}, "not exercised", ""},
		"trace ids in _meta":                     {[]string{"<f" + tool("_paint", "A"), "<n" + tool(`_paint","_meta":{"x":1},"status":"completed`, "A")}, "not exercised", ""},
		"only _meta":                             {[]string{"<f" + tool("_paint", "A"), "<n" + update(`"sessionUpdate":"tool_call_update","toolCallId":"c1","title":"A","kind":"_paint","_meta":{"x":1}`)}, "pass", ""},
	} {
		l := lint.New(lint.Options{Profile: lint.Strict})
		for i, line := range append([]string{
			`>n{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"capabilities":{},"info":{"name":"e","version":"1"}}}`,
			`>f{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"capabilities":{},"info":{"name":"e","version":"1"}}}`,
			`<f{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"capabilities":{"session":{}},"info":{"name":"a","version":"1"}}}`,
			`<n{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"capabilities":{"session":{}},"info":{"name":"a","version":"1"}}}`,
		}, c.lines...) {
			from := lint.Client
			if line[0] == '<' {
				from = lint.Agent
			}
			l.Add(lint.Record{From: from, Beyond: line[1] == 'f', Bytes: []byte(line[2:]), Line: i + 1})
		}
		v := outcome(l.Report(), "EXT06")
		if v.String() != c.verdict {
			t.Errorf("%s: the verdict is %s, want %s", name, v, c.verdict)
		}
		for _, f := range v.Findings {
			if !strings.Contains(f.Text, c.says) || f.Message == 0 || f.Line == 0 || f.Excerpt == "" {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

// Version 1 has closed lists, so nothing in it is unknown.
func TestOnlyVersion2HasProxies(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(string(lint.Example("EXT06", false)), `"protocolVersion":2`, `"protocolVersion":1`)
	if v := outcome(judge(t, []byte(text), lint.Options{Profile: lint.Strict}), "EXT06"); v.String() != "not exercised" {
		t.Errorf("the verdict is %s", v)
	}
}

// The memory in use does not grow with the capture. Not parallel: it measures the
// heap.
func TestAProxyThatDropsEverythingCostsLittleMemory(t *testing.T) {
	l := lint.New(lint.Options{Rules: []*lint.Rule{lint.Find("EXT06")}, Version: lint.V2b})
	text := strings.Repeat("x", 15<<10)
	for i := range 1500 {
		for _, beyond := range []bool{true, false} {
			l.Add(lint.Record{From: lint.Agent, Beyond: beyond, Bytes: fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"%v%d","title":"%s","kind":"_x"}}}`, beyond, i, text)})
		}
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 30<<20 {
		t.Errorf("%d MiB after 3,000 messages of 15 KiB", m.HeapAlloc>>20)
	}
	if v := outcome(l.Report(), "EXT06"); v.String() != "not exercised" {
		t.Errorf("the verdict is %s", v)
	}
}
