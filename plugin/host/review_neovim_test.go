package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/plugin/wire"
)

// The agent changes files in all ways, whether a buffer shows them or not, and
// each change is reported once.
func TestInNeovimEachChangeOfAnAgentIsToldOnce(t *testing.T) {
	inEveryScreen(t, func(t *testing.T, s *screen) {
		other := s.file("other.txt", "one\ntwo\n")
		plain := s.file("plain.txt", "one\ntwo\n")
		s.lua(`vim.cmd("split " .. ...)`, other)
		s.prompt(strings.Join([]string{
			"EDIT " + s.path + ` alpha\nBETA\ngamma\n`,
			"WRITE " + other + " ONE",
			"WRITE " + plain + " ONE",
		}, "\n"))
		s.until(`#of("FileEdited") == 3`) // two changes between two looks are one
		s.prompt(strings.Join([]string{
			"RUN printf 'alpha\\nBETA\\nGAMMA\\n' > " + s.path,
			"TOUCH " + filepath.Join(s.dir, "made.txt") + ` made\n`,
		}, "\n"))
		s.prompt("SAY and so on")
		s.until(`#of("CheckpointCreated") == 3`)
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
		// Text that the user types is not the agent's, and stays.
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

// A question right after a turn gets the result of the turn, on the disk and in
// buffers that follow it.
func TestInNeovimAnAnswerRightAfterATurnIsWhole(t *testing.T) {
	inEveryScreen(t, func(t *testing.T, s *screen) {
		s.lua(`hermes.setup({ review = true })`)
		plain := s.file("plain.txt", "one\n")
		s.script("review_answers")
		var want [][]int
		for i := 1; i <= 6; i++ {
			if i == 4 { // as on a busy machine
				s.lua(`local defer = vim.defer_fn; vim.defer_fn = function(f, ms) return defer(f, ms + 300) end`)
			}
			added := strings.Repeat(`more\n`, i)
			s.prompt("TOUCH " + s.path + ` alpha\nbeta\ngamma\n` + added + "\nTOUCH " + plain + ` one\n` + added)
			want = append(want, []int{i, i})
			s.until(fmt.Sprintf("#answers == %d", i))
		}
		if got := s.json(`answers`); got != string(wire.Encode(want)) {
			t.Errorf("answers %s, want %v", got, want)
		}
	})
}
