package wire

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
			cmd := exec.Command(program.Path, "--clean", "--embed", "--headless", "-n", "--cmd", "set rtp^="+editors.Root(t))
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
			v, err := NewChannel(out, in, slog.New(slog.DiscardHandler), func(op, id, json string) {})
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
			line := func(text string) Item { return new(Object).Str("agent", "a").Str("line", text).Item("AgentStderr") }
			bad := Item{Kind: "AgentStderr", JSON: []byte(`{"line":}`)}
			var lost []Item
			for _, batch := range [][]Item{{line("a"), line("b")}, {line("c"), bad, line("d")}, {bad}, {line("e")}} {
				DeliverAll(v, batch, func(it Item, err error) { lost = append(lost, it) })
			}
			var heard string
			if err := v.ep.Call("nvim_exec_lua", &heard, `return heard`, []any{}); err != nil || heard != "abcde" {
				t.Errorf("heard %q, %v", heard, err)
			}
			if len(lost) != 2 || string(lost[0].JSON) != string(bad.JSON) {
				t.Errorf("lost %d items, want the 2 bad ones", len(lost))
			}
		})
	}
}
