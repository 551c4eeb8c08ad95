package agent

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/test/llm/dialect"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model/openai"
)

// Each habit of a server is a test: the user sees what the model did, or why not in the
// words of the endpoint.
func TestTheAgentSpeaksEveryDialect(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, d := range dialect.All() {
		if seen[d.Name] {
			t.Errorf("there are two dialects %q", d.Name)
		}
		seen[d.Name] = true
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			server, err := d.Serve()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { server.Close() })
			client := openai.New(openai.Options{BaseURL: server.URL, Retries: 2, FirstPause: time.Millisecond})
			e := newEditor(t)
			e.model = client
			if e.sizes, err = client.Models(t.Context()); err != nil {
				t.Fatal(err)
			}
			e.can = func(c *acp.ClientCapabilities) {
				c.Session = &acp.ClientSessionCapabilities{Notices: &acp.NoticeCapabilities{}, Compaction: &acp.CompactionCapabilities{}}
			}
			e.start()
			e.file("a.txt", "one\n")
			id := e.open()
			prompt := "go"
			if strings.HasPrefix(d.Name, "full") {
				e.prompt(id, acp.NewTextContent(strings.Repeat("a long prompt ", 3000)))
			}
			reason, err := e.prompt(id, acp.NewTextContent(prompt))
			if fault := (*acp.Error)(nil); errors.As(err, &fault) {
				reason = acp.StopReason(fault.Message)
			}
			asked := server.Requests()
			all := e.take()
			if d.Fails == "" && reason != acp.StopReasonEndTurn || !strings.Contains(string(reason), d.Fails) {
				t.Errorf("the turn ended with %q, want %q", reason, d.Fails)
			}
			if got := brief(all); got != d.Shows {
				t.Errorf("the user sees\n%s\nand not\n%s\nof\n%s", got, d.Shows, all)
			}
			if !strings.Contains(all, d.Told) {
				t.Errorf("nothing says %q:\n%s", d.Told, all)
			}
			if d.Asked > 0 && len(asked) != d.Asked {
				t.Errorf("%d requests, want %d", len(asked), d.Asked)
			}
			for _, want := range d.Sends {
				if last := asked[len(asked)-1]; !regexp.MustCompile(want).MatchString(last) {
					t.Errorf("no %s in the request %s", want, last)
				}
			}
			if learned, err := json.Marshal(client.Profile("scripted")); err != nil || !strings.Contains(string(learned), d.Learns) {
				t.Errorf("learned %s, %v, and not %s", learned, err, d.Learns)
			}
			if d.Fails == "" { // the session goes on
				e.play(id, "go on", acp.StopReasonEndTurn)
			}
		})
	}
	if len(seen) < 100 {
		t.Errorf("there are %d dialects", len(seen))
	}
}

// brief is what was shown without notices and results.
func brief(shown string) string {
	var list []string
	starts := regexp.MustCompile(`(?m)^(agent: |thought: |call |notice: |compaction: |plan: |  (?:in_progress|completed|failed))`).FindAllStringIndex(shown, -1)
	for i, at := range starts {
		end := len(shown)
		if i+1 < len(starts) {
			end = starts[i+1][0] - 1
		}
		entry := shown[at[0]:end]
		switch word := shown[at[0]:at[1]]; {
		case word == "agent: ", word == "thought: ":
			list = append(list, entry)
		case word == "call ":
			title, _, _ := strings.Cut(entry, ":")
			list = append(list, title)
		case word == "  completed", word == "  failed":
			list[len(list)-1] += strings.TrimPrefix(word, " ")
		}
	}
	return strings.Join(list, " | ")
}
