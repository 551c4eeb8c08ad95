package acp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

type files struct {
	UnimplementedClientHandler
	updates []SessionUpdate
}

func (f *files) ReadTextFile(_ context.Context, p *ReadTextFileRequest) (*ReadTextFileResponse, error) {
	switch p.Path {
	case "/nil":
		return nil, nil
	case "/gone":
		return nil, &Error{Code: ErrorCodeResourceNotFound, Message: "no such file"}
	}
	return &ReadTextFileResponse{Content: p.Path}, nil
}

func (f *files) WriteTextFile(context.Context, *WriteTextFileRequest) (*WriteTextFileResponse, error) {
	return nil, nil
}

func (f *files) SessionUpdate(_ context.Context, n *SessionNotification) error {
	f.updates = append(f.updates, n.Update)
	return nil
}

type extended struct{ files }

func (*extended) ExtRequest(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method != "_test/echo" {
		return nil, MethodNotFound(method)
	}
	return params, nil
}

func (*extended) ExtNotification(context.Context, string, json.RawMessage) error { return nil }

func TestExtensionsDoNotGetAmbiguousParams(t *testing.T) {
	t.Parallel()
	side, text := ClientSide(new(extended)), json.RawMessage(`{"a":{"b":1,"b":2}}`)
	_, err := side.HandleRequest(t.Context(), "_x", text)
	for _, err := range []error{err, side.HandleNotification(t.Context(), "_x", text), new(Raw).UnmarshalJSON(text)} {
		if err == nil || !strings.Contains(err.Error(), "/a/b: duplicate member") {
			t.Error(err)
		}
	}
	if err := side.HandleNotification(t.Context(), "_x", nil); err != nil {
		t.Errorf("without params: %v", err)
	}
}

func TestRequestsReachTheirMethod(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, method, params string
		handler              ClientHandler
		result               string
		code                 ErrorCode
		message              string
	}{
		{"answer", MethodFsReadTextFile, `{"sessionId":"s","path":"/a"}`, &files{}, `{"content":"/a"}`, 0, ""},
		{"error of the handler", MethodFsReadTextFile, `{"sessionId":"s","path":"/gone"}`, &files{}, "", ErrorCodeResourceNotFound, "no such file"},
		{"no result where one is required", MethodFsReadTextFile, `{"sessionId":"s","path":"/nil"}`, &files{}, "", ErrorCodeInternalError, "the handler returned no result"},
		{"no result where it may be empty", MethodFsWriteTextFile, `{"sessionId":"s","path":"/a","content":""}`, &files{}, `{}`, 0, ""},
		{"bad params", MethodFsReadTextFile, `{"sessionId":"s","path":7}`, &files{}, "", ErrorCodeInvalidParams, "fs/read_text_file: /path: want string, got number"},
		{"no params", MethodFsReadTextFile, ``, &files{}, "", ErrorCodeInvalidParams, `missing required member "sessionId"`},
		{"not implemented", MethodTerminalCreate, `{"sessionId":"s","command":"ls"}`, &files{}, "", ErrorCodeMethodNotFound, "terminal/create"},
		{"unknown", "fs/delete", `{}`, &files{}, "", ErrorCodeMethodNotFound, "fs/delete"},
		{"of the other side", MethodSessionPrompt, `{}`, &files{}, "", ErrorCodeMethodNotFound, "session/prompt"},
		{"notification as request", MethodSessionUpdate, `{}`, &files{}, "", ErrorCodeMethodNotFound, "session/update"},
		{"extension", "_test/echo", `{"a":1}`, &extended{}, `{"a":1}`, 0, ""},
		{"unknown extension", "_test/other", `{}`, &extended{}, "", ErrorCodeMethodNotFound, "_test/other"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, err := ClientSide(test.handler).HandleRequest(t.Context(), test.method, json.RawMessage(test.params))
			if test.code == 0 {
				if err != nil {
					t.Fatal(err)
				}
				if got := string(r.AppendJSON(nil)); got != test.result {
					t.Errorf("result %s, want %s", got, test.result)
				}
				return
			}
			var e *Error
			if !errors.As(err, &e) || e.Code != test.code || !strings.Contains(e.Message, test.message) {
				t.Errorf("error %v, want %d with %q", err, test.code, test.message)
			}
		})
	}
}

func TestInvalidParamsCarryThePointer(t *testing.T) {
	t.Parallel()
	_, err := ClientSide(&files{}).HandleRequest(t.Context(), MethodFsReadTextFile, json.RawMessage(`{"sessionId":"s","path":{"a":1}}`))
	if want := `{"pointer":"/path","reason":"want string, got object"}`; string(ToError(err).Data) != want {
		t.Errorf("data %s, want %s", ToError(err).Data, want)
	}
}

