package sinks

import (
	"slices"
	"strings"
	"testing"
)

// A long message, or a second one, makes Neovim ask for Enter, which stops all events until the
// user answers. Only lua/hermes/core/log.lua shows messages: what fits on the screen, with all of it
// in the history.

var messageFunctions = strings.Fields("vim.notify vim.notify_once vim.print print vim.api.nvim_err_writeln vim.api.nvim_err_write vim.api.nvim_out_write")

// messageUses lists what Lua code calls or hands on to show messages.
func messageUses(text string) (uses []string) {
	code := scan(text)
	for i, t := range code {
		if t.kind != 'n' || at(code, i+1).is(".") {
			continue
		}
		if full := path(code, i); slices.Contains(messageFunctions, full) {
			uses = append(uses, full)
		}
	}
	return uses
}

func TestOneLuaModuleShowsMessages(t *testing.T) {
	t.Parallel()
	for name, text := range sources(t) {
		if !strings.HasPrefix(name, "lua/") && !strings.HasPrefix(name, "plugin/") || name == "lua/hermes/core/log.lua" {
			continue
		}
		if uses := messageUses(text); len(uses) > 0 {
			t.Errorf("%s uses %s; messages are for show() and notify() of lua/hermes/core/log.lua", name, strings.Join(uses, ", "))
		}
	}
}

func TestTheCheckFindsEachMessage(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		`vim.notify("x", 2)`: "vim.notify", `pcall(vim.notify, x)`: "vim.notify", `print(x)`: "print", `vim.notify_once(x)`: "vim.notify_once",
		`wanted.notify(x)`: "", `M.notify(x)`: "", `log.notify(1, x)`: "", `-- vim.notify(x)`: "", `vim.api.nvim_err_writeln(x)`: "vim.api.nvim_err_writeln",
	} {
		if got := strings.Join(messageUses(code), " "); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}
