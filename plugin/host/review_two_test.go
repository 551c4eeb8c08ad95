package host

import (
	"os"
	"path/filepath"
	"testing"
)

// A project has one review, however many Neovims are open there.

// The review is in the Neovim whose user looks at it or sends a prompt.
func TestTheReviewGoesToTheNeovimThatIsUsed(t *testing.T) {
	inRepository(t, func(t *testing.T, open func() *editor, dir string) {
		notes, later := filepath.Join(dir, "notes.txt"), filepath.Join(dir, "later.txt")
		pending := func(e *editor, opts string, files, elsewhere int) {
			t.Helper()
			e.lua(`done.ask = nil; hermes.review.files(vim.tbl_extend("error", ` + opts + `, { on_done = finish("ask") }))`)
			e.until(`done.ask`)
			e.is(`done.ask.err`, nil)
			e.is(`{ #done.ask.result.files, #done.ask.result.elsewhere }`, []int{files, elsewhere})
		}
		a := open()
		a.open()
		a.prompt("EDIT " + notes + ` one\nTWO\nthree\n`)
		a.until(`hunks("notes.txt") == 1`)
		b := open()
		b.open()
		pending(b, `{}`, 0, 1) // a script that asks again and again does not take it away
		a.until(`hunks("notes.txt") == 1`)

		pending(b, `{ open = true }`, 1, 0) // what :Hermes review asks
		b.until(`hunks("notes.txt") == 1`)
		a.until(`hunks("notes.txt") == 0`)
		pending(a, `{ open = true }`, 1, 0)
		a.until(`hunks("notes.txt") == 1`)
		b.until(`hunks("notes.txt") == 0`)

		b.prompt("EDIT " + later + ` ONE\n`)
		pending(b, `{}`, 2, 0)
		b.lua(`ask("reject", { path = ... })`, notes)
		b.until(`done.ask`)
		b.is(`vim.fn.getline(2)`, "two")
		a.lua(`vim.cmd.checktime()`)
		a.until(`vim.fn.getline(2) == "two"`)
		pending(a, `{ open = true }`, 1, 0)
		a.is(`notes`, []string{})
		b.is(`notes`, []string{})
	})
}

