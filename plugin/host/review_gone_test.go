package host

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A file that is open is deleted, moved or replaced by a link: that is under review as if it were
// not open, and what the user has not saved is nobody else's.
func TestAnOpenFileThatAnAgentTakesAwayIsUnderReview(t *testing.T) {
	const text = "alpha|beta|gamma"
	ways := map[string]struct {
		script  func(path, other string) string
		pending []string
	}{
		"removed":  {func(path, _ string) string { return "REMOVE " + path }, []string{"hello.txt " + text + ">"}},
		"rm":       {func(path, _ string) string { return "RUN rm " + path }, []string{"hello.txt " + text + ">"}},
		"mv":       {func(path, other string) string { return "RUN mv " + path + " " + other }, []string{"Hello.txt >" + text, "hello.txt " + text + ">"}},
		"replaced": {func(path, other string) string { return "RUN mv " + path + " " + other + "; ln -s Hello.txt " + path }, []string{"Hello.txt >" + text, "hello.txt >"}},
	}
	for way, of := range ways {
		for _, held := range []bool{false, true} {
			for _, unsaved := range []bool{false, true} {
				t.Run(fmt.Sprint(way, " held ", held, " unsaved ", unsaved), func(t *testing.T) {
					inEveryScreen(t, func(t *testing.T, s *screen) {
						if held {
							s.isHeld()
							s.prompt("EDIT " + s.path + ` alpha\nbeta\ngamma\n`)
							s.decided("accept")
						}
						lines := []string{"alpha", "beta", "gamma"}
						if unsaved {
							s.keys("ggOmine<Esc>")
							lines = append([]string{"mine"}, lines...)
						}
						s.prompt(of.script(s.path, filepath.Join(s.dir, "Hello.txt")))
						s.pending(of.pending...)
						s.is(`vim.api.nvim_buf_get_lines(0, 0, -1, false)`, lines)
						s.decided("reject")
						s.pending()
						if got, want := s.disk(), "alpha\nbeta\ngamma\n"; got != want {
							t.Errorf("the disk has %q, not %q", got, want)
						}
						if info, err := os.Lstat(s.path); err != nil || !info.Mode().IsRegular() {
							t.Errorf("%v, %v", info, err)
						}
						if left, _ := filepath.Glob(filepath.Join(s.dir, "H*")); len(left) > 0 {
							t.Errorf("%q is left", left)
						}
						s.until(`require("hermes.doc.versions").state(vim.fn.bufnr()) == "same"`)
						s.is(`vim.api.nvim_buf_get_lines(0, 0, -1, false)`, lines)
						s.is(`vim.bo.modified`, unsaved)
						// The buffer is under review again.
						s.saves()
						s.prompt("EDIT " + s.path + ` alpha\nbeta\nGamma\n`)
						s.until(`#hermes.review.hunks() > 0`)
						s.lua(`done.decided = nil; hermes.review.reject(hermes.review.hunks()[1], { on_done = finish("decided") })`)
						s.until(`done.decided`)
					})
				})
			}
		}
	}
}

// The user's next step decides about a deletion: a save keeps the file.
func TestASaveOfWhatAnAgentHasDeletedKeepsIt(t *testing.T) {
	inEveryScreen(t, func(t *testing.T, s *screen) {
		s.prompt("REMOVE " + s.path)
		s.pending("hello.txt alpha|beta|gamma>")
		s.keys("ggOmine<Esc>:w<CR>")
		s.until(`not vim.bo.modified`)
		s.pending()
		if got, want := s.disk(), "mine\nalpha\nbeta\ngamma\n"; got != want {
			t.Errorf("the disk has %q, not %q", got, want)
		}
		s.prompt("EDIT " + s.path + ` mine\nalpha\nbeta\nGAMMA\n`)
		s.until(`#hermes.review.hunks() == 1`)
		s.pending("hello.txt gamma>GAMMA")
	})
}
