package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/test/llm"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model/openai"
)

// event is one event of a stream with a choice.
func event(choice string) string {
	return `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[` + choice + `]}` + "\n\n"
}

func delta(members string) string { return event(`{"index":0,"delta":{` + members + `}}`) }

func end(reason string) string {
	return event(`{"index":0,"delta":{},"finish_reason":"`+reason+`"}`) + "data: [DONE]\n\n"
}

func calling(name, arguments string) string {
	return delta(fmt.Sprintf(`"tool_calls":[{"index":0,"id":"same","type":"function","function":{"name":%q,"arguments":%q}}]`, name, arguments))
}

// said is a whole answer.
var said = delta(`"content":"all is well"`) + end("stop")

// endpoint answers the requests one after the other, the last answer again and again, and
// refuses histories that real endpoints refuse.
type endpoint struct {
	t       *testing.T
	answers []string // streams, or HTTP with a status that is not 200

	mu    sync.Mutex
	asked int
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Messages []struct {
			Role      string
			Content   json.RawMessage
			CallID    string `json:"tool_call_id"`
			ToolCalls []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, json.Unmarshal(body, &request), llm.Judge(body)); err != nil {
		e.t.Errorf("the request is refused: %v", err)
	}
	var open []string
	before := ""
	for i, m := range request.Messages {
		switch {
		case m.Role == "tool" && (len(open) == 0 || open[0] != m.CallID):
			e.t.Errorf("message %d answers %q, but %v is open", i, m.CallID, open)
		case m.Role == "tool":
			open = open[1:]
		case len(open) > 0:
			e.t.Errorf("message %d comes before the results of %v", i, open)
		case m.Role == "user" && before == "user":
			e.t.Errorf("message %d is the second one of the user in a row", i)
		case m.Role == "assistant" && len(m.ToolCalls) == 0 && len(m.Content) <= len(`""`):
			e.t.Errorf("message %d is empty", i)
		}
		for _, c := range m.ToolCalls {
			if c.ID == "" || c.Function.Name == "" || !json.Valid([]byte(c.Function.Arguments)) {
				e.t.Errorf("message %d has the call %+v", i, c)
			}
			open = append(open, c.ID)
		}
		before = m.Role
	}
	if len(open) > 0 {
		e.t.Errorf("%v have no results", open)
	}
	e.mu.Lock()
	answer := e.answers[min(e.asked, len(e.answers)-1)]
	e.asked++
	e.mu.Unlock()
	if head, body, refused := strings.Cut(answer, "|"); refused {
		code := 0
		fmt.Sscan(head, &code)
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(code)
		io.WriteString(w, body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, answer)
	if strings.HasSuffix(answer, "hang\n\n") {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// Real endpoints fail in all these ways. The turn ends, the user learns why, and the next
// prompt goes on with a history that endpoints accept.
func TestAFaultOfTheModelEndsTheTurnAndTheNextOneGoesOn(t *testing.T) {
	t.Parallel()
	storm := ""
	for i := range 1000 {
		storm += delta(fmt.Sprintf(`"tool_calls":[{"index":%d,"id":"c%[1]d","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}}]`, i))
	}
	well := strings.Repeat("well, ", 100)
	refusal := `{"error":{"message":"not now"}}`
	for _, test := range []struct {
		name    string
		answers []string
		ends    string // the stop reason, or a part of the error
		told    string // what the user sees
	}{
		{"a cut stream", []string{delta(`"content":"I was ab"`)}, "cut off", "agent: I was ab"},
		{"half a call, cut", []string{delta(`"content":"look: "`) + calling("read", `{"pa`)}, "cut off", "agent: look: "},
		{"half a call, and no room for more", []string{calling("read", `{"pa`) + end("length"), said}, "end_turn", "failed the arguments are not valid JSON"},
		{"bad JSON in the stream", []string{delta(`"content":"I "`) + "data: {\"choices\n\n"}, "model at", "agent: I "},
		{"bad JSON in a call", []string{calling("read", `path=a.txt`) + end("tool_calls"), said}, "end_turn", "failed the arguments are not valid JSON"},
		{"wrong arguments", []string{calling("read", `{"file":"a.txt"}`) + end("tool_calls"), said}, "end_turn", "failed the arguments do not fit"},
		{"an unknown tool", []string{calling("fly", `{}`) + end("tool_calls"), said}, "end_turn", `failed there is no tool "fly"`},
		{"429, then an answer", []string{"429|" + refusal, said}, "end_turn", "429 Too Many Requests: not now; trying again"},
		{"429 for ever", []string{"429|" + refusal}, "429 Too Many Requests: not now", "trying again"},
		{"500, then an answer", []string{"500|" + refusal, said}, "end_turn", "trying again"},
		{"500 for ever", []string{"500|" + refusal}, "500 Internal Server Error: not now", "trying again"},
		{"401", []string{"401|" + refusal}, "does OPENAI_API_KEY have the right key?", ""},
		{"empty answers", []string{end("stop")}, "empty answer", ""},
		{"endless reasoning", []string{strings.Repeat(delta(`"reasoning_content":"`+well+`"`), 200)}, "kept reasoning", "thought: well, well"},
		{"an endless answer", []string{strings.Repeat(delta(`"content":"`+well+`"`), 2000)}, "too long", "agent: well, well"},
		{"a stream that stops", []string{delta(`"content":"one "`) + ": hang\n\n"}, "stopped coming", "agent: one "},
		{"a storm of calls", []string{storm + end("tool_calls"), said}, "end_turn", "agent: all is well"},
		{"calls for ever", []string{calling("read", `{"path":"a.txt"}`) + end("tool_calls")}, "max_turn_requests", "call Read a.txt"},
		{"no room", []string{delta(`"content":"I was ab"`) + end("length")}, "max_tokens", "agent: I was ab"},
		{"a content filter", []string{delta(`"content":"I "`) + end("content_filter")}, "content filter", "agent: I "},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			fault := &endpoint{t: t, answers: test.answers}
			server := httptest.NewServer(fault)
			t.Cleanup(server.Close)
			opts := openai.Options{BaseURL: server.URL, Retries: 2, FirstPause: time.Millisecond, MaxReasoning: 10_000, MaxReply: 200_000}
			if test.ends == "stopped coming" {
				opts.Stall = 5 * time.Second
			}
			e.model = openai.New(opts)
			e.start()
			e.file("a.txt", "one\n")
			id := e.open()
			reason, err := e.prompt(id, acp.NewTextContent("do it"))
			got := string(reason)
			if answer := (*acp.Error)(nil); errors.As(err, &answer) {
				got = answer.Message
			}
			if !strings.Contains(got, test.ends) {
				t.Errorf("the turn ended with %q, %v", got, err)
			}
			if shown := e.take(); !strings.Contains(shown, test.told) || strings.Count(shown, "call ") > 100 {
				t.Errorf("shown:\n%.2000s", shown)
			}
			fault.mu.Lock()
			fault.answers = []string{said}
			fault.mu.Unlock()
			if shown := e.play(id, "go on", acp.StopReasonEndTurn); shown != "agent: all is well" {
				t.Errorf("the next turn shows %q", shown)
			}
		})
	}
}
