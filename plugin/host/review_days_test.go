package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hermes-nvim/hermes/test/editors"
)

// inRepository runs a test in a folder that git knows, with notes.txt open in each
// version of Neovim.
func inRepository(t *testing.T, test func(t *testing.T, open func() *editor, dir string)) {
	t.Parallel()
	for _, program := range editors.All(t) {
		t.Run(program.Version, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("one\ntwo\nthree\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "later.txt"), []byte("one\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			git(t, dir, "init", "-q")
			git(t, dir, "add", ".")
			git(t, dir, "commit", "-qm", "begin")
			state := editors.StateDir(t)
			test(t, func() *editor {
				e := newEditorIn(t, program.Path, dir, state)
				e.lua(`hermes.setup({ review = true })
function _G.hunks(name) return #hermes.review.hunks(vim.fn.bufnr(name)) end
function _G.ask(verb, ...)
  done.ask = nil
  local args = { ... }
  args[#args + 1] = { on_done = finish("ask") }
  hermes.review[verb](unpack(args))
end
vim.cmd.edit("notes.txt")`)
				return e
			}, dir)
		})
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
}

func (e *editor) quit() {
	e.t.Helper()
	e.v.Command("qa!") // which gets no answer
	e.v.Close()
}

// Changes that were pending when Neovim ended are in the buffers of the next one,
// also in files that are opened later.
func TestAfterARestartTheHunksAreInTheBuffers(t *testing.T) {
	inRepository(t, func(t *testing.T, open func() *editor, dir string) {
		e := open()
		e.open()
		e.prompt("EDIT " + filepath.Join(dir, "notes.txt") + ` one\nTWO\nthree\n` + "\nEDIT " + filepath.Join(dir, "later.txt") + ` ONE\n`)
		e.until(`hunks("notes.txt") == 1`)
		e.quit()
		e = open()
		e.lua(`ask("files")`)
		e.until(`hunks("notes.txt") == 1`)
		e.lua(`ask("files")`)
		e.until(`done.ask`)
		e.is(`#done.ask.result.files`, 2)
		e.lua(`vim.cmd.edit("later.txt")`)
		e.until(`hunks("later.txt") == 1`)
		e.lua(`vim.cmd.buffer("notes.txt"); vim.fn.cursor(1, 1); vim.cmd("Hermes review next")`)
		e.is(`vim.fn.line(".")`, 2)
		e.lua(`ask("reject", hermes.review.hunks()[1])`)
		e.until(`done.ask`)
		e.is(`vim.api.nvim_buf_get_lines(0, 0, -1, false)`, []string{"one", "two", "three"})
		e.until(`hunks("notes.txt") == 0`)
		e.lua(`vim.cmd("Hermes review")`) // the session has ended, and is named by what it was asked
		e.until(`vim.bo.filetype == "hermes"`)
		e.is(`vim.fn.getline(1):find("1 hunk, EDIT ", 1, true) ~= nil`, true)
	})
}

// A stash takes hunks away, and brings them back as the agent's.
func TestAStashTakesHunksAwayAndBringsThemBack(t *testing.T) {
	inRepository(t, func(t *testing.T, open func() *editor, dir string) {
		e := open()
		e.open()
		e.prompt("EDIT " + filepath.Join(dir, "notes.txt") + ` one\nTWO\nthree\n`)
		e.until(`hunks("notes.txt") == 1`)
		for range 2 {
			git(t, dir, "stash", "-q")
			e.lua(`vim.cmd.checktime()`)
			e.until(`vim.fn.getline(2) == "two" and hunks("notes.txt") == 0`)
			git(t, dir, "stash", "pop", "-q")
			e.lua(`vim.cmd.checktime()`)
			e.until(`vim.fn.getline(2) == "TWO" and hunks("notes.txt") == 1`)
		}
		e.is(`hermes.review.hunks()[1].agent`, "tester")
		git(t, dir, "stash", "-q")
		e.lua(`vim.cmd.checktime()`)
		e.until(`hunks("notes.txt") == 0`)
		e.quit()
		git(t, dir, "stash", "pop", "-q")
		e = open()
		e.lua(`ask("files")`)
		e.until(`hunks("notes.txt") == 1`)
	})
}

// A stash in a turn looks like the agent's. The changes that it took away are the agent's again
// after the turn.
func TestAStashInATurnTakesNothingForGood(t *testing.T) {
	inRepository(t, func(t *testing.T, open func() *editor, dir string) {
		e := open()
		e.open()
		on := filepath.Join(t.TempDir(), "on")
		e.lua(`hermes.prompt(s, ..., { on_done = finish("turn") })`, "EDIT "+filepath.Join(dir, "notes.txt")+` one\nTWO\nthree\n`+"\nUNTIL "+on)
		e.until(`hunks("notes.txt") == 1`)
		git(t, dir, "stash", "-q")
		e.lua(`vim.cmd.checktime()`)
		e.until(`vim.fn.getline(2) == "two" and hunks("notes.txt") == 0`)
		if err := os.WriteFile(on, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		e.until(`done.turn`)
		e.lua(`ask("files")`)
		e.until(`done.ask`)
		git(t, dir, "stash", "pop", "-q")
		e.lua(`vim.cmd.checktime()`)
		e.until(`vim.fn.getline(2) == "TWO" and hunks("notes.txt") == 1`)
		e.is(`hermes.review.hunks()[1].agent`, "tester")
	})
}
