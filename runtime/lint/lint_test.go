package lint_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

const (
	hello   = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"terminal":true},"clientInfo":{"name":"e","version":"1"}}}`
	welcome = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"mcpCapabilities":{"http":true}},"agentInfo":{"name":"a","version":"1"}}}`
	open    = `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}}`
	opened  = `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}`
	prompt  = `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"Hello"}]}}`
	done    = `{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`
	chunk   = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi"}}}}`
)

// wire feeds lines: those that begin with > are from the client, and < from the agent.
func wire(l *lint.Linter, lines ...string) {
	for i, line := range lines {
		from := lint.Client
		if line[0] == '<' {
			from = lint.Agent
		}
		l.Add(lint.Record{From: from, Bytes: []byte(line[1:]), Line: i + 1})
	}
}

// probe is a rule that only looks.
func probe(check func(*lint.Checker)) lint.Options {
	return lint.Options{Rules: []*lint.Rule{{ID: "X01", Severity: lint.Error, Side: lint.BySender, Versions: lint.All, Check: check}}}
}

func strict() *lint.Linter { return lint.New(lint.Options{Profile: lint.Strict}) }

// broken lists the rules that a report has findings of.
func broken(r *lint.Report) (ids []string) {
	for _, v := range r.Verdicts {
		if v.Failed > 0 {
			ids = append(ids, v.Rule.ID)
		}
	}
	return ids
}

func TestWithoutDirectionsTheSendersAreFound(t *testing.T) {
	t.Parallel()
	var got []string
	l := lint.New(probe(func(c *lint.Checker) {
		c.Message(func(m *lint.Message) { got = append(got, fmt.Sprintf("%d %s %s", m.Number, m.From, m.Method)) })
	}))
	for _, text := range []string{
		hello, welcome, open, opened, prompt, chunk,
		`{"jsonrpc":"2.0","id":7,"method":"terminal/create","params":{"sessionId":"s1","command":"make"}}`,
		`{"jsonrpc":"2.0","id":7,"result":{"terminalId":"t"}}`,
		`{"jsonrpc":"2.0","id":99,"result":{}}`, // nobody asked
		"noise", done,
	} {
		l.Add(lint.Record{Bytes: []byte(text)})
	}
	want := []string{
		"1 client initialize", "2 agent initialize", "3 client session/new", "4 agent session/new", "5 client session/prompt", "6 agent session/update",
		"7 agent terminal/create", "8 client terminal/create", "11 agent session/prompt",
	}
	if r := l.Report(); !slices.Equal(got, want) || r.Skipped != 2 || r.Messages != 11 {
		t.Errorf("%d of %d skipped, got %q", r.Skipped, r.Messages, got)
	}
}

