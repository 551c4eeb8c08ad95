package host

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/soak"
)

// An agent changes, deletes and moves a file by all means while the user types and saves, on one day
// or two. No line of the user is pending, every line of the agent is, and when everything is
// rejected the file is what it was, with what the user has saved.
func TestWhateverAnAgentDoesToAFileIsUnderReview(t *testing.T) {
	var plays []play
	for _, end := range slices.Sorted(maps.Keys(fileEnds)) {
		for _, buffer := range []string{"closed", "open", "unsaved"} {
			plays = append(plays, play{end, buffer, false}, play{end, buffer, true})
		}
	}
	soak.Repeat(t, func(t *testing.T, _ int) {
		seed := uint64(1)
		if soak.Duration(t) > 0 {
			seed = rand.Uint64()
		}
		random := rand.New(rand.NewPCG(seed, 0))
		random.Shuffle(len(plays), func(i, j int) { plays[i], plays[j] = plays[j], plays[i] })
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			for _, p := range plays[:soak.Of(t, len(plays), 8)] {
				seeds := [2]uint64{random.Uint64(), random.Uint64()}
				t.Run(fmt.Sprintf("%s %s again %v", p.end, p.buffer, p.again), func(t *testing.T) {
					inRepository(t, func(t *testing.T, open func() *editor, dir string) {
						p.run(t, rand.New(rand.NewPCG(seeds[0], seeds[1])), open, dir)
					})
				})
			}
		})
	})
}

// fileEnds is what becomes of the file in the end: a prompt with the place of its name and of its
// folder.
var fileEnds = map[string]string{
	"stays": "", "rm": "RUN rm %[1]s", "removed": "REMOVE %[1]s", "mv": "RUN mv %[1]s %[2]s/other.txt", "case": "RUN mv %[1]s %[2]s/Later.txt",
	"mv and edit": "RUN mv %[1]s %[2]s/other.txt; echo agent end >> %[2]s/other.txt",
	"link":        "RUN mv %[1]s %[2]s/other.txt; ln -s other.txt %[1]s",
}

// userSaves is how the user saves: the command that makes Neovim do it.
var userSaves = map[string]string{
	"no save": "", "write": "",
	"update": `vim.cmd([[autocmd TextChanged,TextChangedI * lua vim.schedule(function() vim.cmd("silent update") end)]])`,
	"wall":   `vim.cmd([[autocmd TextChanged,TextChangedI * ++nested silent! wall]])`,
}

// play is what happens to a file: what becomes of it, its buffer, and whether Neovim is left and
// started again before the decision.
type play struct {
	end, buffer string
	again       bool
}

