package permission

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

// What a user has to see before they allow a call: "*" are arguments that decide,
// "-" are arguments that a diff shows, "+words" the title and the texts.
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
		if got := shownAs(telling(call)); got != c.want {
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
	if d := telling(&acp.ToolCallUpdate{Kind: acp.Some(read), RawInput: text}); d.Arguments != nil || !d.Words {
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
			d := telling(call(read, input))
			if got := strings.Contains(shownAs(d), "_"+strings.ToUpper(name)+"*"); got != (r != plainText) {
				t.Errorf("%s: %s", input, shownAs(d))
			}
			if got := decide(t, call(read, input), allowPath(read, "/w/**")); r.runs() && got != Ask {
				t.Errorf("%s: %v", input, got)
			}
		}
	}
}

// A call that does not name its files, and paths elsewhere, stand out.
func TestWhatACallDoesNotNameAndWhatIsElsewhere(t *testing.T) {
	t.Parallel()
	root, other := t.TempDir(), t.TempDir()
	link, lost := filepath.Join(root, "link"), filepath.Join(root, "lost")
	must(t, os.Symlink(other, link))
	must(t, os.Symlink(filepath.Join(other, "nothing"), lost))
	in, out := filepath.Join(root, "a"), filepath.Join(other, "a")
	diff := func(path string) *acp.ToolCallUpdate {
		u := call(edit, "")
		u.Content = []acp.ToolCallContent{acp.NewDiff(path, "x")}
		return u
	}
	for name, c := range map[string]struct {
		call    *acp.ToolCallUpdate
		unnamed bool
		outside []string
	}{
		"a command":            {call: call(execute, `{"command":"ls"}`)},
		"no command":           {call: call(execute, `{"cwd":`+quoted(root)+`}`)},
		"a file":               {call: call(edit, "", in)},
		"no files":             {call: call(edit, `{"reason":"x"}`), unnamed: true},
		"a move of no files":   {call: call(acp.ToolKindMove, ""), unnamed: true},
		"a search of nothing":  {call: call(search, `{"query":"x"}`)},
		"a file elsewhere":     {call: call(read, "", in, out), outside: []string{out}},
		"a diff elsewhere":     {call: diff(out), outside: []string{out}},
		"an argument":          {call: call(read, `{"path":`+quoted(out)+`}`), outside: []string{out}},
		"named twice":          {call: call(read, `{"path":`+quoted(out)+`}`, out), outside: []string{out}},
		"through a link":       {call: call(edit, "", link+"/a"), outside: []string{link + "/a"}},
		"a link to nowhere":    {call: call(edit, "", lost), outside: []string{lost}},
		"up and elsewhere":     {call: call(edit, "", root+"/../x"), outside: []string{root + "/../x"}},
		"a relative name":      {call: call(edit, "", "src/a")},
		"a command that lives": {call: call(execute, `{"command":"ls","cwd":`+quoted(other)+`}`), outside: []string{other}},
	} {
		q := Describe("a", "s", c.call)
		if d := Decides(c.call, q); d.Outside != nil {
			t.Errorf("%s: %q is outside of unknown folders", name, d.Outside)
		}
		q.Roots = []string{root}
		if d := Decides(c.call, q); d.Unnamed != c.unnamed || !slices.Equal(d.Outside, c.outside) {
			t.Errorf("%s: unnamed %v, %q elsewhere", name, d.Unnamed, d.Outside)
		}
	}
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}
