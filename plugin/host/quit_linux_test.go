package host

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/hermes-nvim/hermes/test/editors"
)

// After an orderly quit nothing of Hermes runs, and nothing writes to the folders of
// Neovim: whoever removes them, or starts Neovim again, meets nobody.
func TestAnOrderlyQuitLeavesNothingThatRunsOrWrites(t *testing.T) {
	for name, before := range map[string]func(e *editor){
		"no session": func(e *editor) {
			e.lua(`hermes.connect("tester", { on_done = finish("connect") })`)
			e.until("done.connect")
		},
		"a session": (*editor).open,
		"a turn has ended": func(e *editor) {
			e.open()
			e.prompt(fmt.Sprintf("WRITE %v/a.txt one", e.lua(`return vim.fn.getcwd()`)))
		},
		"in a turn": func(e *editor) { e.open(); e.lua(`hermes.prompt(s, "SAY on\nWAIT 10m")`); e.until(`said() == "on"`) },
		"ignores its input": func(e *editor) {
			e.openWith(`"deaf"`)
			e.lua(`hermes.prompt(s, "SAY on\nWAIT 10m")`)
			e.until(`said() == "on"`)
		},
		"a command runs": func(e *editor) {
			e.open()
			e.lua(`hermes.prompt(s, "SAY on\nRUN sleep 600")`)
			e.until(`said() == "on" and #of("TerminalStarted") == 1`)
		},
		"a program's terminal": func(e *editor) {
			e.open()
			e.lua(terminalProgram)
			e.until(`stubborn and vim.fn.filereadable("up") == 1`)
		},
		"the host is starting": func(e *editor) { e.lua(`hermes.connect("tester")`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, program := range editors.All(t) {
				t.Run(program.Version, func(t *testing.T) {
					t.Parallel()
					dir, state := t.TempDir(), editors.StateDir(t)
					e := newEditorIn(t, program.Path, dir, state)
					e.lua(`
hermes.setup({ agents = { deaf = agent("DEAF\n" .. serving .. "\nWAIT 1h") } })
hermes.on_request("PermissionRequest", function() return "allow" end)`)
					e.lua(`require("hermes.core.quit").limit_ms = 60000`) // on a busy machine
					before(e)
					nvim := e.pid()
					all := descendants(t, nvim)
					go e.v.Command("qall!")
					waitGone(t, nvim)
					written := filesIn(t, state, dir)
					for _, pid := range all {
						line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
						if !gone(pid) {
							t.Errorf("process %d still runs: %q", pid, line)
							waitGone(t, pid)
						}
					}
					later := filesIn(t, state, dir)
					for path := range written {
						if later[path] == "" {
							t.Errorf("removed after the quit: %s", path)
						}
					}
					for path, is := range later {
						if is != written[path] {
							t.Errorf("written after the quit: %s: %s, was %q", path, is, written[path])
						}
					}
				})
			}
		})
	}
}

// terminalProgram takes its time to end when its terminal goes away.
const terminalProgram = `
local buf = vim.api.nvim_create_buf(true, false)
_G.stubborn = require("hermes.core.job").terminal(buf, nil, { "sh", "-c", "trap 'sleep 0.3; exit' HUP TERM; >up; while :; do sleep 0.1; done" }, { cwd = vim.fn.getcwd() })`

// filesIn returns the files below folders, with their sizes and times.
func filesIn(t *testing.T, folders ...string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			files[path] = fmt.Sprintf("%d bytes of %v", info.Size(), info.ModTime())
			return nil
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return files
}
