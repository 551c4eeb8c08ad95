package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode"

	"github.com/hermes-nvim/hermes/test/llm"
)

// hostile moves cursors, sets titles, turns the direction of writing, hides, and ends its line.
const hostile = "a\x1b]0;title\x07b\u009b2Jc\rd\x08e\u202ef\u200bg\U000e0041h\ngood:   forged"

// A server may say anything, in any place. Nothing of it may command the terminal, and
// outside of answers nothing may look like a line of this program.
func TestNothingThatAServerSaysCommandsTheTerminal(t *testing.T) {
	t.Parallel()
	quoted, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	says := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			kind := "application/json"
			if strings.HasPrefix(body, "data:") {
				kind = "text/event-stream"
			}
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(code)
			io.WriteString(w, body)
		}
	}
	raw := func(answer string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			io.WriteString(conn, answer)
			conn.Close()
		}
	}
	models := says(200, `{"object":"list","data":[{"id":`+string(quoted)+`,"object":"model"}]}`)
	refusal := `{"error":{"message":` + string(quoted) + `,"type":` + string(quoted) + `,"code":` + string(quoted) + `}}`
	delta := `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":` + string(quoted) + `,"choices":[{"index":0,"delta":{`
	text := delta + `"content":"so"}}]}` + "\n\n" // what comes after it is not tried again
	for _, face := range []struct {
		name          string
		models, chats http.HandlerFunc
	}{
		{"names and answers", models, says(200, delta+`"reasoning_content":`+string(quoted)+`,"content":`+string(quoted)+`},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")},
		{"calls of tools", models, says(200, delta+`"tool_calls":[{"index":0,"id":`+string(quoted)+`,"type":"function","function":{"name":`+string(quoted)+`,"arguments":`+string(quoted)+`}}]},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n")},
		{"reasons to stop", models, says(200, delta+`},"finish_reason":`+string(quoted)+`}]}`+"\n\ndata: [DONE]\n\n")},
		{"faults in a stream", models, says(200, text+"data: "+refusal+"\n\n")},
		{"streams that are not JSON", models, says(200, text+"data: {"+hostile+"\n\n")},
		{"refusals", says(400, refusal), says(400, refusal)},
		{"refused keys", says(401, refusal), says(401, refusal)},
		{"lists of something else", says(200, `{"data":[{"id":[`+string(quoted)+`]}]}`), says(400, refusal)},
		{"no HTTP", raw(hostile), says(400, refusal)},
	} {
		t.Run(face.name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.HandleFunc("/v1/models", face.models)
			mux.HandleFunc("/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err := errors.Join(err, llm.Judge(body)); err != nil {
					t.Errorf("the request is refused: %v", err)
				}
				face.chats(w, r)
			})
			server := httptest.NewServer(mux)
			t.Cleanup(server.Close)
			t.Parallel() // it waits before it asks again
			dir := t.TempDir()
			dataset := filepath.Join(dir, "d.jsonl")
			if err := os.WriteFile(dataset, []byte("\"hi\"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			var heard atomic.Bool
			play := func(t *testing.T, endpoint string, args ...string) {
				cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
				cmd.Stdin = strings.NewReader(server.URL + "/v1\n\n\n")
				cmd.Env = append(os.Environ(), asProgram+"=1", "HERMES_AGENT_HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "state"),
					"OPENAI_BASE_URL="+endpoint, "OPENAI_API_KEY=", "OPENROUTER_API_KEY=", "OPENAI_MODEL=", "HERMES_AGENT_BACKEND=")
				out, _ := cmd.CombinedOutput() // its status does not matter
				got := string(out)
				if strings.Contains(got, "]0;title") {
					heard.Store(true)
				}
				if strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }) {
					t.Errorf("%q prints %q", args, got)
				}
				if args[0] != "chat" && args[0] != "batch" && strings.Contains(got, "\ngood:   forged") {
					t.Errorf("%q prints a line that looks like its own: %q", args, got)
				}
			}
			play(t, "", "setup")
			var others sync.WaitGroup
			for _, args := range [][]string{
				{"status"}, {"doctor"}, {"config"}, {"config", "check"}, {"chat", "-q", "hi"}, {"batch", "--dataset", dataset, "--out", t.TempDir()},
			} {
				others.Go(func() { play(t, server.URL+"/v1", args...) }) // also if setup has kept nothing
			}
			others.Wait()
			if !heard.Load() {
				t.Error("nothing is shown of what the server says")
			}
		})
	}
}
