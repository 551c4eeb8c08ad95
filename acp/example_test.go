package acp_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
)

// A session update is one of many things. A type switch on the ones a program
// cares about is enough; the rest, variants of later versions included, can be
// left alone.
func Example_typeSwitch() {
	updates := []acp.SessionUpdate{
		acp.NewAgentMessageChunk(acp.NewTextContent("Looking at the tests.")),
		acp.NewToolCall("call_1", "Read parser.go"),
		&acp.SessionUpdateOther{Tag: "_example/progress"},
	}
	for _, u := range updates {
		switch u := u.(type) {
		case *acp.AgentMessageChunk:
			if text, ok := u.Content.(*acp.TextContent); ok {
				fmt.Println("says:", text.Text)
			}
		case *acp.ToolCall:
			fmt.Println("uses a tool:", u.Title)
		case *acp.SessionUpdateOther:
			fmt.Println("something new:", u.Tag)
		}
	}
	// Output:
	// says: Looking at the tests.
	// uses a tool: Read parser.go
	// something new: _example/progress
}

// A request whose variants share members has them beside its variant.
func ExampleSetSessionConfigOptionRequest() {
	set := acp.SetSessionConfigOptionRequest{
		SessionID: "s1",
		ConfigID:  "model",
		Variant:   acp.NewSetSessionConfigOptionRequestValueID("fast"),
	}
	fmt.Println(string(set.AppendJSON(nil)))
	// Output: {"sessionId":"s1","configId":"model","value":"fast"}
}

// A tool call is introduced with what is known, and later updates say what has changed.
func ExampleToolCallUpdate() {
	call := acp.NewToolCall("call-1", "Edit main.go")
	call.Kind = acp.Some(acp.ToolKindEdit)
	call.Locations = []acp.ToolCallLocation{{Path: "/p/main.go"}}
	call.RawInput = json.RawMessage(`{"path":"/p/main.go"}`)

	done := acp.NewToolCallUpdate("call-1")
	done.Status = acp.Some(acp.ToolCallStatusCompleted)
	diff := acp.NewDiff("/p/main.go", "new text")
	diff.OldText = acp.Some("old text")
	done.Content = []acp.ToolCallContent{diff}

	for _, u := range []acp.SessionUpdate{call, done} {
		fmt.Println(string(acp.AppendSessionUpdate(nil, u)))
	}
	// Output:
	// {"sessionUpdate":"tool_call","toolCallId":"call-1","title":"Edit main.go","kind":"edit","locations":[{"path":"/p/main.go"}],"rawInput":{"path":"/p/main.go"}}
	// {"sessionUpdate":"tool_call_update","toolCallId":"call-1","status":"completed","content":[{"type":"diff","path":"/p/main.go","oldText":"old text","newText":"new text"}]}
}

// transcript collects what an agent says while it says it.
type transcript struct {
	acp.UnimplementedClientHandler
	text string
}

func (t *transcript) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	chunk, ok := n.Update.(*acp.AgentMessageChunk)
	if !ok {
		return nil
	}
	if text, ok := chunk.Content.(*acp.TextContent); ok {
		t.text += text.Text
	}
	return nil
}

// Text streams in as notifications, a few words each.
func Example_streaming() {
	var t transcript
	client := acp.ClientSide(&t)
	for _, params := range []string{
		`{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"The test "}}}`,
		`{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"passes now."}}}`,
	} {
		if err := client.HandleNotification(context.Background(), acp.MethodSessionUpdate, json.RawMessage(params)); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(t.text)
	// Output: The test passes now.
}

// once allows what can be allowed once, and refuses the rest.
type once struct{ acp.UnimplementedClientHandler }

func (once) RequestPermission(_ context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	for _, o := range p.Options {
		if o.Kind == acp.PermissionOptionKindAllowOnce {
			return &acp.RequestPermissionResponse{Outcome: acp.NewSelectedPermissionOutcome(o.OptionID)}, nil
		}
	}
	return &acp.RequestPermissionResponse{Outcome: &acp.RequestPermissionOutcomeCancelled{}}, nil
}

// An agent asks before it acts. The answer is one of the options it offered, or
// that the turn was cancelled.
func Example_permission() {
	ask := &acp.RequestPermissionRequest{
		SessionID: "s1",
		ToolCall:  acp.ToolCallUpdate{ToolCallID: "call_1", Title: acp.Some("Delete build/")},
		Options: []acp.PermissionOption{
			{OptionID: "yes", Name: "Allow", Kind: acp.PermissionOptionKindAllowOnce},
			{OptionID: "no", Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce},
		},
	}
	answer, err := once{}.RequestPermission(context.Background(), ask)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(answer.AppendJSON(nil)))
	// Output: {"outcome":{"outcome":"selected","optionId":"yes"}}
}

// weather answers a method of its own besides the methods of the protocol.
type weather struct{ acp.UnimplementedClientHandler }

func (weather) ExtRequest(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method != "_example.org/weather" {
		return nil, acp.MethodNotFound(method)
	}
	return json.RawMessage(`{"sky":"clear"}`), nil
}

func (weather) ExtNotification(context.Context, string, json.RawMessage) error { return nil }

// Methods of extensions start with an underscore and a domain.
func Example_extensionMethod() {
	client := acp.ClientSide(weather{})
	result, err := client.HandleRequest(context.Background(), "_example.org/weather", json.RawMessage(`{}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(result.AppendJSON(nil)))

	_, err = client.HandleRequest(context.Background(), "_example.org/tides", nil)
	fmt.Println(err)
	// Output:
	// {"sky":"clear"}
	// method not found: _example.org/tides
}

// Members that a later version adds survive, and can be read.
func ExampleExtra() {
	var call acp.ToolCall
	err := call.UnmarshalJSON([]byte(`{"toolCallId":"call_1","title":"Search","cost":{"tokens":412}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	cost, ok := call.Extra.Get("cost")
	fmt.Println(string(cost), ok)
	fmt.Println(string(call.AppendJSON(nil)))
	// Output:
	// {"tokens":412} true
	// {"toolCallId":"call_1","title":"Search","cost":{"tokens":412}}
}

// A member with three states says what to do with what is there already.
func ExamplePatch() {
	title := "Untitled"
	for _, text := range []string{`{}`, `{"title":"Fix the parser"}`, `{"title":null}`} {
		var update acp.SessionInfoUpdate
		if err := update.UnmarshalJSON([]byte(text)); err != nil {
			fmt.Println(err)
			return
		}
		update.Title.Apply(&title, "no title")
		fmt.Println(title)
	}
	// Output:
	// Untitled
	// Fix the parser
	// no title
}

// Decoding names the place of a mistake, Check finds the rest.
func ExamplePointer() {
	_, err := acp.DecodeContentBlock([]byte(`{"type":"text","text":7}`))
	at, ok := acp.Pointer(err)
	fmt.Println(err, at, ok)

	notice := acp.NewNotice(acp.NoticeSeverityInfo, "")
	fmt.Println(acp.Check(notice))
	// Output:
	// /text: want string, got number /text true
	// [/title: want at least 1 character]
}
