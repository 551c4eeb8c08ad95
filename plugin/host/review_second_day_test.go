package host

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The next day, in another Neovim: what the agent did is stashed and comes back, the
// user has changed files meanwhile, and then everything of the agent is rejected. The
// folder is what it was, with what the user did.
func TestOnTheSecondDayRejectingGivesTheUsersFolder(t *testing.T) {
	inRepository(t, func(t *testing.T, open func() *editor, dir string) {
		path := func(name string) string { return filepath.Join(dir, name) }
		write := func(name, text string) {
			t.Helper()
			if err := os.WriteFile(path(name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write("mine.txt", "mine\n")
		first := open()
		first.open()
		first.prompt(strings.Join([]string{
			"EDIT " + path("notes.txt") + ` one\nTWO\nthree\nfour\n`,
			"EDIT " + path("later.txt") + ` ONE\n`,
			"EDIT " + path("new.txt") + ` new\n`,
		}, "\n"))
		first.until(`hunks("notes.txt") > 0`)
		first.lua(`vim.fn.append(0, "zero"); vim.cmd.write()`)
		second := open() // waits for the review
		second.lua(`ask("files")`)
		first.quit()
		git(t, dir, "stash", "-q")
		write("mine.txt", "mine\nand more\n")
		git(t, dir, "stash", "pop", "-q")
		second.lua(`vim.cmd.checktime()`)
		second.until(`vim.fn.getline(1) == "zero" and hunks("notes.txt") > 0`)
		second.until(`(function()
  local files
  hermes.review.files({ on_done = function(_, r) files = r and r.files end })
  vim.wait(1000, function() return files end, 5)
  return files and #files == 3
end)()`)
		second.lua(`hermes.review.reject("all", { force = true, on_done = finish("rejected") })`)
		second.until(`done.rejected`)
		second.is(`done.rejected.err`, nil)
		second.is(`vim.bo.modified`, false)
		got := make(map[string]string)
		if err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() == ".git" {
				return fs.SkipDir
			}
			if d.Type().IsRegular() {
				got[strings.TrimPrefix(p, dir+"/")] = content(t, p)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"notes.txt": "zero\none\ntwo\nthree\n", "later.txt": "one\n", "mine.txt": "mine\nand more\n"}
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%s is %q, not %q", name, got[name], text)
			}
			delete(got, name)
		}
		if len(got) > 0 {
			t.Errorf("there are %q, too", got)
		}
	})
}
