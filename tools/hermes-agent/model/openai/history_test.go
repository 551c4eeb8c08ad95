package openai

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/test/llm"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// Whatever a session has gone through and whatever an endpoint refuses, the strictest
// endpoint accepts the next request, and no text is missing in it.
func TestEveryHistoryIsAccepted(t *testing.T) {
	t.Parallel()
	seed := uint64(1)
	if soak.Duration(t) > 0 {
		seed = rand.Uint64()
	}
	if s, err := strconv.ParseUint(os.Getenv("HERMES_SEED"), 10, 64); err == nil {
		seed = s
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for range 3000 {
		history, said := someHistory(random)
		profile := Profile{}
		for _, what := range []string{pictures, tools, system, streaming, "thinking", extras} {
			if random.IntN(4) == 0 {
				profile.Refuses = append(profile.Refuses, what)
			}
		}
		for _, what := range []string{signature, content, defaultReasoning} {
			if random.IntN(4) == 0 {
				profile.Demands = append(profile.Demands, what)
			}
		}
		profile.Reasoning = []string{"", "reasoning", "text", "content"}[random.IntN(4)]
		before := fmt.Sprintf("%+v", history)
		request := model.Request{Model: "m", Messages: history, Tools: []model.Spec{{Name: "read", Parameters: []byte(`{}`)}}}
		body, err := bytesOf(requestBody(request, profile, "m"))
		if err == nil {
			err = llm.Judge(body)
		}
		if err != nil {
			t.Fatalf("HERMES_SEED=%d: %v\nof %+v\nwith %+v: %s", seed, err, history, profile, body)
		}
		for _, word := range said {
			if n := strings.Count(string(body), word); n != 1 {
				t.Fatalf("HERMES_SEED=%d: %q is there %d times\nof %+v\nwith %+v: %s", seed, word, n, history, profile, body)
			}
		}
		if after := fmt.Sprintf("%+v", history); after != before {
			t.Fatalf("HERMES_SEED=%d: the session has changed: %s", seed, after)
		}
	}
}

// someHistory is what may be stored of a session, and the words in it.
func someHistory(random *rand.Rand) (history []model.Message, said []string) {
	one := func(list ...string) string { return list[random.IntN(len(list))] }
	words := func() string {
		if random.IntN(4) == 0 {
			return one("", " ", "\n")
		}
		said = append(said, fmt.Sprintf("word %d.", len(said)))
		return said[len(said)-1]
	}
	picture := func() []model.Image {
		if random.IntN(4) == 0 {
			return []model.Image{{MimeType: "image/png", Data: "AAAA"}}
		}
		return nil
	}
	if random.IntN(4) > 0 {
		history = append(history, model.Message{Role: model.System, Text: "be good"})
	}
	calls := 0
	for range random.IntN(12) {
		switch random.IntN(3) {
		case 0:
			history = append(history, model.Message{Role: model.User, Text: words(), Images: picture()})
		case 1:
			history = append(history, model.Message{Role: model.Assistant, Text: words(), Reasoning: one("", "hm"), From: one("", "m", "n"),
				Opaque: model.Opaque{"reasoning_details": json.RawMessage(`["\ud83d"]`)}})
		default:
			m := model.Message{Role: model.Assistant, Text: words(), Reasoning: one("", "hm")}
			for range 1 + random.IntN(3) {
				calls++
				m.Calls = append(m.Calls, model.Call{
					ID:        fmt.Sprintf("call%05d", calls),
					Name:      one("read", "", "functions.read:0", "read file", "a\ufffd", strings.Repeat("é", 70)),
					Arguments: one("{}", `{"path":"\ud83d"}`, `{"path":"\ud83d\ude00"}`, "", "null", "[]", `{"pa`, "\xff"),
				})
			}
			history = append(history, m)
			for _, c := range m.Calls {
				if random.IntN(8) > 0 { // else it was killed
					history = append(history, model.Message{Role: model.Tool, CallID: c.ID, Text: words(), Images: picture()})
				}
			}
		}
	}
	return history, said
}
