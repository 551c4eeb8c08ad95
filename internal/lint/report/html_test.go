package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/lint/report"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// pageRow is a line of the timeline as the page reads it.
type pageRow struct {
	Number int     `json:"n"`
	At     float64 `json:"t"`
	From   string  `json:"d"`
	Kind   string  `json:"k"`
	Method string  `json:"m"`
	Tag    string  `json:"u"`
	S      int     `json:"s"`
	P      int     `json:"p"`
	Group  string  `json:"g"`
	Peer   int     `json:"a"`
	Wait   float64 `json:"w"`
	Failed bool    `json:"e"`
	Brief  string  `json:"b"`
	Text   string  `json:"x"`
	Left   int     `json:"c"`
}

// pageData is what the page reads about a capture.
type pageData struct {
	Name     string
	Rows     []pageRow
	Sessions []struct{ ID, Cwd string }
	Dropped  int
	Messages int
	Errors   int
	Rules    []struct {
		ID       string
		Findings []struct {
			Rule, Text, Quote string
			Message           int
		}
	}
}

// page writes a report of records and returns the file and its data.
func page(t *testing.T, name string, records []lint.Record) (string, pageData) {
	t.Helper()
	var recorder report.Recorder
	c := recorder.Conversation()
	l := lint.New(lint.Options{Profile: lint.Strict, Watch: c.Watch})
	for _, r := range records {
		l.Add(r)
	}
	var out bytes.Buffer
	if err := report.HTML(&out, report.Sum([]report.File{{Name: name, Report: l.Report(), Conversation: c}}, lint.Error)); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(out.String(), `class="capture">`)
	text, _, _ := strings.Cut(rest, "</script>")
	var data pageData
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		t.Fatalf("the data of the page: %v", err)
	}
	return out.String(), data
}

// talk are records of lines that begin with who says them, 10 ms apart.
func talk(lines ...string) []lint.Record {
	var records []lint.Record
	for i, line := range lines {
		r := lint.Record{From: lint.Client, Bytes: []byte(line[1:]), Line: i + 1, Time: time.UnixMilli(int64(1000 + 10*i))}
		switch line[0] {
		case '<':
			r.From = lint.Agent
		case '!':
			r.From, r.Source = lint.Agent, lint.Stderr
		}
		records = append(records, r)
	}
	return records
}

var conversation = []string{
	`>{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"e","version":"1"}}}`,
	`<{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"a","version":"2"}}}`,
	`!warming up`,
	`>{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}}`,
	`<{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}`,
	`>{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"go"}]}}`,
	`<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hel"}}}}`,
	`<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"lo"}}}}`,
	`<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Edit","kind":"edit","status":"pending"}}}`,
	`<{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}}`,
	`>{"jsonrpc":"2.0","id":"p","result":{"outcome":{"outcome":"selected","optionId":"y"}}}`,
	`<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}}}`,
	`<{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`,
	`<oops`,
	`>{"jsonrpc":"2.0","id":3,"method":"session/list","params":{}}`,
	`<{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}}`,
	`>{"jsonrpc":"2.0","id":4,"method":"session/close","params":{"sessionId":"s1"}}`,
}

func TestAPageFoldsTurnsToolCallsAndTextsAndJoinsRequestsToAnswers(t *testing.T) {
	t.Parallel()
	_, data := page(t, "a.jsonl", talk(conversation...))
	want := []struct {
		kind, name, group, brief string
		session, parent, peer    int
		wait                     float64
	}{
		{"request", "initialize", "", "1 · e", 0, 0, 2, 10},
		{"answer", "initialize", "", "1 · a · 2", 0, 0, 1, 10},
		{"stderr", "", "", "", 0, 0, 0, 0},
		{"request", "session/new", "", "/repo", 0, 0, 5, 10},
		{"answer", "session/new", "", "s1", 1, 0, 4, 10},
		{"request", "session/prompt", "turn", "go", 1, 0, 13, 70},
		{"notification", "agent_message_chunk", "text", "Hello", 1, 6, 0, 0},
		{"notification", "agent_message_chunk", "", "lo", 1, 7, 0, 0},
		{"notification", "tool_call", "tool", "Edit · edit · pending", 1, 6, 0, 0},
		{"request", "session/request_permission", "", "c", 1, 9, 11, 10},
		{"answer", "session/request_permission", "", "selected · y", 1, 9, 10, 10},
		{"notification", "tool_call_update", "", "completed", 1, 9, 0, 0},
		{"answer", "session/prompt", "", "end_turn", 1, 6, 6, 70},
		{"text", "", "", "", 0, 0, 0, 0},
		{"request", "session/list", "", "", 0, 0, 16, 10},
		{"answer", "session/list", "", "error -32601: no", 0, 0, 15, 10},
		{"request", "session/close", "", "", 1, 0, 0, 0},
	}
	if len(data.Rows) != len(want) {
		t.Fatalf("%d rows, want %d: %+v", len(data.Rows), len(want), data.Rows)
	}
	number := 0
	for i, w := range want {
		r := data.Rows[i]
		name := r.Tag
		if name == "" {
			name = r.Method
		}
		brief := r.Brief
		if w.name == "initialize" && w.kind == "request" {
			brief = strings.TrimSuffix(brief, " · 1")
		}
		if r.Kind != w.kind || name != w.name || r.Group != w.group || brief != w.brief || r.S != w.session || r.P != w.parent || r.Peer != w.peer || r.Wait != w.wait || r.At != float64(10*i) {
			t.Errorf("row %d is %+v, want %+v", i+1, r, w)
		}
		if r.Kind != "stderr" {
			number++
			if r.Number != number {
				t.Errorf("row %d is message %d, want %d", i+1, r.Number, number)
			}
		}
	}
	if !data.Rows[14].Failed || !data.Rows[15].Failed || data.Rows[12].Failed {
		t.Error("only the error is one")
	}
	if len(data.Sessions) != 1 || data.Sessions[0].ID != "s1" || data.Sessions[0].Cwd != "/repo" {
		t.Errorf("the sessions are %+v", data.Sessions)
	}
	found := false
	for _, r := range data.Rules {
		for _, f := range r.Findings {
			found = found || f.Rule == "TR02" && f.Message == 13
		}
	}
	if !found || data.Messages != 16 {
		t.Errorf("no TR02 at message 13 of 16: %+v", data.Rules)
	}
}

