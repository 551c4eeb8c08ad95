package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/test/llm"
	"github.com/hermes-nvim/hermes/test/llm/dialect"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// chunk is one event of a stream with a delta.
func chunk(delta string) string {
	return `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `}]}` + "\n\n"
}

const (
	finish = `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}` + "\n\ndata: [DONE]\n\n"
	call   = `{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":"{\"pa"}}]}`
	rest   = `{"tool_calls":[{"index":0,"function":{"arguments":"th\":\"x\"}"}}]}`
)

// answer serves the same stream to every request.
func answer(parts ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, part := range parts {
			io.WriteString(w, part)
		}
	}
}

// status refuses every request.
func status(code int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// first serves the first request with one handler and the others with another.
func first(one, others http.HandlerFunc) http.HandlerFunc {
	var n atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			one(w, r)
		} else {
			others(w, r)
		}
	}
}

func client(t *testing.T, h http.HandlerFunc, opts Options) *Client {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err != nil || len(body) > 0 && llm.Judge(body) != nil {
			t.Errorf("the request is refused: %v, %v", err, llm.Judge(body))
		} else {
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		h(w, r)
	}))
	t.Cleanup(server.Close)
	opts.BaseURL, opts.FirstPause = server.URL+"/v1", time.Millisecond
	return New(opts)
}

func TestEveryFaultEndsTheRequestAndSaysWhy(t *testing.T) {
	t.Parallel()
	hang := func(w http.ResponseWriter, r *http.Request) {
		answer(chunk(`{"content":"one "}`))(w, r)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	for _, test := range []struct {
		name   string
		serve  http.HandlerFunc
		opts   Options
		err    string // "" for none
		text   string
		calls  int
		notice string
	}{
		{name: "nothing is wrong", serve: answer(chunk(`{"content":"one "}`), chunk(`{"content":"two"}`), finish), text: "one two"},
		{name: "a call in two pieces", serve: answer(chunk(call), chunk(rest), finish), calls: 1},
		{name: "two whole calls with one index", serve: answer(chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]}`),
			chunk(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"read","arguments":"{}"}}]}`), finish), calls: 2},
		{name: "a stream that is cut", serve: answer(chunk(`{"content":"one "}`)), err: "cut off", text: "one "},
		{name: "a stream that is cut before it says anything", serve: first(answer(), answer(chunk(`{"content":"one"}`), finish)), text: "one", notice: "cut off"},
		{name: "half a call", serve: answer(chunk(`{"content":"one "}`), chunk(call)), err: "cut off", text: "one "},
		{name: "bad JSON", serve: answer(chunk(`{"content":"one "}`), "data: {\"choices\n\n"), err: "model at", text: "one "},
		{name: "a page instead of a stream", serve: answer("<html><title>sign in</title></html>"), err: "a web page instead of an answer: sign in"},
		{name: "429 with Retry-After", serve: first(status(429, "Retry-After: 0.05", `{"error":{"message":"slow down"}}`), answer(chunk(`{"content":"one"}`), finish)), text: "one", notice: "slow down"},
		{name: "429 that asks for too long", serve: status(429, "Retry-After: 3600", `{"error":{"message":"tomorrow"}}`), err: "tomorrow"},
		{name: "500 once", serve: first(status(500, "", "oops"), answer(chunk(`{"content":"one"}`), finish)), text: "one", notice: "500"},
		{name: "500 for ever", serve: status(500, "", `{"error":{"message":"broken"}}`), err: "500 Internal Server Error: broken", notice: "trying again"},
		{name: "401", serve: status(401, "", `{"error":{"message":"who are you"}}`), err: "401 Unauthorized: who are you; does OPENAI_API_KEY have the right key?"},
		{name: "a wrong address", serve: status(404, "", "<html>not here</html>"), err: "404 Not Found: a web page instead of an answer; many endpoints have an address that ends in /v1"},
		{name: "an unknown model", serve: status(404, "", `{"error":{"message":"no model m"}}`), err: "404 Not Found: no model m"},
		{name: "400", serve: status(400, "", `{"error":{"message":"too many tokens"}}`), err: "too many tokens"},
		{name: "an empty answer", serve: answer(finish)},
		{name: "endless reasoning", serve: answer(strings.Repeat(chunk(`{"reasoning_content":"well, "}`), 100)), opts: Options{MaxReasoning: 100}, err: "kept reasoning"},
		{name: "an endless answer", serve: answer(strings.Repeat(chunk(`{"content":"well, "}`), 100)), opts: Options{MaxReply: 100}, err: "too long", text: strings.Repeat("well, ", 17)},
		{name: "endless arguments", serve: answer(strings.Repeat(chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"aaaaaaaaaa"}}]}`), 100)), opts: Options{MaxReply: 100}, err: "too long"},
		{name: "a stream that stops", serve: hang, opts: Options{Stall: 2 * time.Second}, err: "stopped coming", text: "one "},
		{name: "a content filter", serve: answer(chunk(`{"content":"one "}`), strings.Replace(finish, `"stop"`, `"content_filter"`, 1)), err: "content filter", text: "one "},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			notices := ""
			shown := ""
			reply, err := client(t, test.serve, test.opts).Complete(t.Context(), model.Request{Model: "m"}, func(d model.Delta) {
				notices += d.Notice
				shown += d.Text
			})
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("error %v, want %q", err, test.err)
			}
			if reply.Message.Text != test.text || shown != test.text || len(reply.Message.Calls) != test.calls {
				t.Errorf("text %q, shown %q, calls %v", reply.Message.Text, shown, reply.Message.Calls)
			}
			for _, c := range reply.Message.Calls {
				if c.Name != "read" || !json.Valid([]byte(c.Arguments)) {
					t.Errorf("call %+v", c)
				}
			}
			if !strings.Contains(notices, test.notice) || test.notice == "" && notices != "" && test.err == "" {
				t.Errorf("notices %q, want %q", notices, test.notice)
			}
		})
	}
}

