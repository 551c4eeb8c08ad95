package chat

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/hermes-nvim/hermes/acp"
)

// Text of an agent must not move the cursor, change the title, or look like another text.
func TestNothingThatAnAgentSaysCommandsTheTerminal(t *testing.T) {
	t.Parallel()
	const bad = "a\x1b]0;title\x07b\u009b2Jc\rd\x08e\u202ef\x00g\xffh\u200bi\U000e0041j\u2028k\n> l\tm\r\nn"
	var out bytes.Buffer
	v := &view{answers: &out, others: &out}
	content := []acp.ToolCallContent{acp.NewContent(acp.NewTextContent(bad)), acp.NewDiff(bad, bad)}
	call := acp.NewToolCall("1", bad)
	call.Content = content
	change := acp.NewToolCallUpdate("2")
	change.Content = content
	compaction := acp.NewCompactionUpdate("1", acp.CompactionStatusFailed)
	compaction.Error = acp.Set(bad)
	input, err := json.Marshal(map[string]any{"command": "sh", "args": []string{"-c", bad}})
	if err != nil {
		t.Fatal(err)
	}
	updates := map[string]acp.SessionUpdate{
		"answer": acp.NewAgentMessageChunk(acp.NewTextContent(bad)), "thought": acp.NewAgentThoughtChunk(acp.NewTextContent(bad)),
		"call": call, "change": change, "compaction": compaction,
		"plan": acp.NewPlan([]acp.PlanEntry{{Content: bad}}), "notice": acp.NewNotice(acp.NoticeSeverityWarning, bad),
		"prompt": acp.NewUserMessageChunk(acp.NewTextContent(bad)),
	}
	shows := map[string]func(){
		"command":  func() { v.question(&acp.RequestPermissionRequest{ToolCall: acp.ToolCallUpdate{RawInput: input}}) },
		"question": func() { v.question(&acp.RequestPermissionRequest{ToolCall: acp.ToolCallUpdate{Content: content}}) },
		"error":    func() { v.say(bad, "") },
		"commands": func() {
			v.show(acp.NewAvailableCommandsUpdate([]acp.AvailableCommand{{Name: bad}}))
			v.say(strings.Join(v.commands(), " "), "")
		},
	}
	for name, u := range updates {
		shows[name] = func() { v.show(u) }
	}
	for name, show := range shows {
		out.Reset()
		show()
		v.end()
		got := out.String()
		for _, r := range got {
			if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
				t.Errorf("%s prints %q", name, got)
				break
			}
		}
		if !strings.Contains(got, "a<U+001B>]0;title<U+0007>b<U+009B>2Jc<U+000D>d<U+0008>e<U+202E>f<U+0000>g") || !strings.Contains(got, "h<U+200B>i<U+E0041>j<U+2028>k") {
			t.Errorf("%s does not show what it hides: %q", name, got)
		}
		if strings.Contains(got, "\n> l") && name != "answer" && name != "thought" && name != "error" && name != "prompt" {
			t.Errorf("%s prints a line that looks like another one: %q", name, got)
		}
	}
}

func TestCommandsAreCompleted(t *testing.T) {
	t.Parallel()
	names := []string{"compact", "context", "reset", "tools"}
	for prefix, want := range map[string]string{"co": "co|compact context", "com": "compact|compact", "": "|compact context reset tools", "x": "|", "tools": "tools|tools", "con": "context|context"} {
		common, fit := completion(names, prefix)
		if got := common + "|" + strings.Join(fit, " "); got != want {
			t.Errorf("%q: %q, want %q", prefix, got, want)
		}
	}
}

func TestTheQuestionShowsWhatWouldRun(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"command":"rm","args":["-rf","b"],"cwd":"/w"}`:                  "  rm -rf b\n",
		`{"command":"/bin/sh","args":["-c","rm -rf b; echo\n'gone'"]}`:    "  rm -rf b; echo\n  'gone'\n",
		`{"command":"cmd.exe","args":["/d","/c","rd /s b & echo \"x\""]}`: "  rd /s b & echo \"x\"\n",
		`{"command":"make","args":["-c"]}`:                                "  make -c\n",
		`{"path":"a"}`:                                                    "  {\"path\":\"a\"}\n",
	} {
		var out bytes.Buffer
		v := &view{answers: &out, others: &out}
		v.question(&acp.RequestPermissionRequest{ToolCall: acp.ToolCallUpdate{RawInput: json.RawMessage(input)}})
		if got := out.String(); got != want {
			t.Errorf("%s shows %q, want %q", input, got, want)
		}
	}
}

func TestTheChatShowsWhatATurnUsed(t *testing.T) {
	t.Parallel()
	cost := &acp.Cost{Amount: 0.0123, Currency: "USD"}
	for _, test := range []struct {
		used, size uint64
		cost       *acp.Cost
		meta, want string
	}{
		{1200, 8192, cost, `{"hermes.cached":800}`, "  1200 of 8192 tokens, 800 of them cached, 0.0123 USD in all\n"},
		{1200, 0, cost, `{"hermes.cached":800}`, "  1200 tokens, 800 of them cached, 0.0123 USD in all\n"},
		{1200, 8192, nil, "", "  1200 of 8192 tokens\n"},
		{1200, 0, nil, `{"hermes.cached":-1}`, "  1200 tokens\n"},
		{1200, 0, nil, `{"hermes.cached":"x"}`, "  1200 tokens\n"},
	} {
		var out bytes.Buffer
		v := &view{answers: &out, others: &out}
		u := acp.NewUsageUpdate(test.used, test.size)
		u.Cost, u.Meta = test.cost, json.RawMessage(test.meta)
		v.show(u)
		v.end()
		v.end() // once a turn
		if got := out.String(); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

func TestResultsStandBelowTheirCalls(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := &view{answers: &out, others: &out}
	say := func(id acp.ToolCallID, status acp.ToolCallStatus, texts ...string) {
		u := acp.NewToolCallUpdate(id)
		u.Status = acp.Some(status)
		for _, text := range texts {
			u.Content = append(u.Content, acp.NewContent(acp.NewTextContent(text)))
		}
		v.show(u)
	}
	v.show(acp.NewToolCall("1", "Read a"))
	v.show(acp.NewToolCall("2", "Read b"))
	say("1", acp.ToolCallStatusInProgress)
	say("2", acp.ToolCallStatusInProgress)
	say("2", acp.ToolCallStatusCompleted, "b1\nb2")
	v.question(&acp.RequestPermissionRequest{ToolCall: *acp.NewToolCallUpdate("1")})
	say("1", acp.ToolCallStatusCompleted, "a1", "a2")
	say("3", acp.ToolCallStatusCompleted, "of an unknown call")
	v.end()
	if got := out.String(); got != "* Read a\n* Read b\n  b1\n  b2\n* Read a\n  a1\n  a2\n  of an unknown call\n" {
		t.Errorf("%s", got)
	}
	if len(v.titles) > 0 {
		t.Errorf("titles are kept: %v", v.titles)
	}
}