func TestTheHistoryFollowsAConnection(t *testing.T) {
	t.Parallel()
	var got []string
	note := func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }
	l := lint.New(probe(func(c *lint.Checker) {
		c.SessionChanged(func(s *lint.Session, m *lint.Message) { note("%d session %s %d %s", m.Number, s.ID, s.State, s.Cwd) })
		c.TurnStarted(func(turn *lint.Turn, m *lint.Message) { note("%d turn %s", m.Number, turn.Session.ID) })
		c.TurnEnded(func(turn *lint.Turn, m *lint.Message) {
			note("%d turn ended %q cancelled %d running %v", m.Number, turn.StopReason, turn.Cancelled, turn.Session.Turn != nil)
		})
		c.ToolCallChanged(func(call *lint.ToolCall, before lint.ToolCall, m *lint.Message) {
			note("%d tool %s %q→%q asked %v in turn %v", m.Number, call.ID, before.Status, call.Status, call.Asked, call.Turn != nil)
		})
		c.Request(func(m *lint.Message) { note("%d released %v", m.Number, c.Terminals.Len()) }, "terminal/release")
		c.Answer(func(m *lint.Message) {
			note("%d answers %d with %s", m.Number, m.Answers.Number, m.Answers.Params().Get("command").Str())
		}, "terminal/create")
	}))
	tool := func(tag, rest string) string {
		return `<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"` + tag + `","toolCallId":"t1"` + rest + `}}}`
	}
	wire(l, ">"+hello, "<"+welcome, ">"+open, "<"+opened, ">"+prompt,
		tool("tool_call", `,"title":"Run"`),
		`<{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t1"},"options":[]}}`,
		tool("tool_call_update", `,"status":"completed"`),
		`<{"jsonrpc":"2.0","id":2,"method":"terminal/create","params":{"sessionId":"s1","command":"make"}}`,
		`>{"jsonrpc":"2.0","id":2,"result":{"terminalId":"term"}}`,
		`<{"jsonrpc":"2.0","id":3,"method":"terminal/release","params":{"sessionId":"s1","terminalId":"term"}}`,
		`>{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`,
		`<{"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}}`,
		`>{"jsonrpc":"2.0","id":3,"method":"session/load","params":{"sessionId":"s0","cwd":"/old","mcpServers":[]}}`,
		`<{"jsonrpc":"2.0","id":3,"result":{}}`,
		`>{"jsonrpc":"2.0","id":4,"method":"session/close","params":{"sessionId":"s0"}}`,
		`<{"jsonrpc":"2.0","id":4,"result":{}}`,
	)
	want := []string{
		"4 session s1 1 /repo", "5 turn s1", `6 tool t1 ""→"pending" asked false in turn true`, `7 tool t1 "pending"→"pending" asked true in turn true`,
		`8 tool t1 "pending"→"completed" asked true in turn true`, "10 answers 9 with make", "11 released 1", `13 turn ended "cancelled" cancelled 12 running false`,
		"14 session s0 0 /old", "15 session s0 1 /old", "17 session s0 2 /old",
	}
	if l.Report(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheVersionDecidesWhichRulesAreAsked(t *testing.T) {
	t.Parallel()
	v2 := []string{
		`>{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"capabilities":{},"info":{"name":"e","version":"1"}}}`,
		`<{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"capabilities":{"session":{}},"info":{"name":"a","version":"1"}}}`,
	}
	down := []string{v2[0], "<" + welcome}
	for _, c := range []struct {
		name  string
		lines []string
		draft bool
		want  string
	}{
		{"version 1", []string{">" + hello, "<" + welcome}, false, "1 1"},
		{"version 2", v2, false, "2b 2b"},
		{"the draft of version 2", v2, true, "2a 2a"},
		{"an agent with version 1", down, false, "2b 1"},
	} {
		var got []string
		var o lint.Options
		if c.draft {
			o.Version = lint.V2a
		}
		for _, v := range []lint.Versions{lint.V1, lint.V2a, lint.V2b} {
			o.Rules = append(o.Rules, &lint.Rule{ID: "X" + v.String(), Versions: v, Check: func(c *lint.Checker) {
				c.Message(func(*lint.Message) { got = append(got, v.String()) })
			}})
		}
		wire(lint.New(o), c.lines...)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestACaptureOfSeveralConnectionsIsNotOne(t *testing.T) {
	t.Parallel()
	one := []string{">" + hello, "<" + welcome, ">" + open, "<" + opened, ">" + prompt, "<" + chunk, "<" + done}
	l := strict()
	wire(l, slices.Concat(one, one)...)
	r := l.Report()
	if ids := broken(r); len(ids) > 0 || r.Connections != 2 {
		t.Errorf("%d connections with %v", r.Connections, ids)
	}
	l = strict()
	wire(l, one...)
	l.Add(lint.Record{Source: lint.Beginning})
	wire(l, one...)
	if r := l.Report(); len(broken(r)) > 0 || r.Connections != 2 {
		t.Errorf("with a record: %d connections with %v", r.Connections, broken(r))
	}
}

// A capture that starts in the middle of a good conversation, or ends there, has no
// errors: what is missing proves nothing.
func TestPartsOfGoodCapturesAreGood(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*/pass.jsonl")
	if err != nil || len(files) < 50 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		id := filepath.Base(filepath.Dir(file))
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		allowed := broken(judge(t, whole, options(id)))
		lines := strings.SplitAfter(strings.TrimSpace(string(whole)), "\n")
		n := len(lines)
		for _, i := range []int{1, 2, n / 2, n - 2, n - 1} {
			if i <= 0 || i >= n {
				continue
			}
			for name, part := range map[string][]string{"from": lines[i:], "before": lines[:i]} {
				r := judge(t, []byte(strings.Join(part, "")), options(id))
				for _, v := range r.Verdicts {
					if v.Failed > 0 && v.Rule.Severity == lint.Error && !slices.Contains(allowed, v.Rule.ID) {
						t.Errorf("%s %s line %d: %s: %s", file, name, i+1, v.Rule.ID, v.Findings[0].Text)
					}
				}
			}
		}
	}
}

// A request without an answer may be one that takes its time, or the capture ended.
func TestAMissingAnswerIsAFaultOnlyWhereTheCaptureProvesIt(t *testing.T) {
	t.Parallel()
	list := func(id int) string {
		return fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"method":"session/list","params":{}}`, id)
	}
	again := strings.Replace(">"+open, `"id":1`, `"id":2`, 1)
	ends := func(by lint.Party) *lint.Record {
		return &lint.Record{Source: lint.End, From: by, Time: time.Unix(0, 0).Add(1000 * time.Hour)}
	}
	for _, c := range []struct {
		name  string
		lines []string
		after time.Duration // between messages
		end   *lint.Record
		fault bool
	}{
		{"the capture ends", []string{">" + open}, time.Millisecond, nil, false},
		{"the capture ends much later", []string{">" + open, "<" + chunk}, time.Hour, nil, false},
		{"a later session was opened first", []string{">" + open, again, strings.Replace("<"+opened, `"id":1`, `"id":2`, 1)}, time.Hour, nil, false},
		{"a later list came first", []string{list(3), list(4), `<{"jsonrpc":"2.0","id":4,"result":{"sessions":[]}}`}, time.Millisecond, nil, true},
		{"a list never comes", []string{list(3), "<" + chunk}, time.Minute, nil, true},
		{"a list does not come yet", []string{list(3), "<" + chunk}, time.Second, nil, false},
		{"the client leaves", []string{">" + open}, time.Hour, ends(lint.Client), false},
		{"somebody leaves", []string{">" + open}, time.Hour, ends(lint.Nobody), false},
		{"the agent leaves", []string{">" + open}, time.Millisecond, ends(lint.Agent), true},
	} {
		l := strict()
		for i, line := range append([]string{">" + hello, "<" + welcome}, c.lines...) {
			from := lint.Client
			if line[0] == '<' {
				from = lint.Agent
			}
			l.Add(lint.Record{From: from, Bytes: []byte(line[1:]), Time: time.Unix(0, 0).Add(time.Duration(i+1) * c.after)})
		}
		if c.end != nil {
			l.Add(*c.end)
		}
		if got := outcome(l.Report(), "RPC16"); hasError(got) != c.fault {
			t.Errorf("%s: %v", c.name, got.Findings)
		}
	}
}

func TestFindingsHideSecretsAndControlCharacters(t *testing.T) {
	t.Parallel()
	const secret = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	l := strict()
	wire(l, ">"+hello, "<"+welcome,
		`>{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":7,"mcpServers":[{"name":"x","command":"/x","args":[],"env":[{"name":"KEY","value":"`+secret+`"}]}],"_x":"\u001b[31m\u202e"}}`,
		"<\x1b]0;title\x07 \xff "+secret,
		`<{"jsonrpc":"2.0","id":"`+secret+`","result":{}}`,
		`<{"jsonrpc":"2.0","method":"`+secret+`\u0007"}`,
	)
	r := l.Report()
	if len(broken(r)) < 3 {
		t.Fatalf("only %v", broken(r))
	}
	for _, v := range r.Verdicts {
		for _, f := range v.Findings {
			text, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			all := f.Text + f.Quote + f.Excerpt
			if strings.Contains(all+string(text), secret) {
				t.Errorf("%s shows the secret: %s", f.Rule.ID, text)
			}
			if i := strings.IndexFunc(all, func(r rune) bool {
				return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x202e || r == '\uFFFD'
			}); i >= 0 {
				t.Errorf("%s shows a control character: %q", f.Rule.ID, all[i:])
			}
		}
	}
}

func TestFindingsAreCountedAndTheFirstAreKept(t *testing.T) {
	t.Parallel()
	calls := 0
	l := lint.New(lint.Options{Profile: lint.Strict, OnFinding: func(lint.Finding) { calls++ }})
	for range 1000 {
		wire(l, "<noise")
	}
	r := l.Report()
	for _, v := range r.Verdicts {
		if v.Rule.ID == "TR02" && (v.Failed != 1000 || len(v.Findings) != 100) {
			t.Errorf("%d findings, %d kept", v.Failed, len(v.Findings))
		}
	}
	if r.Errors != 1000 || calls != 1000 || r.Count(lint.Warn) != 1000 {
		t.Errorf("%d errors, %d calls", r.Errors, calls)
	}
}

// A capture of any length needs the same memory, whatever is in it.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("reads long captures")
	}
	pad := strings.Repeat("x", 1500)
	for _, c := range []struct {
		name string
		line func(i int) string
	}{
		{"requests that are never answered", func(i int) string {
			return fmt.Sprintf(`<{"jsonrpc":"2.0","id":"%d%s","method":"fs/read_text_file","params":{"sessionId":"s1","path":"/%s"}}`, i, pad, pad)
		}},
		{"unknown methods", func(i int) string { return fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"method":"%d%s"}`, i, i, pad) }},
		{"answers to nothing", func(i int) string { return fmt.Sprintf(`<{"jsonrpc":"2.0","id":"%d%s","result":{}}`, i, pad) }},
		{"updates of unknown sessions", func(i int) string {
			return fmt.Sprintf(`<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%d%s","update":{"sessionUpdate":"%d"}}}`, i, pad, i)
		}},
		{"tool calls", func(i int) string {
			return fmt.Sprintf(`<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"%d","title":"%s%d"}}}`, i, pad, i)
		}},
		{"sessions", func(i int) string {
			return fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"method":"session/load","params":{"sessionId":"%d%s","cwd":"/%s","mcpServers":[]}}`, i, i, pad, pad)
		}},
		{"noise", func(i int) string { return fmt.Sprintf("<{%d%s", i, pad) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := strict()
			wire(l, ">"+hello, "<"+welcome, ">"+open, "<"+opened, ">"+prompt)
			var m runtime.MemStats
			for i := range 9000 { // more than the highest limit
				wire(l, c.line(i))
			}
			runtime.GC()
			runtime.ReadMemStats(&m)
			runtime.KeepAlive(l)
			if m.HeapAlloc > 100<<20 {
				t.Errorf("%d MiB after 9,000 messages", m.HeapAlloc>>20)
			}
		})
	}
}

// naive is another implementation of which requests are outstanding: a list of parties
// and ids.
type naive []string

func (n *naive) message(from string, id string, request bool) {
	if !request {
		from = map[string]string{"client": "agent", "agent": "client"}[from]
	}
	key := from + " " + id
	*n = slices.DeleteFunc(*n, func(r string) bool { return r == key })
	if request {
		*n = append(*n, key)
	}
}

func TestTwoImplementationsAgreeOnWhatIsOutstanding(t *testing.T) {
	t.Parallel()
	sequences := soak.Of(t, 100_000, 5_000)
	random := rand.New(rand.NewPCG(1, 2))
	ids := []struct{ text, means string }{
		{"0", "0"}, {"1", "1"}, {"1.0", "1"}, {"-1", "-1"}, {`"1"`, `"1`}, {`"a"`, `"a`}, {`"\u0061"`, `"a`}, {"null", "null"}, {"1.5", "1.5"}, {`""`, `"`},
	}
	kinds := []string{`"id":%s,"method":"_x"`, `"id":%s,"result":{}`, `"id":%s,"error":{"code":1,"message":"x"}`}
	var open []string
	l := lint.New(probe(func(c *lint.Checker) {
		c.Notification(func(*lint.Message) {
			open = open[:0]
			for _, from := range []lint.Party{lint.Client, lint.Agent} {
				for id := range c.Outstanding(from).All() {
					open = append(open, from.String()+" "+id)
				}
			}
		}, "_end")
	}))
	var lines []string
	var other naive
	for n := range sequences {
		lines, other = lines[:0], other[:0]
		l.Add(lint.Record{Source: lint.Beginning})
		for range 1 + random.IntN(9) {
			from, mark := "client", ">"
			if random.IntN(2) == 0 {
				from, mark = "agent", "<"
			}
			id, kind := ids[random.IntN(len(ids))], random.IntN(3)
			lines = append(lines, fmt.Sprintf(mark+`{"jsonrpc":"2.0",`+kinds[kind]+`}`, id.text))
			other.message(from, id.means, kind == 0)
		}
		// Handlers see what precedes their message.
		wire(l, append(lines, `>{"jsonrpc":"2.0","method":"_end"}`)...)
		slices.Sort(open)
		slices.Sort(other)
		if !slices.Equal(open, other) {
			t.Fatalf("sequence %d: %q and %q\n%s", n, open, other, strings.Join(lines, "\n"))
		}
	}
}

// An agent that answers with another version is judged by the schema of that version.
func TestTheAnswerToInitializeIsOfTheVersionThatItNames(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{}}`: "",
		`{"protocolVersion":2,"agentInfo":{"name":"a","version":"1"}}`:              "RPC21 ",
		`{"protocolVersion":1,"info":{"name":"a","version":"1"},"capabilities":{}}`: "EXT01 EXT01 ",
		`{"protocolVersion":1,"agentInfo":{"name":"a","version":"1"}}`:              "",
	} {
		got := ""
		l := lint.New(lint.Options{Rules: []*lint.Rule{lint.Find("RPC21"), lint.Find("EXT01")}, OnFinding: func(f lint.Finding) { got += f.Rule.ID + " " }})
		l.Add(lint.Record{From: lint.Client, Bytes: []byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)})
		l.Add(lint.Record{From: lint.Agent, Bytes: []byte(`{"jsonrpc":"2.0","id":0,"result":` + answer + `}`)})
		if l.Report(); got != want {
			t.Errorf("%s: found %q, want %q", answer, got, want)
		}
	}
}

