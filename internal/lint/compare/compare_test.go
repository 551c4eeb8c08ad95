package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/lint/capture"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

var update = flag.Bool("update", false, "write the expected output")

func read(t *testing.T, name, text string) *Recording {
	t.Helper()
	r, err := capture.NewReader(name, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rec, err := Read(context.Background(), r, lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// differences are the changes of two captures, one a line.
func differences(t *testing.T, old, new string, o Options) string {
	t.Helper()
	r := Compare(read(t, "old", old), read(t, "new", new), o)
	var b strings.Builder
	for _, c := range r.Changes {
		part, _, _ := strings.Cut(c.Part, ":")
		fmt.Fprintf(&b, "%s %s %s [%s] %d", c.Kind, c.From, c.What, part, c.Count)
		for _, v := range c.Values {
			fmt.Fprintf(&b, "; %s %s=>%s", v.Pointer, v.Old, v.New)
		}
		b.WriteByte('\n')
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s %s %d\n", f.Kind, f.Finding.Rule.ID, f.Count)
	}
	return b.String()
}

// talk is a capture of lines that begin with the direction. {S}, {C} and {T} stand for a
// session, a tool call and a time of its own.
func talk(session, call, time string, lines ...string) string {
	var b strings.Builder
	names := strings.NewReplacer("{S}", session, "{C}", call, "{T}", time)
	for i, line := range lines {
		dir := map[byte]string{'>': "c2a", '<': "a2c"}[line[0]]
		if line[1] == '{' {
			fmt.Fprintf(&b, `{"dir":%q,"t":%d,"msg":{"jsonrpc":"2.0",%s}`+"\n", dir, i, names.Replace(line[2:]))
		} else {
			raw, _ := json.Marshal(names.Replace(line[1:]))
			fmt.Fprintf(&b, `{"dir":%q,"t":%d,"raw":%s}`+"\n", dir, i, raw)
		}
	}
	return b.String()
}

func update1(tag, rest string) string {
	return `<{"method":"session/update","params":{"sessionId":"{S}","update":{"sessionUpdate":"` + tag + `",` + rest + `}}}`
}

func chunk(text string) string {
	return update1("agent_message_chunk", `"content":{"type":"text","text":"`+text+`"}`)
}

func prompt(id int, text string) string {
	return fmt.Sprintf(`>{"id":%d,"method":"session/prompt","params":{"sessionId":"{S}","prompt":[{"type":"text","text":%q}]}}`, id, text)
}

func done(id int) string { return fmt.Sprintf(`<{"id":%d,"result":{"stopReason":"end_turn"}}`, id) }

var hello = []string{
	`>{"id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"e","version":"1"}}}`,
	`<{"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"a","version":"1"}}}`,
	`>{"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}}`,
	`<{"id":1,"result":{"sessionId":"{S}","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"code","name":"Code"}]}}}`,
}

var turn = []string{
	prompt(2, "go"),
	chunk("Hel"), chunk("lo, "), chunk("you"),
	update1("tool_call", `"toolCallId":"{C}","title":"Read {S}","kind":"read","status":"pending","rawInput":{"at":"{T}"}`),
	update1("tool_call_update", `"toolCallId":"{C}","status":"completed"`),
	done(2),
}

func join(parts ...[]string) []string {
	var all []string
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// replaced is a list with one element replaced, by nothing or by several.
func replaced(list []string, i int, by ...string) []string {
	return join(list[:i], by, list[i+1:])
}

func TestOnlyWhatASideDoesDifferentlyIsADifference(t *testing.T) {
	t.Parallel()
	base := join(hello, turn)
	second := join(base, []string{prompt(3, "more"), chunk("x"), done(3)})
	for _, c := range []struct {
		name     string
		old, new []string
		want     string
		ignore   []string
	}{
		{"nothing", base, base, "", nil},
		{"other chunks of the same text", base, join(hello, []string{turn[0], chunk("Hello"), chunk(", you")}, turn[4:]), "", nil},
		{"another text", base, join(hello, replaced(turn, 3, chunk("me"))), `changed agent agent_message_chunk [turn 1] 1; /params/update/content/text "Hello, you"=>"Hello, me"` + "\n", nil},
		{"other ids of requests", base, join(hello, replaced(replaced(turn, 0, prompt(77, "go")), 6, done(77))), "", nil},
		{
			"a value", base, replaced(base, 1, strings.Replace(base[1], `"version":"1"`, `"version":"2"`, 1)),
			`changed agent answer to initialize [before the first turn] 1; /result/agentInfo/version "1"=>"2"` + "\n", nil,
		},
		{"an ignored value", base, replaced(base, 1, strings.Replace(base[1], `"version":"1"`, `"version":"2"`, 1)), "", []string{"/result/*/version"}},
		{"below an ignored value", base, replaced(base, 1, strings.Replace(base[1], `"version":"1"`, `"version":"2"`, 1)), "", []string{"/result/agentInfo"}},
		{
			"another value than the ignored one", base, replaced(base, 1, strings.Replace(base[1], `"version":"1"`, `"version":"2"`, 1)),
			`changed agent answer to initialize [before the first turn] 1; /result/agentInfo/version "1"=>"2"` + "\n", []string{"/result/agent", "/agentInfo"},
		},
		{
			"new and missing members", base, replaced(base, 1, strings.Replace(base[1], `"loadSession":true`, `"promptCapabilities":{"image":true}`, 1)),
			`changed agent answer to initialize [before the first turn] 1; /result/agentCapabilities/loadSession true=>; /result/agentCapabilities/promptCapabilities =>{"image":true}` + "\n", nil,
		},
		{
			"an element of a list, found by its id", base, replaced(base, 3, strings.Replace(base[3], `[{"id":"ask","name":"Ask"},`, `[{"id":"plan","name":"Plan"},{"id":"ask","name":"ASK"},`, 1)),
			`changed agent answer to session/new [before the first turn] 1; /result/modes/availableModes/0 =>{"id":"plan","name":"Plan"}; /result/modes/availableModes/1/name "Ask"=>"ASK"` + "\n", nil,
		},
		{
			"another kind of value", base, replaced(base, 1, strings.Replace(base[1], `"protocolVersion":1`, `"protocolVersion":"1"`, 1)),
			`changed agent answer to initialize [before the first turn] 1; /result/protocolVersion 1=>"1"` + "\nnew RPC21 1\n", nil,
		},
		{"the same number", base, replaced(base, 1, strings.Replace(base[1], `"loadSession":true`, `"loadSession":true,"_meta":{"x":1.0}`, 1)), `changed agent answer to initialize [before the first turn] 1; /result/agentCapabilities/_meta =>{"x":1.0}` + "\n", nil},
		{"a missing message", base, replaced(base, 9), "gone agent tool_call_update completed [turn 1] 1\n", nil},
		{"a new message", base, replaced(base, 9, base[9], update1("current_mode_update", `"currentModeId":"code"`)), "new agent current_mode_update [turn 1] 1\n", nil},
		{"a message elsewhere", base, join(hello, turn[:1], turn[4:5], turn[1:4], turn[5:]), "moved agent agent_message_chunk [turn 1] 1\n", nil},
		{"commands at another time", join(base, second[11:13], []string{update1("available_commands_update", `"availableCommands":[]`)}, second[13:]), join(base[:4], []string{update1("available_commands_update", `"availableCommands":[]`)}, second[4:]), "", nil},
		{"usage in the middle of a text", join(hello, turn[:2], turn[2:6], []string{update1("usage_update", `"used":1,"size":2`)}, turn[6:]), join(hello, turn[:2], []string{update1("usage_update", `"used":1,"size":2`)}, turn[2:]), "", nil},
		{"a new turn", base, second, "new client turn [turn 2] 3\n", nil},
		{"a missing turn", second, join(hello, second[11:]), "gone client turn [turn 1] 5\n", nil},
		{
			"another prompt", second, join(base, []string{prompt(3, "less"), chunk("x"), done(3)}),
			`changed client session/prompt [turn 2] 1; /params/prompt/0/text "more"=>"less"` + "\n", nil,
		},
		{"a line that is not a message", base, replaced(base, 9, base[9], "<noise {S}"), "new agent a line that is not a message [turn 1] 1\nnew TR02 1\n", nil},
		{"an error instead of a result", base, replaced(base, 10, `<{"id":2,"error":{"code":-32603,"message":"no"}}`), `changed agent answer to session/prompt [turn 1] 1; /result {"stopReason":"end_turn"}=>; /error =>{"code":-32603,"message":"no"}` + "\n", nil},
		{
			"another connection", base, join(base, hello), "new client connection [connection 2, before the first turn] 4\n", nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			old := talk("sess-aaaa1111", "call_1a2b", "2026-01-02T03:04:05Z", c.old...)
			new := talk("61528d55-792f-4c44-a2fc-a23dfb0bff97", "toolu_9", "2026-11-22T16:00:00.123+01:00", c.new...)
			got := differences(t, old, new, Options{Ignore: c.ignore})
			if want := strings.TrimSpace(c.want); strings.TrimSpace(filter(got, c.want)) != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// filter leaves out new and gone findings that a case does not name.
func filter(got, want string) string {
	var kept []string
	for line := range strings.Lines(got) {
		if len(strings.Fields(line)) > 3 || strings.Contains(want, strings.Fields(line)[1]) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

func TestNamesThatAreMadeUpAreEqualAndOthersAreNot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"at 2026-01-02T03:04:05Z", "at 2025-12-31 23:59:59.5", true},
		{"id 61528d55-792f-4c44-a2fc-a23dfb0bff97", "id e74e6f32-d0c6-46b2-8eaa-ee8431a7aaeb", true},
		{"/tmp/build-Xa81/a.go", "/tmp/b/a.go", true},
		{"/tmp/build-Xa81/a.go", "/tmp/b/b.go", false},
		{"/var/folders/ab/cd12/T/x9/a", "/tmp/y/a", true},
		{`C:\Users\me\AppData\Local\Temp\x1\a`, `c:\users\you\appdata\local\temp\y2\a`, true},
		{"/home/me/src", "/Users/you/src", true},
		{"/home/me/src", "/home/me/lib", false},
		{"took 12ms", "took 1.5 s", true},
		{"took 12 tokens", "took 13 tokens", false},
		{"toolu_01A2b3C4d5E6f7G8", "toolu_99Z8y7X6w5V4u3T2", true},
		{"session/request_permission", "session/request_permissions", false},
		{"available_commands_update", "available_command_updates", false},
		{"gemini-2.5-pro", "gemini-3.1-pro", false},
		{"claude-sonnet-4-20250514", "claude-sonnet-5-20260101", false},
		{"Process Group PGID: 11809", "Process Group PGID: 7", true},
		{"exit 3", "exit 4", false},
	} {
		var n names
		n.init()
		if a, b := n.normal(c.a), n.normal(c.b); (a == b) != c.same {
			t.Errorf("%q is %q, %q is %q", c.a, a, c.b, b)
		}
	}
}

func TestRealRecordingsDifferInWhatTheirAgentsDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, old, new string }{
		{"versions", "gemini-tools.jsonl.gz", "gemini-tools-again.jsonl.gz"}, // a client with more capabilities, and more turns
		{"agents", "claude-code-acp-basic.jsonl.gz", "gemini-basic.jsonl.gz"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var recordings []*Recording
			for _, name := range []string{c.old, c.new, c.old} {
				text, err := os.ReadFile(filepath.Join("testdata", name))
				if err != nil {
					t.Fatal(err)
				}
				recordings = append(recordings, read(t, name, string(text)))
			}
			if r := Compare(recordings[2], recordings[0], Options{}); !r.Equal() || r.Same < 20 {
				t.Errorf("a recording differs from itself: %+v", r)
			}
			var out bytes.Buffer
			if err := Compare(recordings[0], recordings[1], Options{}).Text(&out, 20); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", c.name+".txt")
			if *update {
				if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if out.String() != string(want) {
				t.Errorf("go test -update writes the output if this is right:\n%s", out.String())
			}
		})
	}
}

func TestDifferencesForProgramsAreOneObjectALine(t *testing.T) {
	t.Parallel()
	old := talk("session-old", "c", "t", join(hello, turn)...)
	new := talk("session-new", "c", "t", join(hello, turn[:3], turn[4:], []string{"<\x1b[31mnoise"})...)
	r := Compare(read(t, "old", old), read(t, "new", new), Options{})
	var out bytes.Buffer
	if err := r.JSON(&out); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for line := range strings.Lines(out.String()) {
		var x struct {
			Change  string
			Old     *Place
			Finding *struct{ Rule string }
			Summary *struct {
				Messages struct{ Equal, Changed, New, Gone int }
				Findings struct{ New, Gone int }
			}
		}
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		switch {
		case x.Summary != nil:
			if m := x.Summary.Messages; m.Equal != 8 || m.Changed != 1 || m.New != 1 || x.Summary.Findings.New != 1 {
				t.Errorf("the summary is %s", line)
			}
			kinds = append(kinds, "summary")
		case x.Finding != nil:
			kinds = append(kinds, x.Change+" "+x.Finding.Rule)
		default:
			kinds = append(kinds, x.Change)
		}
	}
	if got := strings.Join(kinds, ","); got != "changed,new,new TR02,summary" {
		t.Errorf("the lines are %s:\n%s", got, out.String())
	}
	var text bytes.Buffer
	if err := r.Text(&text, 0); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(text.String()+out.String(), "\x1b") {
		t.Error("a control character is written")
	}
}

func TestSecretsAreNotInDifferences(t *testing.T) {
	t.Parallel()
	const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz012345678"
	base := join(hello, turn)
	old := talk("s", "c", "t", replaced(base, 7, chunk("key "+secret+"1"))...)
	new := talk("s", "c", "t", join(replaced(base, 7, chunk("other "+secret+"2")), []string{chunk(secret)})...)
	r := Compare(read(t, "old", old), read(t, "new", new), Options{})
	var out bytes.Buffer
	if err := errors.Join(r.Text(&out, 0), r.JSON(&out)); err != nil {
		t.Fatal(err)
	}
	if r.Equal() || strings.Contains(out.String(), "abcdefghij") {
		t.Errorf("the output is %s", out.String())
	}
}

// Each element is in one pair, in its order, and the pairs of a list with itself
// have equal elements. Both ways to align agree on that.
func TestAnAlignmentHasEveryElementOnce(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var lists [2][]int
		for i := range lists {
			for range random.IntN(12) {
				lists[i] = append(lists[i], random.IntN(4))
			}
		}
		score := func(i, j int) int {
			if lists[0][i] == lists[1][j] {
				return best
			}
			return 0
		}
		key := func(list, i int) string { return fmt.Sprint(lists[list][i]) }
		for name, pairs := range map[string][]pair{
			"table":      align(len(lists[0]), len(lists[1]), score, key),
			"occurrence": byOccurrence(0, len(lists[0]), len(lists[1]), key),
		} {
			var seen [2][]int
			for _, p := range pairs {
				if p.old >= 0 {
					seen[0] = append(seen[0], p.old)
				}
				if p.new >= 0 {
					seen[1] = append(seen[1], p.new)
				}
				if p.old >= 0 && p.new >= 0 && lists[0][p.old] != lists[1][p.new] {
					t.Fatalf("%s pairs different elements of %v", name, lists)
				}
			}
			for i := range seen {
				once := map[int]bool{}
				for _, k := range seen[i] {
					once[k] = true
				}
				if len(once) != len(lists[i]) || len(seen[i]) != len(lists[i]) {
					t.Fatalf("%s: %v of %v", name, pairs, lists)
				}
			}
		}
	}
}

// Such a turn is too long for the table of an alignment.
func TestATurnOfManyMessagesIsCompared(t *testing.T) {
	t.Parallel()
	lines := join(hello, []string{prompt(2, "go")})
	for i := range 2500 {
		lines = append(lines, update1("plan", fmt.Sprintf(`"entries":[{"content":"step %d","priority":"high","status":"pending"}]`, i)))
	}
	lines = append(lines, done(2))
	other := replaced(replaced(lines, len(lines)-2), 5)
	got := differences(t, talk("a", "b", "c", lines...), talk("d", "e", "f", other...), Options{})
	if n := strings.Count(got, "\n"); n != 2 || strings.Count(got, "gone agent plan [turn 1] 1") != 2 {
		t.Errorf("%d differences: %.300s", n, got)
	}
}

func TestWhatIsNotACaptureIsNotCompared(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", `{"dir":"err","raw":"x"}` + "\n"} {
		r, err := capture.NewReader("x", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(context.Background(), r, lint.Options{}); err == nil || !strings.Contains(err.Error(), "no messages") {
			t.Errorf("%q: the error is %v", text, err)
		}
		r.Close()
	}
}

func FuzzCompare(f *testing.F) {
	base := join(hello, turn)
	f.Add(talk("s", "c", "t", base...), talk("s", "c", "t", replaced(base, 6)...))
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"a"}`, `[{"id":1}]`)
	prompts := `[{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}},{"jsonrpc":"2.0","id":8,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}]` + "\n"
	f.Add(talk("s", "c", "t", hello...)+prompts, talk("s", "c", "t", hello...)+prompts+prompts)
	f.Fuzz(func(t *testing.T, old, new string) {
		var recordings [2]*Recording
		for i, text := range []string{old, new} {
			r, err := capture.NewReader("x", strings.NewReader(text))
			if err != nil {
				return
			}
			recordings[i], err = Read(context.Background(), r, lint.Options{})
			r.Close()
			if err != nil {
				return
			}
		}
		var out bytes.Buffer
		r := Compare(recordings[0], recordings[1], Options{})
		if err := errors.Join(r.Text(&out, 3), r.JSON(&out)); err != nil {
			t.Fatal(err)
		}
	})
}
