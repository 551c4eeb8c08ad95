// Package dialect serves chat completions with the habits of real servers, so that tests
// see what an agent makes of each.
package dialect

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/hermes-nvim/hermes/test/llm"
)

// Habit is one that servers of chat completions have, and what a user of an agent
// sees at such a server. In the project is a.txt with the line "one", and the agent has
// the tools read, write, edit, terminal and todo.
type Habit struct {
	Name string // the habit
	Seen string // the servers that have it

	// Answers to the requests, one after the other; the last one repeats. A request that
	// is refused gets none of them.
	Answers []Answer
	Refuses []Refusal
	Paths   map[string]string // further answers, by the path

	Shows  string   // what the user sees: thoughts, calls and words, parted by " | "
	Fails  string   // in the error of the turn; empty: it comes to its end
	Told   string   // in a notice
	Asked  int      // how many requests the first turn makes; 0: any number
	Sends  []string // regular expressions for the last request of the turn
	Learns string   // in the profile of the endpoint, as JSON
}

// Answer is what a server sends. The zero value is an empty answer.
type Answer struct {
	Status int    // 0: 200
	Type   string // of the content; empty: that of a stream
	Header string // one more, such as "Retry-After: 1"
	Body   string
}

// Refusal is an answer to requests that a server does not like.
type Refusal struct {
	If, Unless string // regular expressions for the body; empty: any, none
	Answer
}

// Talk is a running server with a habit. Close it when the agents are gone.
type Talk struct {
	URL  string // ends in /v1
	http http.Server

	mu       sync.Mutex
	habit    Habit
	answered int
	requests []string
}

// Serve serves a habit on a free loopback port.
func (d Habit) Serve() (*Talk, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("dialect: %w", err)
	}
	t := &Talk{URL: "http://" + l.Addr().String() + "/v1", habit: d}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", t.complete)
	mux.HandleFunc("/", t.other)
	t.http.Handler = mux
	go t.http.Serve(l) // returns ErrServerClosed after Close
	return t, nil
}

// Close stops the server.
func (t *Talk) Close() error { return t.http.Close() }

// Requests returns the bodies of all requests for an answer.
func (t *Talk) Requests() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.requests...)
}

func (t *Talk) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	t.mu.Lock()
	t.requests = append(t.requests, string(body))
	answer := t.next(string(body))
	t.mu.Unlock()
	if err := llm.Judge(body); err != nil {
		answer = Answer{Status: http.StatusTeapot, Body: "the referee: " + err.Error()}
	}
	if answer.Type == "" {
		answer.Type = "text/event-stream"
	}
	w.Header().Set("Content-Type", answer.Type)
	if name, value, ok := strings.Cut(answer.Header, ": "); ok {
		w.Header().Set(name, value)
	}
	w.WriteHeader(max(answer.Status, http.StatusOK))
	io.WriteString(w, answer.Body)
}

func (t *Talk) next(body string) Answer {
	for _, x := range t.habit.Refuses {
		if matches(x.If, body, true) && !matches(x.Unless, body, false) {
			return x.Answer
		}
	}
	if len(t.habit.Answers) == 0 {
		return Answer{}
	}
	answer := t.habit.Answers[min(t.answered, len(t.habit.Answers)-1)]
	t.answered++
	return answer
}

func matches(pattern, text string, otherwise bool) bool {
	if pattern == "" {
		return otherwise
	}
	return regexp.MustCompile(pattern).MatchString(text)
}

func (t *Talk) other(w http.ResponseWriter, r *http.Request) {
	answer, ok := t.habit.Paths[r.URL.Path]
	switch {
	case ok:
	case r.URL.Path == "/v1/models":
		answer = `{"object":"list","data":[{"id":"scripted","object":"model"}]}`
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, answer)
}
