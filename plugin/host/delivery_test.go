package host

import (
	"log/slog"
	"os/exec"
	"testing"

	"github.com/hermes-nvim/hermes/test/editors"
)

func TestOfABatchThatCannotBeDecodedOnlyTheBadItemIsLost(t *testing.T) {
	for _, program := range editors.All(t) {
		t.Run(program.Version, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(program.Path, "--clean", "--embed", "--headless", "-n", "--cmd", "set rtp^="+root(t))
			cmd.Dir = t.TempDir()
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			v, err := newChannel(out, in, slog.New(slog.DiscardHandler), func(op, id, json string) {})
			if err != nil {
				t.Fatal(err)
			}
			go v.Serve()
			t.Cleanup(func() {
				v.Close()
				cmd.Wait()
			})
			if err := v.ep.Call("nvim_exec_lua", nil, `
_G.heard = ""
vim.api.nvim_create_autocmd("User", { pattern = "AgentStderr", callback = function(args)
  heard = heard .. args.data.line
end })`, []any{}); err != nil {
				t.Fatal(err)
			}
			h := &Host{log: slog.New(slog.DiscardHandler), nvim: v, queue: newQueue(queueBytes), ctx: t.Context()}
			line := func(text string) item {
				return event(eventAgentStderr, new(object).str("agent", "a").str("line", text))
			}
			bad := item{kind: eventAgentStderr, json: []byte(`{"line":}`)}
			for _, batch := range [][]item{{line("a"), line("b")}, {line("c"), bad, line("d")}, {bad}, {line("e")}} {
				h.deliver(batch)
			}
			var heard string
			if err := v.ep.Call("nvim_exec_lua", &heard, `return heard`, []any{}); err != nil || heard != "abcde" {
				t.Errorf("heard %q, %v", heard, err)
			}
			notices, _ := h.queue.take()
			if len(notices) != 2 || notices[0].kind != kindNotice {
				t.Errorf("%d notices for 2 bad items", len(notices))
			}
			// A Neovim that takes nothing at all must not be told so over and over.
			h.deliver([]item{{kind: kindNotice, json: []byte("{")}})
			if more, _ := h.queue.take(); len(more) > 0 {
				t.Errorf("a lost notice makes another: %s", more[0].json)
			}
		})
	}
}