// The review stays where an agent works, and has what is changed from the other Neovim: its
// agents' changes as theirs, and what its user saves as the user's.
func TestTheReviewStaysWhereAnAgentWorks(t *testing.T) {
	inRepository(t, func(t *testing.T, open func() *editor, dir string) {
		notes, later, made := filepath.Join(dir, "notes.txt"), filepath.Join(dir, "later.txt"), filepath.Join(dir, "made.txt")
		a := open()
		a.open()
		end := filepath.Join(t.TempDir(), "go")
		a.lua(`hermes.prompt(s, ..., { on_done = finish("turn") })`, "EDIT "+later+` ONE\n`+"\nUNTIL "+end)
		a.until(`(hermes.review.files({ on_done = finish("ask") }) and done.ask and #done.ask.result.files or 0) == 1`)
		b := open()
		b.openWith(`"second"`)
		b.prompt("EDIT " + notes + ` one\nTWO\nthree\n` + "\nTOUCH " + made + ` new\n`)
		b.is(`notes[1]:gsub("process %d+", "process N")`, "hermes: process N (Hermes in Neovim) reviews "+dir+" and keeps the review: tester works there; what agents change here is in that review")
		a.until(`hunks("notes.txt") == 1`)
		a.is(`hermes.review.hunks()[1].agent`, "second")
		b.lua(`vim.fn.setline(3, "THREE"); vim.cmd.write()`)
		a.until(`vim.fn.getline(3) == "THREE"`)
		if err := os.WriteFile(end, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		a.until(`done.turn`)
		a.lua(`ask("reject", { path = ... })`, notes)
		a.until(`done.ask`)
		a.is(`vim.api.nvim_buf_get_lines(0, 0, -1, false)`, []string{"one", "two", "THREE"})
		b.lua(`done.ask = nil; hermes.review.files({ open = true, on_done = finish("ask") })`)
		b.until(`done.ask`)
		b.is(`#done.ask.result.files`, 2) // later.txt and made.txt
	})
}

// A save that another Neovim has yet to report is not taken back with an agent's change: before
// a decision, the other Neovims say what they have.
func TestADecisionKnowsWhatIsSavedElsewhere(t *testing.T) {
	for name, hold := range map[string]string{
		"its autocommands take time":          `while not vim.uv.fs_stat(go) do vim.uv.sleep(5) end`,
		"its autocommands wait for something": `vim.wait(60000, function() return vim.uv.fs_stat(go) ~= nil end, 5)`,
	} {
		t.Run(name, func(t *testing.T) {
			inRepository(t, func(t *testing.T, open func() *editor, dir string) {
				notes, held := filepath.Join(dir, "notes.txt"), t.TempDir()
				goOn := func(name string) {
					if err := os.WriteFile(filepath.Join(held, name), nil, 0o600); err != nil {
						t.Error(err)
					}
				}
				defer goOn("end")
				a := open()
				a.open()
				a.lua(`hermes.prompt(s, ...)`, "EDIT "+notes+` one\nTWO\nthree\n`+"\nUNTIL "+filepath.Join(held, "end"))
				a.until(`hunks("notes.txt") == 1`)
				b := open()
				b.openWith(`"second"`)
				b.until(`vim.fn.getline(2) == "TWO"`)
				b.lua(`hermes.setup({ review = false }) -- the user's autocommands come first
local go = ...
vim.api.nvim_create_autocmd("BufWritePost", { once = true, callback = function() `+hold+` end })
hermes.setup({ review = true })
hermes.review.files({ on_done = finish("asked") })`, filepath.Join(held, "go"))
				b.until(`done.asked`)
				b.lua(`vim.schedule(function() vim.fn.setline(3, "THREE"); vim.cmd.write() end)`)
				a.until(`vim.fn.getline(3) == "THREE"`)
				a.lua(`ask("reject", { path = ... })`, notes)
				a.lua(`vim.wait(500, function() return done.ask ~= nil end, 5)`) // it waits for the other Neovim
				goOn("go")
				a.until(`done.ask`)
				a.is(`done.ask.err`, nil)
				a.is(`vim.api.nvim_buf_get_lines(0, 0, -1, false)`, []string{"one", "two", "THREE"})
			})
		})
	}
}

// The review stays with the Neovim that has a file with unsaved changes.
func TestTheReviewStaysWhereAFileIsNotSaved(t *testing.T) {
	inRepository(t, func(t *testing.T, open func() *editor, dir string) {
		a := open()
		a.open()
		a.prompt("EDIT " + filepath.Join(dir, "notes.txt") + ` one\nTWO\nthree\n`)
		a.until(`hunks("notes.txt") == 1`)
		a.lua(`vim.fn.setline(3, "THREE")`)
		b := open()
		b.lua(`done.ask = nil; hermes.review.files({ open = true, on_done = finish("ask") })`)
		b.until(`done.ask`)
		b.is(`{ #done.ask.result.files, #done.ask.result.elsewhere }`, []int{0, 1})
		b.is(`notes[1]:gsub("^.*keeps", "keeps")`, "keeps the review: notes.txt is not saved there; what agents change here is in that review")
		// The notice says who has the review, not that nothing is pending.
		b.lua(`vim.cmd.runtime("plugin/hermes.lua"); vim.cmd("Hermes review")`)
		b.until(`#notes == 2`)
		b.is(`notes[2]:gsub("process %d+", "process N")`, "hermes: process N (Hermes in Neovim) reviews "+dir)
		a.lua(`vim.cmd.write()`)
		b.lua(`done.ask = nil; hermes.review.files({ open = true, on_done = finish("ask") })`)
		b.until(`done.ask and #done.ask.result.files == 1`)
	})
}

// A Neovim that cannot have the review has it when the other ends, also of the turn that runs.
func TestASecondNeovimTakesOver(t *testing.T) {
	inRepository(t, func(t *testing.T, open func() *editor, dir string) {
		a := open()
		a.open()
		a.prompt("EDIT " + filepath.Join(dir, "later.txt") + ` ONE\n`)
		a.lua(`vim.fn.setline(3, "THREE")`)
		a.lua(`vim.cmd.edit("later.txt")`)
		a.until(`hunks("later.txt") == 1`)
		a.lua(`vim.fn.append(0, "above")`)
		b := open()
		b.open()
		begin := filepath.Join(t.TempDir(), "go")
		b.lua(`hermes.prompt(s, ...)`, "UNTIL "+begin+"\nEDIT "+filepath.Join(dir, "notes.txt")+` one\nTWO\nthree\n`)
		b.until(`#notes == 1`)
		a.quit()
		b.until(`#notes == 2`)
		if err := os.WriteFile(begin, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		b.until(`hunks("notes.txt") == 1`)
		b.lua(`ask("files")`)
		b.until(`done.ask`)
		b.is(`{ #done.ask.result.files, #done.ask.result.elsewhere }`, []int{2, 0})
	})
}