// escapes are texts that try to leave the element that they are in.
var escapes = []string{
	`</script><script>alert(1)</script>`, `<!--<script>`, `]]>`, `"><img src=x onerror=alert(1)>`, "\u2028alert(1)\u2029", `&lt;b&gt;`, `</style>`, `{{js}}`, `{{data}}`, `\u003c/script>`, "\u202egnp.exe",
}

func TestNothingInACaptureLeavesTheDataOfThePage(t *testing.T) {
	t.Parallel()
	var lines []string
	lines = append(lines, conversation[:2]...)
	for i, h := range escapes {
		q, _ := json.Marshal(h)
		raw := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(string(q))
		lines = append(lines,
			fmt.Sprintf(`<{"jsonrpc":"2.0","id":%s,"method":%s,"params":{"sessionId":%s,%s:1}}`, raw, raw, raw, raw),
			fmt.Sprintf(`<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":%s}}}`, raw),
			fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{"cwd":%s}}`, i+1, raw),
			fmt.Sprintf(`<{"jsonrpc":"2.0","id":%d,"result":{"sessionId":%s}}`, i+1, raw),
			"<"+h, "!"+h)
	}
	out, data := page(t, escapes[0], talk(lines...))

	empty, _ := page(t, "a", nil)
	for _, tag := range []string{"<script", "</script", "<style", "<img", "<!--"} {
		if got, want := strings.Count(out, tag), strings.Count(empty, tag); got != want {
			t.Errorf("the page has %d times %q, an empty one %d times", got, tag, want)
		}
	}
	if strings.ContainsAny(out, "\u2028\u2029\u202e") {
		t.Error("the page has a character that ends lines or reorders text")
	}
	if len(data.Rows) != len(lines) || data.Name != escapes[0] {
		t.Errorf("%d rows of %d, named %q", len(data.Rows), len(lines), data.Name)
	}
}

func TestThePolicyOfAPageAllowsItsOwnScriptAndStyleAlone(t *testing.T) {
	t.Parallel()
	out, _ := page(t, "a.jsonl", talk(conversation...))
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(out)
	if policy == nil || !strings.HasPrefix(policy[1], "default-src 'none'; ") {
		t.Fatalf("the policy is %q", policy)
	}
	for _, e := range []struct{ source, from, to string }{{"script-src", "\n<script>", "</script>"}, {"style-src", "<style>", "</style>"}} {
		_, rest, _ := strings.Cut(out, e.from)
		text, _, _ := strings.Cut(rest, e.to)
		sum := sha256.Sum256([]byte(text))
		if want := e.source + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"; len(text) < 1000 || !strings.Contains(policy[1], want) {
			t.Errorf("no %q in %s", want, policy[1])
		}
	}
	for _, other := range regexp.MustCompile(`(?:src|href|action|url)\s*[=(]`).FindAllString(strings.ReplaceAll(out, "a.href = ", ""), -1) {
		t.Errorf("the page has %q", other)
	}
}

func TestSecretsAreNotInAPage(t *testing.T) {
	t.Parallel()
	const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"
	lines := append([]string{}, conversation[:5]...)
	lines = append(lines,
		`>{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"use `+secret+`"}]}}`,
		`<{"jsonrpc":"2.0","id":"`+secret+`","method":"`+secret+`","params":{"sessionId":"s1"}}`,
		`<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"x","title":"curl -H 'Authorization: Bearer `+secret+`'"}}}`,
		`!token=`+secret, `<`+secret)
	out, data := page(t, "a.jsonl", talk(lines...))
	if strings.Contains(out, "abcdefghijklmnop") || len(data.Rows) != len(lines) {
		t.Errorf("the secret is in the page: %+v", data.Rows)
	}
}

func TestALongMessageIsCutInAPage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3_000_000)
	_, data := page(t, "a.jsonl", talk(conversation[0], conversation[1], "!"+long))
	last := data.Rows[2]
	if len(last.Text) > 5000 || last.Left < len(long)-5000 || last.Left >= len(long) {
		t.Errorf("of %d bytes %d are in the page, and %d are counted", len(long), len(last.Text), last.Left)
	}
}
