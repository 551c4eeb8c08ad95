package host

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// writes is the step of a script in which the agent writes the file.
func (s *screen) writes(text string) string {
	b, err := json.Marshal(map[string]string{"sessionId": "s1", "path": s.path, "content": text})
	if err != nil {
		s.t.Fatal(err)
	}
	return "CALL fs/write_text_file " + string(b)
}

// has waits for the lines of the buffer.
func (s *screen) has(lines ...string) {
	s.t.Helper()
	s.is(`vim.api.nvim_buf_get_lines(1, 0, -1, false)`, lines)
}

func TestAWriteKeepsWhatTheUserHasChangedSinceTheAgentReadTheFile(t *testing.T) {
	for name, c := range map[string]struct {
		start, read, keys string // keys: what the user does after the read
		write             string
		want              string // the buffer in the end, and the file
		says              string // the error, if there is one; want is then the buffer alone
	}{
		"unsaved, elsewhere":     {start: "alpha\nbeta\ngamma\n", read: "READ %s", keys: "omine<Esc>", write: "alpha\nbeta\nGAMMA\n", want: "alpha\nmine\nbeta\nGAMMA\n"},
		"saved, elsewhere":       {start: "alpha\nbeta\ngamma\n", read: "READ %s", keys: "omine<Esc>:w<CR>", write: "alpha\nbeta\nGAMMA\n", want: "alpha\nmine\nbeta\nGAMMA\n"},
		"in insert mode":         {start: "alpha\nbeta\ngamma\n", read: "READ %s", keys: "omine", write: "alpha\nbeta\nGAMMA\n", want: "alpha\nmine\nbeta\nGAMMA\n"},
		"with CRLF":              {start: "alpha\r\nbeta\r\ngamma\r\n", read: "READ %s", keys: "omine<Esc>", write: "alpha\nbeta\nGAMMA\n", want: "alpha\r\nmine\r\nbeta\r\nGAMMA\r\n"},
		"the same lines":         {start: "alpha\nbeta\ngamma\n", read: "READ %s", keys: "jA mine<Esc>", write: "alpha\nBETA\ngamma\n", want: "alpha\nbeta mine\ngamma\n", says: "Line 2 is now: |     beta mine"},
		"never read, elsewhere":  {start: "alpha\nbeta\ngamma\n", read: "SAY no", keys: "omine<Esc>", write: "alpha\nbeta\nGAMMA\n", want: "alpha\nmine\nbeta\nGAMMA\n"},
		"never read, everywhere": {start: "alpha\nbeta\ngamma\n", read: "SAY no", keys: "jA mine<Esc>", write: "new\n", want: "alpha\nbeta mine\ngamma\n", says: `nothing was written: the file has changed since you last read or wrote it`},
		"some lines read": {start: "alpha\nbeta\ngamma\n", read: "READ %s\n" + `CALL fs/read_text_file {"sessionId":"s1","path":"%s","line":3,"limit":1}`,
			keys: "omine<Esc>", write: "alpha\nbeta\nGAMMA\n", want: "alpha\nmine\nbeta\nGAMMA\n"},
	} {
		t.Run(name, func(t *testing.T) {
			inEveryScreen(t, func(t *testing.T, s *screen) {
				s.file("hello.txt", c.start)
				s.lua(`vim.cmd("edit!")`)
				s.prompt(strings.ReplaceAll(c.read, "%s", s.path))
				s.keys(c.keys)
				s.prompt(s.writes(c.write))
				s.has(strings.Split(strings.TrimSuffix(strings.ReplaceAll(c.want, "\r", ""), "\n"), "\n")...)
				if c.says != "" {
					s.until(`said():find([[` + c.says + `]], 1, true)`)
					if s.disk() != c.start {
						t.Errorf("the file holds %q", s.disk())
					}
					// Once it has read the file the agent can write.
					s.prompt("READ " + s.path + "\n" + s.writes(c.write))
					s.has(strings.Split(strings.TrimSuffix(c.write, "\n"), "\n")...)
					return
				}
				if s.disk() != c.want {
					t.Errorf("the file holds %q", s.disk())
				}
				// The agent knows nothing of the merge and goes on from its own text.
				s.prompt(s.writes(c.write + "more\n"))
				end := "\n"
				if strings.HasSuffix(c.want, "\r\n") {
					end = "\r\n"
				}
				if want := c.want + "more" + end; s.disk() != want {
					t.Errorf("the file holds %q, not %q, in the end", s.disk(), want)
				}
				s.keys("<Esc>")
				s.saves()
			})
		})
	}
}

