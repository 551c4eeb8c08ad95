package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hermes-nvim/hermes/internal/gobuild"
)

// An agent gets the environment that Neovim has when the agent starts, not the one from the
// start of the host.
func TestAgentsGetTheEnvironmentThatNeovimHasNow(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		dir := t.TempDir()
		exe := testAgent(t)
		if err := gobuild.Write(filepath.Join(dir, "late-agent"), "#!/bin/sh\nprintenv LC_LATE LC_GONE LC_BYTES > "+dir+"/env\nexec "+exe+"\n"); err != nil {
			t.Fatal(err)
		}
		e.lua(`
local dir = ...
vim.env.LC_GONE, vim.env.LC_LATE = "before", "before"
hermes.connect("tester", { on_done = finish("first") })
hermes.setup({ agents = { tester = agent(serving), late = { command = "late-agent", env = { HERMES_TEST_SCENARIO = serving } } } })`, dir)
		e.until("done.first")
		for n, want := range []string{"now=1 \n\xff\n", "now=2\n\xff\n"} {
			e.lua(`
local dir, n = ...
done.late = nil
if n == 0 then vim.env.PATH = dir .. ":" .. vim.env.PATH end
vim.env.LC_LATE, vim.env.LC_GONE, vim.env.LC_BYTES = n == 0 and "now=1 " or "now=2", nil, "\255"
hermes.connect("late", { on_done = finish("late") })`, dir, n)
			e.until("done.late")
			e.is("done.late.err == nil", true)
			if got, err := os.ReadFile(filepath.Join(dir, "env")); err != nil || string(got) != want {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
			e.lua(`done.off = nil; hermes.disconnect("late", { on_done = finish("off") })`)
			e.until("done.off")
		}
	})
}