func TestCancellingEndsTheRequestAtOnceAndKeepsTheText(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	reply, err := client(t, func(w http.ResponseWriter, r *http.Request) {
		answer(chunk(`{"content":"one "}`))(w, r)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}, Options{}).Complete(ctx, model.Request{Model: "m"}, func(model.Delta) { cancel() })
	if !errors.Is(err, context.Canceled) || reply.Message.Text != "one " {
		t.Errorf("%v, %+v", err, reply)
	}
}

func TestRequestsSayWhatEndpointsNeed(t *testing.T) {
	t.Parallel()
	var sent string
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		sent = fmt.Sprintln(r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("X-Team"), string(b))
		answer(finish)(w, r)
	}, Options{Key: "k", Headers: map[string]string{"X-Team": "blue"}})
	reply, err := c.Complete(t.Context(), model.Request{Model: "m", Messages: []model.Message{
		{Role: model.System, Text: "sys"},
		{Role: model.User, Text: "look", Images: []model.Image{{MimeType: "image/png", Data: "QUJD"}}},
		{Role: model.User, Text: "again"},
		{Role: model.Assistant, Reasoning: "hm", Calls: []model.Call{{ID: "call00001", Name: "read", Arguments: "{}"}}},
		{Role: model.Tool, CallID: "call00001", Text: "result"},
	}, Tools: []model.Spec{{Name: "read", Description: "d", Parameters: []byte(`{"type":"object"}`)}}}, func(model.Delta) {})
	if err != nil || reply.Usage != (model.Usage{Input: 7, Output: 3}) {
		t.Fatalf("%+v, %v", reply, err)
	}
	for _, want := range []string{
		"/v1/chat/completions Bearer k blue", `"stream":true`, `"include_usage":true`, `{"content":"sys","role":"system"}`,
		`look\n\nagain`, `"url":"data:image/png;base64,QUJD"`, `"reasoning_content":"hm"`, `"tool_call_id":"call00001"`, `"name":"read"`, `"parameters":{"type":"object"}`,
	} {
		if !strings.Contains(sent, want) {
			t.Errorf("no %s in %s", want, sent)
		}
	}
	if n := strings.Count(sent, `"role":"user"`); n != 1 {
		t.Errorf("%d user messages in a row: %s", n, sent)
	}
}

func TestPicturesOfToolsFollowTheResults(t *testing.T) {
	t.Parallel()
	var sent struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Error(err)
		}
		answer(finish)(w, r)
	}, Options{})
	_, err := c.Complete(t.Context(), model.Request{Model: "m", Messages: []model.Message{
		{Role: model.User, Text: "look"},
		{Role: model.Assistant, Calls: []model.Call{{ID: "call00001", Name: "read", Arguments: "{}"}, {ID: "call00002", Name: "read", Arguments: "{}"}}},
		{Role: model.Tool, CallID: "call00001", Text: "[image/png]", Images: []model.Image{{MimeType: "image/png", Data: "QUJD"}}},
		{Role: model.Tool, CallID: "call00002", Text: "text"},
		{Role: model.User, Text: "and?"},
	}}, func(model.Delta) {})
	if err != nil {
		t.Fatal(err)
	}
	var roles []string
	for _, m := range sent.Messages {
		roles = append(roles, m.Role)
	}
	if got := strings.Join(roles, " "); got != "user assistant tool tool assistant user" {
		t.Fatalf("the roles are %s", got)
	}
	if last := string(sent.Messages[5].Content); !strings.Contains(last, "base64,QUJD") || !strings.Contains(last, "and?") {
		t.Errorf("the last message is %s", last)
	}
}