// An agent that has begun to work has accepted the prompt, whatever it then answers.
func TestAnErrorAfterWorkDoesNotRefuseThePrompt(t *testing.T) {
	t.Parallel()
	for sign, want := range map[string]int{
		"": 1,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"available_commands_update","availableCommands":[]}}}`:               1,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I write"}}}}`: 0,
		`{"jsonrpc":"2.0","id":9,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/x"}}`:                                                                       0,
	} {
		l := lint.New(lint.Options{Rules: []*lint.Rule{lint.Find("INI18")}})
		for _, line := range []string{
			`>{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`, `<{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`,
			`>{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`, `<{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`,
			`>{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"x"}]}}`, "<" + sign,
			`<{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no"}}`,
		} {
			from := lint.Client
			if line[0] == '<' {
				from = lint.Agent
			}
			if len(line) > 1 {
				l.Add(lint.Record{From: from, Bytes: []byte(line[1:])})
			}
		}
		if got := l.Report().Errors; got != want {
			t.Errorf("after %s: %d findings, want %d", sign, got, want)
		}
	}
}

// A side that answers every request is not to blame for a sender that uses an
// id again.
func TestAnIDThatIsUsedTwiceHasTwoAnswersComing(t *testing.T) {
	t.Parallel()
	for answers, want := range map[int]int{1: 0, 2: 0, 3: 0, 4: 1, 5: 2} {
		l := lint.New(lint.Options{Rules: []*lint.Rule{lint.Find("RPC07")}})
		for range 3 {
			l.Add(lint.Record{From: lint.Client, Bytes: []byte(`{"jsonrpc":"2.0","id":7,"method":"session/list","params":{}}`)})
		}
		for range answers {
			l.Add(lint.Record{From: lint.Agent, Bytes: []byte(`{"jsonrpc":"2.0","id":7,"result":{"sessions":[]}}`)})
		}
		if got := l.Report().Errors; got != want {
			t.Errorf("3 requests and %d answers: %d findings, want %d", answers, got, want)
		}
	}
}