// A user types while the agent writes the same file again and again.
func TestWhatIsTypedWhileTheAgentWritesStays(t *testing.T) {
	for name, step := range map[string]func(s *screen, text string) string{
		"through the editor": (*screen).writes,
		"on the disk": func(s *screen, text string) string {
			return "EDIT " + s.path + " " + strings.ReplaceAll(text, "\n", `\n`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inEveryScreen(t, func(t *testing.T, s *screen) {
				const rounds = 40
				s.prompt("READ " + s.path)
				s.keys("Go")
				var script []string
				text := ""
				for i := range rounds {
					text += fmt.Sprintf("agent %d\n", i)
					script = append(script, step(s, text+"alpha\nbeta\ngamma\n"), "WAIT 50ms")
				}
				s.lua(`done.turn = nil; hermes.prompt(s, ..., { on_done = finish("turn") })`, strings.Join(script, "\n"))
				var words []string
				ticker := time.NewTicker(time.Second / 30)
				defer ticker.Stop()
				for i := 0; i < 12 || s.json("done.turn") == "null"; i++ {
					word := fmt.Sprintf("word%d", i)
					words = append(words, word)
					for _, key := range append(strings.Split(word, ""), " ") {
						<-ticker.C
						if key == " " && i%5 == 4 {
							key = "<CR>"
						}
						// On the disk the agent would overwrite what the user has saved there.
						if key == " " && i%7 == 6 && name != "on the disk" {
							key = "<Esc>:w<CR>A<Space>"
						}
						if _, err := s.v.Input(key); err != nil {
							t.Fatal(err)
						}
					}
				}
				s.keys("<Esc>")
				s.until("done.turn")
				s.prompt("SAY the end")
				s.is(`#of("FileEdited") == 0 or of("FileEdited")[#of("FileEdited")].outcome ~= "conflict"`, true)
				want := append(strings.Split(strings.TrimSuffix(text, "\n"), "\n"), "alpha", "beta", "gamma")
				s.is(fmt.Sprintf(`vim.api.nvim_buf_get_lines(1, 0, %d, false)`, len(want)), want)
				s.is(fmt.Sprintf(`vim.fn.split(table.concat(vim.api.nvim_buf_get_lines(1, %d, -1, false), " "))`, len(want)), words)
				s.saves()
				for _, line := range append(want, words...) {
					if !strings.Contains(s.disk(), line) {
						t.Errorf("the file lacks %q", line)
					}
				}
			})
		})
	}
}