// A picture that the endpoint refuses must not make every later request fail.
func TestAModelThatRefusesPicturesGetsNone(t *testing.T) {
	t.Parallel()
	requests, refused := 0, 0
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		if b, _ := io.ReadAll(r.Body); strings.Contains(string(b), "QUJD") {
			refused++
			status(500, "", `{"error":{"message":"image input is not supported"}}`)(w, r)
			return
		} else if !strings.Contains(string(b), "the model does not take pictures") {
			t.Errorf("the model does not learn of the picture: %s", b)
		}
		answer(chunk(`{"content":"ok"}`), finish)(w, r)
	}, Options{})
	for range 2 {
		notices := ""
		reply, err := c.Complete(t.Context(), model.Request{Model: "m", Messages: []model.Message{
			{Role: model.User, Text: "look", Images: []model.Image{{MimeType: "image/png", Data: "QUJD"}}},
		}}, func(d model.Delta) { notices += d.Notice })
		if err != nil || reply.Message.Text != "ok" || strings.Contains(notices, "without pictures") != (requests == 2) {
			t.Errorf("%+v, %v, %q", reply, err, notices)
		}
	}
	if requests != 3 || refused != 1 {
		t.Errorf("%d requests, %d refused", requests, refused)
	}
}

func TestModelsAreListedWithTheirContext(t *testing.T) {
	t.Parallel()
	sizes, err := client(t, status(200, "", `{"object":"list","data":[{"id":"a","max_model_len":10},{"id":"b","context_length":20},{"id":"c","meta":{"n_ctx":30}},{"id":"d"}]}`), Options{}).Models(t.Context())
	if got := fmt.Sprint(sizes); err != nil || got != "map[a:10 b:20 c:30 d:0]" {
		t.Errorf("%s, %v", got, err)
	}
}

// Azure names the deployment in the path and the version of its interface in the query.
func TestAddressesKeepTheirQuery(t *testing.T) {
	t.Parallel()
	const azure = "/openai/deployments/gpt-5-mini"
	for _, test := range []struct{ address, completes, lists, key, models string }{
		{"/v1", "/v1/chat/completions", "/v1/models", "Authorization: Bearer k", "a"},
		{"/v1/", "/v1/chat/completions", "/v1/models", "Authorization: Bearer k", "a"},
		{"", "/chat/completions", "/models", "Authorization: Bearer k", "a"},
		{"/v1?key=a%2Fb&x=", "/v1/chat/completions?key=a%2Fb&x=", "/v1/models?key=a%2Fb&x=", "Authorization: Bearer k", "a"},
		{"/a%2Fb/v1", "/a%2Fb/v1/chat/completions", "/a%2Fb/v1/models", "Authorization: Bearer k", "a"},
		{azure + "?api-version=2024-10-21", azure + "/chat/completions?api-version=2024-10-21", azure + "/models?api-version=2024-10-21", "Api-Key: k", "gpt-5-mini"},
		{azure + "/chat/completions?api-version=2024-10-21", azure + "/chat/completions?api-version=2024-10-21", azure + "/models?api-version=2024-10-21", "Api-Key: k", "gpt-5-mini"},
	} {
		var asked []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.RequestURI)
			for _, name := range []string{"Authorization", "Api-Key"} {
				if value := r.Header.Get(name); value != "" && name+": "+value != test.key {
					t.Errorf("%s: %s: %s", test.address, name, value)
				}
			}
			switch {
			case r.URL.Path == azure+"/models":
				status(404, "", `{"error":{"code":"404","message":"Resource not found"}}`)(w, r)
			case strings.HasSuffix(r.URL.Path, "/models"):
				io.WriteString(w, `{"data":[{"id":"a","context_length":1}]}`)
			default:
				answer(chunk(`{"content":"ok"}`), finish)(w, r)
			}
		}))
		t.Cleanup(server.Close)
		c := New(Options{BaseURL: server.URL + test.address, Key: "k"})
		reply, err := c.Complete(t.Context(), model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Text: "x"}}}, func(model.Delta) {})
		if err != nil || reply.Message.Text != "ok" {
			t.Errorf("%s: %+v, %v", test.address, reply, err)
		}
		sizes, err := c.Models(t.Context())
		if _, has := sizes[test.models]; err != nil || !has || len(sizes) != 1 {
			t.Errorf("%s: %v, %v", test.address, sizes, err)
		}
		if got := strings.Join(asked, " "); got != test.completes+" "+test.lists {
			t.Errorf("%s: asked for %s", test.address, got)
		}
	}
}