func TestTimesWithinTheRaceCross(t *testing.T) {
	t.Parallel()
	start := time.Unix(100, 0)
	var c *lint.Checker
	lint.New(probe(func(checker *lint.Checker) { c = checker }))
	for later, want := range map[time.Duration]bool{0: true, 250 * time.Millisecond: true, 251 * time.Millisecond: false} {
		if c.Crossed(start, start.Add(later)) != want {
			t.Errorf("%s: %v", later, !want)
		}
	}
	if !c.Crossed(time.Time{}, start) {
		t.Error("a time that is not known does not cross")
	}
}

// FuzzLinter feeds lines of both sides; the first byte of a line says which.
func FuzzLinter(f *testing.F) {
	for _, rule := range lint.Rules() {
		text := lint.Example(rule.ID, false)
		if len(text) < 10000 {
			f.Add(text)
		}
	}
	f.Add([]byte(">" + hello + "\n<" + welcome + "\n>" + open + "\n<" + opened))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, version := range []lint.Versions{0, lint.V1, lint.V2a} {
			l := lint.New(lint.Options{Profile: lint.Strict, Version: version, MaxMessage: 1 << 16})
			for i, line := range strings.Split(string(text), "\n") {
				from := lint.Client
				if i%2 == 1 {
					from = lint.Agent
				}
				line = strings.TrimLeft(line, "<>")
				if at := strings.Index(line, `"msg":`); at >= 0 {
					line = strings.TrimSuffix(line[at+6:], "}")
				}
				l.Add(lint.Record{From: from, Bytes: []byte(line), Time: time.UnixMilli(int64(i) * 100)})
			}
			for _, v := range l.Report().Verdicts {
				for _, x := range v.Findings {
					if x.Text == "" || strings.ContainsAny(x.Text+x.Quote+x.Excerpt, "\n\x1b") {
						t.Errorf("%s: %q %q", x.Rule.ID, x.Text, x.Excerpt)
					}
				}
			}
		}
	})
}

