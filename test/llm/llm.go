// Package llm is a language model that follows a script, served on loopback in
// the shapes of three vendors' APIs. It lets tests drive published agents
// without an account and get the same turn every time.
//
// The script is the last user text that holds a directive, one a line:
//
//	SAY text          stream text
//	THINK text        stream a thought
//	CALL tool {json}  call one of the agent's tools, then continue in the next turn
//	SLOW n            stream n lines, 100 ms apart
//
// The answer depends only on the request, so one server can serve any number
// of agents and sessions.
package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Server is a running model. Close it when the agents are gone.
type Server struct {
	URL    string
	http   http.Server
	script string
}

// Start serves on a free loopback port. In chat completions, the lines of the script answer
// the first prompt of a conversation whose prompts hold no directive.
func Start(script ...string) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("scripted model: %w", err)
	}
	s := &Server{URL: "http://" + l.Addr().String(), script: strings.Join(script, "\n")}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", anthropic)
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, object{"input_tokens": 1})
	})
	mux.HandleFunc("POST /v1/chat/completions", s.openai)
	mux.HandleFunc("GET /v1/models", openaiModels)
	mux.HandleFunc("POST /v1beta/models/{call}", gemini)
	mux.HandleFunc("POST /v1/responses", responses)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, object{}) })
	s.http.Handler = mux
	go s.http.Serve(l) // returns ErrServerClosed after Close
	return s, nil
}

// Close stops the server and cuts the streams that are still open.
func (s *Server) Close() error { return s.http.Close() }

type object map[string]any

// step is one directive.
type step struct{ word, arg string }

var directive = regexp.MustCompile(`(?m)^(SAY|THINK|CALL|SLOW) (.+?)[ \t]*$`)

// event is one entry of a conversation as all vendors' requests hold it.
type event struct {
	kind string // user, call, result
	text string // of a call: see canonical
}

// canonical names a call by tool and input, however the input was formatted.
func canonical(tool string, input json.RawMessage) string {
	var v any
	json.Unmarshal(input, &v)
	b, _ := json.Marshal(v)
	return tool + " " + string(b)
}

// turn returns what to stream now: the steps up to the first call that the
// conversation does not hold yet. Agents reorder results and reminders, so calls
// are recognised by content, not by position. A script that wants a call twice has
// to vary its input.
func turn(conversation []event, tools int) []step {
	if tools == 0 { // a title or a summary, not the conversation
		return []step{{"SAY", "Scripted session"}}
	}
	var steps []step
	result := ""
	made := map[string]bool{}
	for _, e := range conversation {
		switch e.kind {
		case "call":
			made[e.text] = true
		case "result":
			result = e.text
		case "user":
			if found := directive.FindAllStringSubmatch(e.text, -1); found != nil {
				steps = nil
				for _, m := range found {
					steps = append(steps, step{m[1], m[2]})
				}
			}
		}
	}
	if steps == nil {
		return []step{{"SAY", noDirective}}
	}
	var out []step
	for _, s := range steps {
		out = append(out, s)
		if s.word == "CALL" {
			if !made[canonical(s.call())] {
				return out
			}
			out = nil
		}
	}
	return append(out, step{"SAY", "Done. " + result})
}

const noDirective = "The prompt holds no directive."

// scripted replaces the first prompt of a conversation without directives by a script.
// There is nothing to say to the ones after it.
func scripted(conversation []event, script string) {
	said := 0
	for i, e := range conversation {
		if e.kind != "user" {
			continue
		}
		if said++; said == 1 && script != "" && !directive.MatchString(e.text) {
			conversation[i].text = script
		} else if said > 1 && !directive.MatchString(e.text) {
			conversation[i].text = "SAY " + noDirective
		}
	}
}

// stream walks the steps of a turn, waiting where the script says so.
func stream(ctx context.Context, steps []step, emit func(step)) {
	for _, s := range steps {
		if s.word != "SLOW" {
			emit(s)
			continue
		}
		n, _ := strconv.Atoi(s.arg)
		for i := range n {
			emit(step{"SAY", fmt.Sprintf("tick %d\n", i+1)})
			select {
			case <-ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
}

// call splits the argument of CALL.
func (s step) call() (tool string, input json.RawMessage) {
	tool, args, _ := strings.Cut(s.arg, " ")
	return tool, json.RawMessage(args)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

// sse writes one server-sent event.
func sse(w http.ResponseWriter, name string, v any) {
	if name != "" {
		fmt.Fprintf(w, "event: %s\n", name)
	}
	b, _ := json.Marshal(v)
	fmt.Fprintf(w, "data: %s\n\n", b)
	w.(http.Flusher).Flush()
}