func TestServersAreAskedWithTheQueryOfTheAddress(t *testing.T) {
	t.Parallel()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.RequestURI)
		if r.URL.Path == "/props" {
			io.WriteString(w, `{"default_generation_settings":{"n_ctx":77}}`)
			return
		}
		io.WriteString(w, `{"data":[{"id":"a"}]}`)
	}))
	t.Cleanup(server.Close)
	sizes, err := New(Options{BaseURL: server.URL + "/v1?key=1"}).Models(t.Context())
	if got := strings.Join(asked, " "); err != nil || sizes["a"] != 77 || got != "/v1/models?key=1 /props?key=1" {
		t.Errorf("%v, %v, %s", sizes, err, got)
	}
}

func TestParametersArePartOfTheRequestUntilTheyAreRefused(t *testing.T) {
	t.Parallel()
	server := serve(t, dialect.Habit{
		Refuses: []dialect.Refusal{
			{If: `"max_tokens"`, Answer: dialect.Answer{Status: 400, Body: `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}`}},
			{If: `"temperature"`, Answer: dialect.Answer{Status: 400, Body: `{"error":{"message":"temperature does not support 0.2 with this model"}}`}},
		},
		Answers: []dialect.Answer{{Body: `{"choices":[{"message":{"content":"one"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":8},"cost":0.25}}`}},
	})
	notices := ""
	reply, err := New(Options{BaseURL: server.URL}).Complete(t.Context(), model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Text: "go"}}, Parameters: map[string]any{
		"temperature": 0.2, "max_tokens": 100, "provider": map[string]any{"order": []string{"groq"}}, "model": "other", "messages": 1,
	}}, func(d model.Delta) { notices += d.Notice + "\n" })
	if err != nil || reply.Usage != (model.Usage{Input: 9, Output: 1, Cached: 8, Cost: 0.25}) || reply.Usage.String() != "9 tokens in, 8 of them cached, 1 out, $0.2500" {
		t.Errorf("%+v, %v", reply, err)
	}
	all := server.Requests()
	if last, want := all[len(all)-1], `{"max_completion_tokens":100,"messages":[{"content":"go","role":"user"}],"model":"m","provider":{"order":["groq"]},"stream":true,"stream_options":{"include_usage":true}}`; len(all) != 3 || last != want {
		t.Errorf("%d requests, the last one %s", len(all), last)
	}
	if !strings.Contains(notices, "trying again without max_tokens") || !strings.Contains(notices, "temperature does not support 0.2 with this model; trying again without temperature") {
		t.Error(notices)
	}
}

func TestClaudeIsToldWhatToCache(t *testing.T) {
	t.Parallel()
	messages := []model.Message{{Role: model.System, Text: "sys"}, {Role: model.User, Text: "a"}, {Role: model.Assistant, Text: "b"}, {Role: model.User, Text: "c"}}
	const mark = `"cache_control":{"type":"ephemeral"}`
	for _, test := range []struct {
		name    string
		refuses []dialect.Refusal
		marks   int
	}{
		{"anthropic/claude-sonnet-4.5", nil, 2}, {"qwen3", nil, 0},
		{"claude-by-somebody", []dialect.Refusal{{If: "cache_control", Answer: dialect.Answer{Status: 400, Body: `{"error":"messages.0.content.0.cache_control: extra fields not permitted"}`}}}, 0},
	} {
		server := serve(t, dialect.Habit{Refuses: test.refuses, Answers: []dialect.Answer{{Body: `{"choices":[{"message":{"content":"one"},"finish_reason":"stop"}]}`}}})
		if _, err := New(Options{BaseURL: server.URL}).Complete(t.Context(), model.Request{Model: test.name, Messages: messages}, func(model.Delta) {}); err != nil {
			t.Error(err)
		}
		all := server.Requests()
		if n := strings.Count(all[len(all)-1], mark); n != test.marks {
			t.Errorf("%s: %d marks in %s", test.name, n, all[len(all)-1])
		}
	}
}
