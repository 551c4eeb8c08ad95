package host

import (
	"fmt"
	"strings"
	"testing"
)

// notified gives the editor a screen and Neovim's own notifications.
func (e *editor) notified() {
	e.t.Helper()
	e.attach()
	e.lua(`
vim.notify = notify
function _G.bottom()
  vim.cmd.redraw()
  local cells = {}
  for col = 1, vim.o.columns do cells[col] = vim.fn.screenstring(vim.o.lines, col) end
  return table.concat(cells)
end
function _G.messages() return vim.api.nvim_exec2("messages", { output = true }).output end`)
}

// goesOn fails when Neovim waits for a key.
func (e *editor) goesOn() {
	e.t.Helper()
	mode, err := e.v.Mode()
	if err != nil || mode.Blocking {
		e.t.Fatalf("Neovim waits for a key: %+v, %v", mode, err)
	}
}

func TestAMessageShowsTheCauseAndTheHistoryAllOfIt(t *testing.T) {
	const hint = "gemini is not installed: npm install -g @google/gemini-cli"
	for name, start := range map[string]string{
		"the function": `hermes.connect("gemini")`,
		"the command":  `vim.cmd("Hermes connect gemini")`,
	} {
		t.Run(name, func(t *testing.T) {
			inEveryNeovim(t, func(t *testing.T, e *editor) {
				e.notified()
				e.lua(`
vim.cmd.runtime("plugin/hermes.lua")
vim.env.PATH = "/" .. ("a/long/folder/"):rep(20) .. ":/the/last/folder"`)
				e.lua(start)
				e.until(`messages():find("hermes: ", 1, true)`)
				e.goesOn()
				e.is(`vim.trim(bottom())`, "hermes: "+hint+" …")
				e.is(`messages():find("/the/last/folder", 1, true) == nil`, true)
				e.is(`table.concat(vim.fn.readfile(require("hermes.core.log").host_path())):find("/the/last/folder", 1, true) ~= nil`, true)
				e.is(`select(2, messages():gsub("\n?hermes: [^\n]*", ""))`, 1)
				for _, want := range []string{hint, `agent "gemini"`} {
					e.is(fmt.Sprintf(`messages():find(%q, 1, true) ~= nil`, want), true)
				}
				e.is(`vim.tbl_map(function(l) return l:match(" (%u+) ") end, vim.fn.readfile(require("hermes.core.log").path()))`, []string{"ERROR"})
			})
		})
	}
}

// Messages come in crowds, and while the user does other things.
func TestMessagesNeverMakeTheUserPressEnter(t *testing.T) {
	for name, c := range map[string]struct{ keys, option string }{
		"normal mode":            {},
		"insert mode":            {keys: "i"},
		"the command line":       {keys: ":echo 1"},
		"no flag T":              {option: "shortmess-=T"},
		"ruler in the last line": {option: "laststatus=0 ruler showcmd"},
	} {
		t.Run(name, func(t *testing.T) {
			inEveryNeovim(t, func(t *testing.T, e *editor) {
				e.notified()
				if c.option != "" {
					e.lua(`vim.cmd.set(vim.split(..., " "))`, c.option)
				}
				before := e.lua(`return vim.o.shortmess`)
				if _, err := e.v.Input(c.keys); err != nil {
					t.Fatal(err)
				}
				e.lua(`
for i = 1, 30 do
  require("hermes.core.log").notify(vim.log.levels.ERROR, "message " .. i .. " \n\27[31m日本" .. ("and so on "):rep(i * 5) .. "to its end " .. i)
end
vim.schedule(function() _G.shown = true end)`)
				e.goesOn()
				e.until(`shown`)
				e.goesOn()
				if _, err := e.v.Input("<Esc>"); err != nil {
					t.Fatal(err)
				}
				e.until(`vim.fn.mode() == "n"`)
				e.until(`vim.startswith(bottom(), "hermes: message 30 | <1b>[31m日本and so on")`)
				e.goesOn()
				for _, want := range []string{"message 1 | <1b>[31m日本and so on", "to its end 1\n", "message 30 | ", "to its end 29\n"} {
					e.is(fmt.Sprintf(`messages():find(%q, 1, true) ~= nil`, want), true)
				}
				if after := e.lua(`return vim.o.shortmess`); after != before {
					t.Errorf("'shortmess' is %q, was %q", after, before)
				}
			})
		})
	}
}

func TestAnotherNotifierGetsTheWholeText(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.notified()
		e.lua(`
vim.notify = function(text) notes[#notes + 1] = text end
require("hermes.core.log").notify(vim.log.levels.ERROR, ...)`, strings.Repeat("word ", 300)+"end")
		e.until("#notes == 1")
		e.is(`vim.endswith(notes[1], "word end")`, true)
	})
}

func TestTheCommandReportsAnErrorOnceAsOne(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.lua(`
vim.cmd.runtime("plugin/hermes.lua")
vim.notify = function(text, level) notes[#notes + 1] = level .. " " .. text end`)
		for _, c := range []struct{ command, want string }{
			{"Hermes connect nosuch", `4 hermes: unknown agent "nosuch": give connect a command`},
			{"Hermes connect gemin", `4 hermes: unknown agent "gemin": did you mean "gemini"? Otherwise give connect a command`},
			{"Hermes disconnect nosuch", `4 hermes: disconnect: agent "nosuch" is not connected`},
			{"Hermes new", `4 hermes: no agent is connected; connect one with :Hermes connect or hermes.connect(name)`},
			{"Hermes connect missing", `4 hermes: no-such-program is not installed (agent "missing")`},
		} {
			e.lua(`notes = {}; vim.fn.delete(require("hermes.core.log").path()); vim.cmd(...)`, c.command)
			e.until("#notes > 0")
			e.is(fmt.Sprintf("notes[1]:sub(1, %d)", len(c.want)), c.want)
			e.is(`(function() vim.wait(50); return #notes end)()`, 1)
			e.is(`vim.tbl_map(function(l) return l:match(" (%u+) ") end, vim.fn.readfile(require("hermes.core.log").path()))`, []string{"ERROR"})
		}
	})
}