func (p play) run(t *testing.T, random *rand.Rand, open func() *editor, dir string) {
	const lines = "one\ntwo\nthree\nfour\nfive\nsix\n"
	path := filepath.Join(dir, "later.txt")
	if err := os.WriteFile(path, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	e := open()
	e.open()
	session, _ := e.lua("return s").(string)
	save := slices.Sorted(maps.Keys(userSaves))[random.IntN(len(userSaves))]
	defer func() {
		if t.Failed() {
			t.Log("save", save)
		}
	}()
	if p.buffer == "unsaved" && userSaves[save] != "" {
		save = "no save" // it would save what is not to be saved
	}
	if p.buffer != "closed" {
		e.lua(`vim.cmd.edit("later.txt")`)
		e.lua(userSaves[save])
	}
	now := lines
	s := &screen{editor: e, dir: dir, path: path}
	var steps []string
	turns := 1 + random.IntN(3)
	typed := filepath.Join(t.TempDir(), "typed")
	ready := filepath.Join(t.TempDir(), "ready")
	for i := range turns {
		now = strings.Replace(now, []string{"three\n", "five\n", "six\n"}[i], fmt.Sprintf("agent %d\n", i), 1)
		if i == 1 {
			steps = append(steps, "TOUCH "+ready+" x", "UNTIL "+typed)
		}
		if random.IntN(2) == 0 {
			steps = append(steps, "TOUCH "+path+" "+strings.ReplaceAll(now, "\n", `\n`))
		} else {
			write, _ := json.Marshal(map[string]string{"sessionId": session, "path": path, "content": now})
			steps = append(steps, "CALL fs/read_text_file "+string(write), "CALL fs/write_text_file "+string(write))
		}
	}
	if turns == 1 {
		steps = append(steps, "TOUCH "+ready+" x", "UNTIL "+typed)
	}
	e.lua(`done.turn = nil; hermes.prompt(s, ..., { on_done = finish("turn") })`, s.inCall(steps...))
	s.exists(ready)
	user := ""
	if p.buffer != "closed" {
		s.keys("ggOuser<Esc>")
		if save == "write" {
			s.keys(":w<CR>")
		}
		if save != "no save" {
			e.until(`not vim.bo.modified`)
			user = "user\n"
		}
	}
	if err := os.WriteFile(typed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e.until(`done.turn`)
	e.lua(`ask("files")`)
	e.until(`done.ask`)
	if p.buffer == "unsaved" {
		e.lua(`vim.cmd("noautocmd normal! ggOunsaved")`)
	}
	if last := fileEnds[p.end]; last != "" {
		e.prompt(fmt.Sprintf(last, path, dir))
	}
	e.lua(`ask("files")`)
	e.until(`done.ask`)
	if p.again {
		e.quit()
		e = open()
		if p.buffer != "closed" {
			e.lua(`vim.cmd.edit("later.txt")`)
		}
		e.open()
	}
	e.lua(`ask("pending")`)
	e.until(`done.ask`)
	for _, h := range strings.Split(e.json(`vim.tbl_map(function(h) return table.concat(h.new, "|") end, done.ask.result.hunks)`), ",") {
		if p.end == "stays" && strings.Contains(h, "user") || strings.Contains(h, "unsaved") {
			t.Errorf("a line of the user is pending: %s", h)
		}
	}
	e.lua(`hermes.review.reject("all", { force = true, on_done = finish("rejected") })`)
	e.until(`done.rejected`)
	e.is(`done.rejected.err`, nil)
	e.is(`vim.inspect(vim.tbl_filter(function(f) return f.error end, done.rejected.result.files))`, "{}")
	if p.buffer != "closed" && !p.again && p.end == "stays" { // a buffer with unsaved lines is not saved
		e.lua(`vim.cmd("silent update")`)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Each line of the user is there once, if it is on the disk or in the buffer at all.
	updated := p.buffer != "closed" && !p.again && p.end == "stays"
	users := map[string]bool{"user": user != "" || updated, "unsaved": p.buffer == "unsaved" && updated}
	var got []string
	count := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); line == "user" || line == "unsaved" {
			count[line]++
		} else {
			got = append(got, line+"\n")
		}
	}
	for line, saved := range users {
		if n := count[line]; n > 1 || n == 0 && saved {
			t.Errorf("the disk has %q %d times: %q", line, n, text)
		}
	}
	if strings.Join(got, "") != lines {
		t.Errorf("the disk has %q", text)
	}
	if p.buffer != "closed" && !p.again {
		const inBuffer = `#vim.tbl_filter(function(l) return l:find(%q) ~= nil end, vim.api.nvim_buf_get_lines(vim.fn.bufnr("later.txt"), 0, -1, false))`
		e.until(fmt.Sprintf(inBuffer, "agent") + ` == 0`)
		e.until(fmt.Sprintf(inBuffer, "^user$") + ` > 0`)
		e.is(fmt.Sprintf(inBuffer, "^user$"), 1)
		if p.buffer == "unsaved" {
			e.is(fmt.Sprintf(inBuffer, "^unsaved$"), 1)
		}
	}
	for _, left := range []string{"other.txt", "Later.txt"} {
		if _, err := os.Lstat(filepath.Join(dir, left)); err == nil {
			t.Errorf("%s is left", left)
		}
	}
	e.lua(`ask("files")`)
	e.until(`done.ask`)
	e.is(`#done.ask.result.files`, 0)
}
