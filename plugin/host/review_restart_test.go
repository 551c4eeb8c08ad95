package host

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// The next day a session is enough: a buffer shows what is pending, and a rejection is in it and on
// the disk. The file was opened before the session, or after.
func TestAfterARestartASessionShowsTheHunks(t *testing.T) {
	for _, early := range []bool{false, true} {
		t.Run(fmt.Sprint("opened early ", early), func(t *testing.T) {
			inRepository(t, func(t *testing.T, open func() *editor, dir string) {
				later := filepath.Join(dir, "later.txt")
				e := open()
				e.open()
				e.lua(`vim.cmd.edit("later.txt")`)
				e.prompt("WRITE " + later + " ONE")
				e.until(`hunks("later.txt") == 1`)
				e.quit()
				e = open()
				if early {
					e.lua(`vim.cmd.edit("later.txt")`)
				}
				e.open()
				if !early {
					e.lua(`vim.cmd.edit("later.txt")`)
				}
				e.until(`hunks("later.txt") == 1`)
				e.lua(`ask("reject", "all")`)
				e.until(`done.ask`)
				e.is(`done.ask.err`, nil)
				e.is(`vim.api.nvim_buf_get_lines(vim.fn.bufnr("later.txt"), 0, -1, false)`, []string{"one"})
				e.is(`vim.bo.modified`, false)
				e.until(`require("hermes.doc.versions").state(vim.fn.bufnr("later.txt")) == "same"`)
				if text, err := os.ReadFile(later); err != nil || string(text) != "one\n" {
					t.Errorf("%q, %v", text, err)
				}
			})
		})
	}
}

// A file that an agent has deleted is pending on the next day as well, and comes back into a
// buffer.
func TestAfterARestartADeletedFileComesBack(t *testing.T) {
	inRepository(t, func(t *testing.T, open func() *editor, dir string) {
		e := open()
		e.open()
		e.prompt("REMOVE " + filepath.Join(dir, "notes.txt"))
		e.lua(`ask("files")`)
		e.until(`done.ask`)
		e.quit()
		e = open() // which edits notes.txt, a new file
		e.open()
		e.lua(`ask("files")`)
		e.until(`done.ask`)
		e.is(`#done.ask.result.files`, 1)
		e.lua(`ask("reject", "all")`)
		e.until(`done.ask`)
		e.is(`done.ask.err`, nil)
		e.until(`vim.deep_equal(vim.api.nvim_buf_get_lines(0, 0, -1, false), { "one", "two", "three" })`)
		if text, err := os.ReadFile(filepath.Join(dir, "notes.txt")); err != nil || string(text) != "one\ntwo\nthree\n" {
			t.Errorf("%q, %v", text, err)
		}
	})
}
