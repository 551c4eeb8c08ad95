package permission

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

// What a user has to see before they allow a call: "*" are arguments that decide,
// "-" those that a diff shows, "+words" the title and the texts.
func TestWhatDecidesACall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    acp.ToolKind
		input   string
		content string
		want    string
	}{
		// As agents send them.
		{execute, ``, ``, "+words"},
		{execute, `{}`, ``, "+words"},
		{execute, `null`, ``, "+words"},
		{edit, ``, `[{"type":"diff","path":"/w/a","oldText":"a","newText":"b"}]`, "+words"},
		{execute, `{"command":"go test","timeout":9}`, ``, "command* timeout*"},
		{execute, `{"cwd":"/w","args":["-l"],"command":"wc","program":"/bin/wc","shell":false,"env":["A=b"]}`, ``, "command* args* program* shell* cwd* env*"},
		{edit, `{"file_path":"/w/a","old_string":"a","new_string":"b","replace_all":false}`, `[{"type":"diff","path":"/w/a","oldText":"a","newText":"b"}]`, "file_path* replace_all old_string- new_string-"},
		{edit, `{"file_path":"/w/a","content":"b"}`, `[{"type":"diff","path":"/w/a","oldText":null,"newText":"b"}]`, "file_path* content-"},
		{edit, `{"file_path":"/w/a","content":"b"}`, ``, "file_path* content*"},
		{edit, `{"file_path":"/w/a","content":"c"}`, `[{"type":"diff","path":"/w/a","newText":"b"}]`, "file_path* content"},
		{"", `{"file_path":"/w/a","content":"b"}`, ``, "file_path* content* +words"},
		{"", `{"text":"through mcp"}`, ``, "text* +words"},
		{acp.ToolKindSwitchMode, `{"plan":"x"}`, ``, "plan* +words"},
		{acp.ToolKindFetch, `{"url":"https://x.example","prompt":"sum it up"}`, ``, "url* prompt*"},
		{acp.ToolKindThink, `{"prompt":"remove it","n":3}`, ``, "n prompt*"},
		{read, `{"path":"/w/a","limit":20}`, ``, "path* limit"},
		{search, `{"pattern":"x","head_limit":9}`, ``, "pattern* head_limit"},
		// A command below every name that rules know, with every kind.
		{read, `{"path":"/w/a","bash":"x"}`, ``, "bash* path*"},
		{acp.ToolKindThink, `{"exec":"x","thought":"y"}`, ``, "exec* thought*"},
		{acp.ToolKindFetch, `{"url":"https://x.example","run":"x"}`, ``, "run* url*"},
		{search, `{"pattern":"x","executable":"y"}`, ``, "executable* pattern*"},
		{read, `{"input":{"path":"/w/a","x":[{"stdin":"sh"}]}}`, ``, "input*"},
		// Text below a name that says nothing may be a command, too.
		{read, `{"path":"/w/a","shellcmd":"x"}`, ``, "path* shellcmd*"},
		{search, `{"pattern":"x","head_limit":9,"options":{"deep":true,"do":["x"]}}`, ``, "pattern* head_limit options*"},
		{acp.ToolKindFetch, `{"url":"https://x.example","method":"POST","body":"x","timeout":3}`, ``, "url* body* method* timeout"},
		{acp.ToolKindThink, `{"thought":"y","eval":"x"}`, ``, "eval* thought*"},
		{edit, `{"path":"/w/a","line":3,"hook":"x"}`, `[{"type":"diff","path":"/w/a","oldText":"a","newText":"b"}]`, "path* hook* line"},
		{read, `{"path":"/w/a","description":"x"}`, ``, "path* description"},
		// It does not make the title superfluous, and neither does a text without a place.
		{read, `{"task":"x"}`, ``, "task* +words"},
		{acp.ToolKindFetch, `{"prompt":"x"}`, ``, "prompt* +words"},
		{edit, `{"content":"x"}`, ``, "content* +words"},
		// Arguments that say nothing.
		{execute, `{"command":""}`, ``, "command* +words"},
		{execute, `{"command":" \n","args":[]}`, ``, "command* args* +words"},
		{execute, `{"command":null,"description":"build"}`, ``, "command* description* +words"},
		{execute, `"rm -rf /"`, ``, "+words"},
		{read, `{"limit":20,"path":""}`, ``, "path limit +words"},
		{read, `[1]`, ``, "+words"},
		{acp.ToolKindThink, `{"deep":true}`, ``, "deep +words"},
		{acp.ToolKindDelete, `{"path":"/w/a"}`, ``, "path* +words"},
	} {
		call := &acp.ToolCallUpdate{RawInput: json.RawMessage(c.input)}
		if c.kind != "" {
			call.Kind = acp.Some(c.kind)
		}
		if c.content != "" {
			var u acp.ToolCallUpdate
			if err := u.UnmarshalJSON([]byte(`{"toolCallId":"t","content":` + c.content + `}`)); err != nil {
				t.Fatal(err)
			}
			call.Content = u.Content
		}
		if got := shownAs(Decides(call)); got != c.want {
			t.Errorf("%s %s %s: %s, want %s", c.kind, c.input, c.content, got, c.want)
		}
	}
}

func shownAs(d Deciding) string {
	var list []string
	for _, a := range d.Arguments {
		switch {
		case a.InDiff:
			a.Name += "-"
		case a.Decides:
			a.Name += "*"
		}
		list = append(list, a.Name)
	}
	if d.Words {
		list = append(list, "+words")
	}
	return strings.Join(list, " ")
}

func TestTooManyArgumentsAreNotNamed(t *testing.T) {
	t.Parallel()
	input := make(map[string]int)
	for i := range maxArguments + 1 {
		input[fmt.Sprint("a", i)] = i
	}
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	if d := Decides(&acp.ToolCallUpdate{Kind: acp.Some(read), RawInput: text}); d.Arguments != nil || !d.Words {
		t.Errorf("%d arguments, words %t", len(d.Arguments), d.Words)
	}
}

// A rule that finds a command below a name, and a question that has to show it,
// read the same table.
func TestEveryNameOfACommandDecidesForRulesAndQuestions(t *testing.T) {
	t.Parallel()
	for r, names := range roles {
		for _, name := range names {
			input := fmt.Sprintf(`{"path":"/w/a","_%s":"x"}`, strings.ToUpper(name))
			d := Decides(call(read, input))
			if got := strings.Contains(shownAs(d), "_"+strings.ToUpper(name)+"*"); got != (r != plainText) {
				t.Errorf("%s: %s", input, shownAs(d))
			}
			if got := decide(t, call(read, input), allowPath(read, "/w/**")); r.runs() && got != Ask {
				t.Errorf("%s: %v", input, got)
			}
		}
	}
}