func TestUnsavedEditsAreMergedWithTheFile(t *testing.T) {
	for name, c := range map[string]struct {
		keys, before string // before: Lua, with the buffer in buf
		edit         string
		want         []string
		file         string // after the user has saved
	}{
		"elsewhere":          {keys: "omine<Esc>", edit: `alpha\nbeta\ngamma!\n`, want: []string{"alpha", "mine", "beta", "gamma!"}},
		"in insert mode":     {keys: "omine", edit: `alpha\nbeta\ngamma!\n`, want: []string{"alpha", "mine", "beta", "gamma!"}},
		"the same":           {keys: "jcwBETA<Esc>", edit: `alpha\nBETA\ngamma\n`, want: []string{"alpha", "BETA", "gamma"}},
		"without events":     {keys: ":set eventignore=all<CR>omine<Esc>", edit: `alpha\nbeta\ngamma!\n`, want: []string{"alpha", "mine", "beta", "gamma!"}},
		"without autoread":   {keys: ":set noautoread<CR>omine<Esc>", edit: `alpha\nbeta\ngamma!\n`, want: []string{"alpha", "mine", "beta", "gamma!"}},
		"in a hidden buffer": {keys: "omine<Esc>:set hidden<CR>:enew<CR>", edit: `alpha\nbeta\ngamma!\n`, want: []string{"alpha", "mine", "beta", "gamma!"}},
		"in another tab":     {keys: "omine<Esc>:tabnew<CR>", edit: `alpha\nbeta\ngamma!\n`, want: []string{"alpha", "mine", "beta", "gamma!"}},
		"twice":              {keys: "omine<Esc>", edit: `alpha\nbeta\ngamma!\n` + "\nEDIT %s " + `ALPHA\nbeta\ngamma!\n`, want: []string{"ALPHA", "mine", "beta", "gamma!"}},
		"typed at once":      {keys: "i", before: `vim.schedule(function() vim.api.nvim_input("mine ") end)`, edit: `alpha\nbeta\ngamma!\n`, want: []string{"mine alpha", "beta", "gamma!"}},
	} {
		t.Run(name, func(t *testing.T) {
			inEveryScreen(t, func(t *testing.T, s *screen) {
				s.lua(`
local ns = vim.api.nvim_create_namespace("test")
_G.mark = function() return vim.api.nvim_buf_get_extmark_by_id(1, ns, 1, {}) end
vim.api.nvim_buf_set_extmark(1, ns, 2, 3, { id = 1 })`)
				s.keys(c.keys)
				if c.before != "" {
					s.lua(c.before)
				}
				s.prompt("EDIT " + s.path + " " + strings.ReplaceAll(c.edit, "%s", s.path))
				s.has(c.want...)
				s.keys("<Esc>:set eventignore=<CR>:tab sbuffer 1<CR>")
				s.is(`mark()`, []int{len(c.want) - 1, 3})
				s.saves()
				if got := s.disk(); got != strings.Join(c.want, "\n")+"\n" {
					t.Errorf("the file holds %q", got)
				}
				s.keys("u")
				s.is(`vim.api.nvim_buf_get_lines(1, 2, 3, false)[1] ~= "gamma!"`, true)
			})
		})
	}
}

func TestAConflictWithTheFileEndsAsTheUserChooses(t *testing.T) {
	for name, c := range map[string]struct {
		keys     string
		want     []string
		modified bool
		undo     string // brings the user's line back
	}{
		"mine":   {":Hermes conflict mine<CR>", []string{"new", "alpha", "beta mine", "gamma"}, true, ""},
		"theirs": {":Hermes conflict theirs<CR>", []string{"new", "alpha", "BETA", "gamma"}, false, "u"},
		"asked":  {":Hermes conflict<CR>2<CR>", []string{"new", "alpha", "BETA", "gamma"}, false, "u"},
		"both":   {":Hermes conflict both<CR>:2diffget<CR>:Hermes conflict mine<CR>", []string{"new", "alpha", "BETA", "gamma"}, false, "uu"},
	} {
		t.Run(name, func(t *testing.T) {
			inEveryScreen(t, func(t *testing.T, s *screen) {
				s.keys("jA mine<Esc>")
				s.prompt("EDIT " + s.path + ` new\nalpha\nBETA\ngamma\n`)
				s.until(`#notes == 1`)
				s.has("alpha", "beta mine", "gamma")
				s.is(`#require("hermes").conflicts()`, 1)
				s.keys(c.keys)
				s.has(c.want...)
				s.is(`vim.bo[1].modified`, c.modified)
				s.is(`#require("hermes").conflicts()`, 0)
				s.keys(":tab sbuffer 1<CR>")
				s.saves()
				if got := s.disk(); got != strings.Join(c.want, "\n")+"\n" {
					t.Errorf("the file holds %q", got)
				}
				if s.keys(c.undo); c.undo != "" {
					s.is(`vim.list_contains(vim.api.nvim_buf_get_lines(1, 0, -1, false), "beta mine")`, true)
				}
			})
		})
	}
}
