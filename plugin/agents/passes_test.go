package agents

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/reviews"
	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/traffic"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// lone is a connection with a session s and without a Neovim or an agent.
func lone(t testing.TB) *connection {
	a := New(Options{
		Editor: say.New(wire.NewQueue(1<<40, nil), slog.New(slog.DiscardHandler)), Context: t.Context(),
		Config: func() *setup.Config { return new(setup.Config) }, Reviews: new(reviews.Reviews), Traffic: new(traffic.Listening), Rules: new(ask.Rules),
	})
	c := newConnection(t.Context(), a, "a", setup.Command{})
	c.addSession("s", []string{"/"})
	return c
}

// passes counts how often text with the mark is read and written during f.
func passes(mark string, f func()) (read, written int64) {
	var r, w atomic.Int64
	count := func(n *atomic.Int64) func([]byte) {
		return func(text []byte) {
			if bytes.Contains(text, []byte(mark)) {
				n.Add(1)
			}
		}
	}
	watch := jx.Watch{Read: count(&r), Written: count(&w)}
	defer watch.Start()()
	f()
	return r.Load(), w.Load()
}

// A chunk goes from the line of the agent to the queue of Neovim.
func TestAChunkIsReadTwiceAtMostAndNotWrittenAgain(t *testing.T) {
	c := lone(t)
	here, there := transport.Pair()
	conn := rpc.NewConn(here, c.client.Handler(c), rpc.Options{})
	defer conn.Close()
	n := 0
	var batch []wire.Item
	arrives := func(update string) (read, written int64) {
		n++
		mark := fmt.Sprintf("mark %d", n)
		read, written = passes(mark, func() {
			err := there.Write([]byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + fmt.Sprintf(update, mark) + `}}`))
			if err != nil {
				t.Fatal(err)
			}
			patience.True(t, "the update", func() bool {
				batch, _ = c.agents.Queue.Take()
				return len(batch) > 0
			})
		})
		if len(batch) != 1 || !bytes.Contains(batch[0].JSON, []byte(mark)) {
			t.Errorf("%s: Neovim gets %v", update, batch)
		}
		return read, written
	}
	chunk := `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}%s}`
	short, long := fmt.Sprintf(chunk, "%s", ""), fmt.Sprintf(chunk, "%s"+strings.Repeat(` a \"word\"`, 2000), "")
	for _, update := range []string{
		short, long,
		fmt.Sprintf(chunk, "%s", `,"messageId":null,"_meta":{"a":[1,2]},"later":true`),
		`{"sessionUpdate":"_later","a":"%s"}`,
	} {
		if read, written := arrives(update); read < 1 || read > 2 || written != 0 {
			t.Errorf("%.200s: read %d times and written %d times", update, read, written)
		}
	}
	plain, _ := arrives(short)
	if read, _ := arrives(fmt.Sprintf(chunk, "%s", `,"later":[null]`)); read != plain+1 {
		t.Errorf("what is rewritten for Lua is read %d times, other chunks %d times", read, plain)
	}
	if _, written := arrives(fmt.Sprintf(chunk, "%s", `,"messageId":5`)); written == 0 {
		t.Error("what the decoder forgave reaches Lua")
	}
}

// A prompt goes from the operation of Neovim to the request for the agent, with
// the data of its events.
func TestAPromptIsReadThriceAtMostAndNotWrittenForNeovim(t *testing.T) {
	const image = `{"type":"image","mimeType":"image/png","data":"%s"}`
	prompt := func(op string, mark string) (r *request, read, written int64) {
		read, written = passes(mark, func() {
			var p Request
			err := p.Read(strings.ReplaceAll(op, "%s", mark))
			if err == nil {
				r, err = newRequest("prompt-1", p.Method, p.Params)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		return r, read, written
	}
	const op = `{"agent":"a","method":"session/prompt","params":{"prompt":[{"type":"text","text":"look"},` + image + `%more],"sessionId":"s"}}`
	r, read, written := prompt(strings.ReplaceAll(op, "%more", ""), "mark 1")
	if read < 1 || read > 3 || written != 0 {
		t.Errorf("read %d times and written %d times", read, written)
	}
	if r.session != "s" || len(r.prompt.Blocks) != 2 || string(r.prompt.Blocks[1].Text) != strings.ReplaceAll(image, "%s", "mark 1") {
		t.Errorf("session %q, blocks %v", r.session, r.prompt.Blocks)
	}
	for name, c := range map[string]struct{ more, want string }{
		"what Lua cannot hold":     {`,{"type":"text","text":"t","_meta":{"n":[null,12345678901234567890]}}`, `{"type":"text","text":"t","_meta":{"n":["12345678901234567890"]}}`},
		"what the decoder forgave": {`,{"type":"text","text":"t","annotations":{"priority":"x"}}`, `{"type":"text","annotations":{},"text":"t"}`},
	} {
		r, _, _ := prompt(strings.ReplaceAll(op, "%more", c.more), "mark 2")
		if got := string(r.prompt.Blocks[2].Text); got != c.want {
			t.Errorf("%s: Lua gets %s, want %s", name, got, c.want)
		}
	}
}

// BenchmarkUpdate is what a chunk costs from the params to the item for Neovim.
func BenchmarkUpdate(b *testing.B) {
	c := lone(b)
	h := c.client.Handler(c)
	for _, size := range []int{20, 200, 20 << 10} {
		params := []byte(`{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` +
			strings.Repeat("wordy text ", size)[:size] + `"}}}`)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := h.HandleNotification(b.Context(), acp.MethodSessionUpdate, params); err != nil {
					b.Fatal(err)
				}
				c.agents.Queue.Take()
			}
		})
	}
}
