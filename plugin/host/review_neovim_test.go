package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The agent changes files by all means, those that buffers show and others, and
// each change is told once.
func TestInNeovimEachChangeOfAnAgentIsToldOnce(t *testing.T) {
	inEveryScreen(t, func(t *testing.T, s *screen) {
		other := s.file("other.txt", "one\ntwo\n")
		plain := s.file("plain.txt", "one\ntwo\n")
		s.lua(`vim.cmd("split " .. ...)`, other)
		s.prompt(strings.Join([]string{
			"EDIT " + s.path + ` alpha\nBETA\ngamma\n`,
			"WRITE " + other + " ONE",
			"WRITE " + plain + " ONE",
			"RUN printf 'alpha\\nBETA\\nGAMMA\\n' > " + s.path,
			"TOUCH " + filepath.Join(s.dir, "made.txt") + ` made\n`,
		}, "\n"))
		s.prompt("SAY and so on")
		s.until(`#of("CheckpointCreated") == 2`)
		s.is(`(function()
  local got = {}
  for _, e in ipairs(of("FileEdited")) do
    local name = vim.fs.basename(e.path)
    got[name] = (got[name] or 0) + 1
  end
  return { got["hello.txt"], got["other.txt"], got["plain.txt"], got["made.txt"], #of("FileEdited") }
end)()`, []int{2, 1, 1, 1, 5})
		s.is(`vim.api.nvim_buf_get_lines(vim.fn.bufnr("hello.txt"), 0, -1, false)`, []string{"alpha", "BETA", "GAMMA"})
		s.is(`vim.api.nvim_buf_get_lines(vim.fn.bufnr("other.txt"), 0, -1, false)`, []string{"ONE"})
		// What the user types is not the agent's, and stays.
		s.lua(`vim.cmd("buffer hello.txt")`)
		s.keys("ggOmine<Esc>")
		s.lua(`done.reject = nil; hermes.review.reject({ path = ... }, { on_done = finish("reject") })`, s.path)
		s.until(`done.reject`)
		s.is(`vim.api.nvim_buf_get_lines(vim.fn.bufnr("hello.txt"), 0, -1, false)`, []string{"mine", "alpha", "beta", "gamma"})
		if _, err := os.Stat(filepath.Join(s.dir, "made.txt")); err != nil {
			t.Error(err)
		}
	})
}