func TestSeveritiesAndAcceptedFindingsDecideWhatCounts(t *testing.T) {
	t.Parallel()
	lines := []string{">" + hello, "<" + welcome, "<noise", "<more noise", "<"}
	for _, c := range []struct {
		name    string
		options lint.Options
		want    string // errors, warnings, accepted, verdict of TR02
	}{
		{"as they are", lint.Options{}, "2 0 0 fail"},
		{"another severity", lint.Options{Severities: map[string]lint.Severity{"TR02": lint.Warn}}, "0 2 0 fail"},
		{"not used", lint.Options{Severities: map[string]lint.Severity{"TR02": 0}}, "0 0 0 none"},
		{"used without its profile", lint.Options{Profile: lint.Spec, Severities: map[string]lint.Severity{"TR07": lint.Error}}, "3 0 0 fail"},
		{"one accepted", lint.Options{Accept: func(f *lint.Finding) bool { return f.Message == 3 && f.Excerpt == "noise" }}, "1 0 1 fail"},
		{"all accepted", lint.Options{Accept: func(f *lint.Finding) bool { return f.Rule.ID == "TR02" && f.Severity == lint.Error }}, "0 0 2 pass"},
	} {
		l := lint.New(c.options)
		wire(l, lines...)
		r := l.Report()
		verdict := "none"
		if v := outcome(r, "TR02"); v != nil {
			verdict = v.String()
		}
		if got := fmt.Sprint(r.Errors, r.Warnings, r.Accepted, " ", verdict); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