func TestNotificationsReachTheirMethod(t *testing.T) {
	t.Parallel()
	f := &files{}
	if err := ClientSide(f).HandleNotification(t.Context(), MethodSessionUpdate, json.RawMessage(`{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}`)); err != nil {
		t.Fatal(err)
	}
	if _, ok := f.updates[0].(*Plan); !ok {
		t.Errorf("update is %T", f.updates[0])
	}
	if err := ClientSide(f).HandleNotification(t.Context(), "_x", nil); !errors.Is(err, MethodNotFound("_x")) {
		t.Errorf("error %v", err)
	}
	if err := ClientSide(&extended{}).HandleNotification(t.Context(), "_x", nil); err != nil {
		t.Errorf("error %v", err)
	}
}

// loop is a Caller whose peer is a handler in the same process.
type loop struct{ peer Handler }

func (l loop) Call(ctx context.Context, method string, params Appender, result json.Unmarshaler) error {
	r, err := l.peer.HandleRequest(ctx, method, params.AppendJSON(nil))
	if err != nil {
		return err
	}
	return result.UnmarshalJSON(r.AppendJSON(nil))
}

func (l loop) Notify(ctx context.Context, method string, params Appender) error {
	return l.peer.HandleNotification(ctx, method, params.AppendJSON(nil))
}

func TestCallersReachHandlers(t *testing.T) {
	t.Parallel()
	f := &files{}
	client := Client{Conn: loop{ClientSide(f)}}
	r, err := client.ReadTextFile(t.Context(), &ReadTextFileRequest{SessionID: "s", Path: "/a"})
	if err != nil || r.Content != "/a" {
		t.Errorf("%v, %v", r, err)
	}
	if err := client.SessionUpdate(t.Context(), &SessionNotification{SessionID: "s", Update: NewPlan(nil)}); err != nil {
		t.Error(err)
	}
	agent := Agent{Conn: loop{AgentSide(UnimplementedAgentHandler{})}}
	if _, err := agent.Prompt(t.Context(), &PromptRequest{SessionID: "s"}); !errors.Is(err, MethodNotFound("")) {
		t.Errorf("error %v", err)
	}
}

func TestResultsThatMayBeEmptyMayBeNull(t *testing.T) {
	t.Parallel()
	if _, err := V1.DecodeResult(SideClient, MethodFsWriteTextFile, json.RawMessage(`null`)); err != nil {
		t.Error(err)
	}
	if _, err := V1.DecodeResult(SideClient, MethodFsReadTextFile, json.RawMessage(`null`)); err == nil {
		t.Error("null is taken for a result with required members")
	}
	_, err := V1.DecodeResult(SideClient, MethodFsReadTextFile, json.RawMessage(`{"content":1}`))
	var answer *Error
	if want := "fs/read_text_file: result: /content: want string, got number"; err == nil || err.Error() != want || errors.As(err, &answer) {
		t.Errorf("error %v, want %s, and no *Error", err, want)
	}
}

func TestTheProtocolValueKnowsItsMethods(t *testing.T) {
	t.Parallel()
	if V1.Version() != 1 || V1.Channel() != "stable" {
		t.Errorf("version %d %s", V1.Version(), V1.Channel())
	}
	m, ok := V1.Method(SideClient, MethodSessionUpdate)
	if want := (Method{Name: "session/update", Handler: SideClient, Notification: true, Session: true}); !ok || m != want {
		t.Errorf("%+v", m)
	}
	if _, ok := V1.Method(SideAgent, MethodSessionUpdate); ok {
		t.Error("agents handle session/update")
	}
	for _, side := range []Side{SideAgent, SideClient} {
		if m, ok := V1.Method(side, MethodCancelRequest); !ok || m.Handler != SideBoth {
			t.Errorf("%v does not handle %s", side, MethodCancelRequest)
		}
	}
	if id, ok := SessionOf(json.RawMessage(`{"a":{"sessionId":"no"},"sessionId":"yes"}`)); !ok || id != "yes" {
		t.Errorf("session %q", id)
	}
	if _, ok := SessionOf(json.RawMessage(`[]`)); ok {
		t.Error("a list has a session")
	}
	for text, want := range map[string]string{`{"sessionId":"s"}`: "s", `{"x":{"sessionId":"s"}}`: "", `[]`: "", "": ""} {
		if got := SessionParams(Raw(text)).Session(); got != want {
			t.Errorf("%s: session %q, want %q", text, got, want)
		}
	}
}
