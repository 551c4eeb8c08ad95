package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/test/editors"
)

// screen is an editor with a user interface, where questions wait for keys.
type screen struct {
	*editor
	dir  string
	path string // of the file in the only window
}

// inEveryScreen opens a file with three lines and a session in the same folder.
func inEveryScreen(t *testing.T, test func(*testing.T, *screen)) {
	t.Helper()
	t.Parallel()
	for _, program := range editors.All(t) {
		t.Run(program.Version, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t, program.Path)
			e.attach()
			s := &screen{editor: e}
			s.dir, _ = e.lua("return vim.uv.fs_realpath(vim.fn.getcwd())").(string)
			s.path = s.file("hello.txt", "alpha\nbeta\ngamma\n")
			e.lua(`vim.cmd.edit(...)`, s.path)
			e.open()
			test(t, s)
		})
	}
}

func (s *screen) file(name, content string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *screen) disk() string {
	s.t.Helper()
	b, err := os.ReadFile(s.path)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// keys types, and waits until Neovim has taken the keys.
func (s *screen) keys(keys string) {
	s.t.Helper()
	if _, err := s.v.Input(keys); err != nil {
		s.t.Fatal(err)
	}
	s.free()
}

// free waits until Neovim is ready for more: a question never lets it be.
func (s *screen) free() {
	s.t.Helper()
	deadline := time.Now().Add(patience.Soon)
	for {
		mode, err := s.v.Mode()
		if err != nil {
			s.t.Fatal(err)
		}
		if !mode.Blocking {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("Neovim waits for a key in mode %q", mode.Mode)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// rows is what the user sees, as a Lua expression.
const rows = `(function()
  vim.cmd.redraw()
  local rows = {}
  for row = 1, vim.o.lines do
    local cells = {}
    for col = 1, vim.o.columns do cells[col] = vim.fn.screenstring(row, col) end
    rows[row] = vim.trim(table.concat(cells))
  end
  return table.concat(rows, "\n")
end)()`

// shows waits for a row of the screen, which may have a sign.
func (s *screen) shows(row string) {
	s.t.Helper()
	s.free()
	s.until(`vim.iter(vim.split(` + rows + `, "\n")):any(function(row)
		return vim.endswith(row, "` + row + `") and not row:sub(1, -#"` + row + `" - 1):find("%w")
	end)`)
}

// saves types :w, which must neither ask nor warn.
func (s *screen) saves() {
	s.t.Helper()
	// A buffer that is not modified says nothing of whether the keys have been read.
	s.lua(`saved = false; vim.api.nvim_create_autocmd("BufWritePost", { once = true, callback = function() saved = true end })`)
	s.keys(":w<CR>")
	s.is(`saved and not vim.bo.modified`, true)
	messages, _ := s.lua(`return vim.api.nvim_exec2("messages", { output = true }).output .. ` + rows).(string)
	for _, warning := range []string{"W11", "W12", "W13", "WARNING", "Press ENTER", "E13"} {
		if strings.Contains(messages, warning) {
			s.t.Errorf("%s after :w: %s", warning, messages)
		}
	}
}

func TestAFileThatTheAgentEditsOnDiskIsShownAtOnce(t *testing.T) {
	for name, script := range map[string]string{
		"when the tool call completes": "EDIT %s alpha\\nBETA\\ngamma\\n\nWAIT 10m",
		"when a command ends":          "RUN printf 'alpha\\nBETA\\ngamma\\n' > %s\nWAIT 10m",
		"at the end of the turn":       "TOUCH %s alpha\\nBETA\\ngamma\\n",
	} {
		for _, reviewed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, reviewed %v", name, reviewed), func(t *testing.T) {
				inEveryScreen(t, func(t *testing.T, s *screen) {
					want := []any{1, s.path, 1, nil, 1}
					if !reviewed { // then the event is about the buffer
						s.lua(`hermes.setup({ review = false })`)
						want = []any{1, s.path, 1, "refreshed", 1}
					}
					s.lua(`post = 0; vim.api.nvim_create_autocmd("FileChangedShellPost", { callback = function() post = post + 1 error("theirs") end })`)
					s.lua(`hermes.prompt(s, ...)`, strings.ReplaceAll(script, "%s", s.path))
					s.shows("BETA")
					s.until(`#of("FileEdited") > 0 and post > 0`)
					s.is(`{ #of("FileEdited"), of("FileEdited")[1].path, post, of("FileEdited")[1].outcome or vim.NIL, of("FileEdited")[1].bufnr or vim.NIL }`, want)
					if strings.HasPrefix(script, "EDIT") {
						s.is(`of("FileEdited")[1].toolCallId`, "e1")
					}
					s.keys("Gosaved<Esc>")
					s.saves()
					if got := s.disk(); got != "alpha\nBETA\ngamma\nsaved\n" {
						t.Errorf("the file holds %q", got)
					}
					s.keys("uu")
					s.is(`vim.api.nvim_buf_get_lines(0, 0, -1, false)`, []string{"alpha", "beta", "gamma"})
				})
			})
		}
	}
}

func TestARefreshWaitsUntilTheUserIsDoneTyping(t *testing.T) {
	for keys, end := range map[string]string{"ji": "<Esc>", "jR": "<Esc>", "jgh": "<Esc>", "jV": "<Esc>", "jd": "<Esc>", ":2,3": "<C-u><BS>", "ji<C-o>": "<Esc><Esc>"} {
		t.Run(keys, func(t *testing.T) {
			inEveryScreen(t, func(t *testing.T, s *screen) {
				s.keys(keys)
				mode, _ := s.v.Mode()
				s.prompt("EDIT " + s.path + ` alpha\nBETA\ngamma\n`)
				s.prompt("SAY and so on")
				s.is(`vim.api.nvim_buf_get_lines(1, 0, -1, false)`, []string{"alpha", "beta", "gamma"})
				if now, _ := s.v.Mode(); now.Mode != mode.Mode {
					t.Errorf("mode %q, was %q", now.Mode, mode.Mode)
				}
				s.keys(end)
				s.shows("BETA")
				s.saves()
			})
		})
	}
}

func TestARefreshDisturbsNobodyWhoTypesElsewhere(t *testing.T) {
	inEveryScreen(t, func(t *testing.T, s *screen) {
		s.lua(`vim.cmd("tabnew | setlocal buftype=nofile | split | enew")`)
		s.keys("ihalf a sen")
		before := s.json(`{ vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf(), #vim.api.nvim_list_wins(), vim.fn.mode() }`)
		s.prompt("EDIT " + s.path + ` alpha\nBETA\ngamma\n`)
		s.is(`vim.api.nvim_buf_get_lines(1, 0, -1, false)`, []string{"alpha", "BETA", "gamma"})
		s.keys("tence")
		if after := s.json(`{ vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf(), #vim.api.nvim_list_wins(), vim.fn.mode() }`); after != before {
			t.Errorf("window, buffer, windows, mode: %s, were %s", after, before)
		}
		s.is(`vim.api.nvim_get_current_line()`, "half a sentence")
	})
}

func TestUnsavedEditsStayAndTheUserIsToldOnce(t *testing.T) {
	for _, review := range []bool{false, true} {
		t.Run(fmt.Sprint("review ", review), func(t *testing.T) {
			inEveryScreen(t, func(t *testing.T, s *screen) {
				s.lua(`hermes.setup({ review = ... })`, review)
				s.keys("jA mine<Esc>")
				s.prompt("EDIT " + s.path + ` alpha\nBETA\ngamma\n`)
				s.prompt("EDIT " + s.path + ` alpha\nBETA!\ngamma\n`)
				if review {
					s.prompt("SAY the first look of this turn has seen all")
					s.until(`#of("CheckpointCreated") == 3`)
					s.is(`vim.tbl_map(function(e) return { e.added, e.removed } end, of("FileEdited"))`, [][]int{{1, 1}, {1, 1}})
				} else {
					s.is(`vim.tbl_map(function(e) return e.outcome end, of("FileEdited"))`, []string{"conflict"})
				}
				s.is(`#vim.tbl_filter(function(n) return n:find("hello.txt: the file changed on disk", 1, true) end, notes)`, 1)
				s.is(`vim.api.nvim_buf_get_lines(1, 0, -1, false)`, []string{"alpha", "beta mine", "gamma"})
				s.prompt("WRITE " + s.path + " theirs")
				s.until(`said():find("changed on disk while the buffer has unsaved edits", 1, true)`)
				if got := s.disk(); got != "alpha\nBETA!\ngamma\n" {
					t.Errorf("the file holds %q", got)
				}
				s.keys(":e!<CR>")
				s.prompt("EDIT " + s.path + ` new\n`)
				s.shows("new")
			})
		})
	}
}

func TestAFileThatTheAgentDeletesStaysInItsBuffer(t *testing.T) {
	for _, review := range []bool{false, true} {
		t.Run(fmt.Sprint("review ", review), func(t *testing.T) {
			inEveryScreen(t, func(t *testing.T, s *screen) {
				s.lua(`hermes.setup({ review = ... })`, review)
				s.prompt("REMOVE " + s.path)
				s.prompt("SAY gone")
				s.until(`notes[1]`)
				s.is(`notes`, []string{"hermes: hello.txt was deleted on disk; the buffer still has its text"})
				if review { // the first look of the next turn has seen all
					s.until(`#of("CheckpointCreated") == 2`)
					s.is(`vim.tbl_map(function(e) return e.removed end, of("FileEdited"))`, []int{3})
				} else {
					s.until(`of("FileEdited")[1]`)
					s.is(`vim.tbl_map(function(e) return e.outcome end, of("FileEdited"))`, []string{"deleted"})
				}
				s.shows("beta")
				s.saves()
				if got := s.disk(); got != "alpha\nbeta\ngamma\n" {
					t.Errorf("the file holds %q", got)
				}
			})
		})
	}
}

func TestAFileThatTheAgentMakesIsShownInItsEmptyBuffer(t *testing.T) {
	inEveryScreen(t, func(t *testing.T, s *screen) {
		s.path = filepath.Join(s.dir, "new.txt")
		s.lua(`vim.cmd.edit(...)`, s.path)
		s.prompt("TOUCH " + s.path + ` made\n`)
		s.shows("made")
		s.saves()
	})
}

func TestRefreshingCanBeTurnedOff(t *testing.T) {
	inEveryScreen(t, func(t *testing.T, s *screen) {
		for i, setup := range []string{`{ buffer = { refresh = false } }`, `{ buffer = { refresh = false }, review = false }`} {
			s.lua(`hermes.setup(` + setup + `)`)
			s.prompt("EDIT " + s.path + ` alpha\nBETA` + strconv.Itoa(i) + `\ngamma\n`)
			s.prompt("SAY and so on")
			s.is(`vim.api.nvim_buf_get_lines(1, 0, -1, false)`, []string{"alpha", "beta", "gamma"})
			s.is(`#of("FileEdited")`, 1) // by the review, while it is on
		}

	})
}

func TestManyBuffersAreRefreshedAPieceAtATime(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.script("many_buffers")
		e.prompt("SAY done")
		e.is(`#vim.tbl_filter(function(b) return vim.api.nvim_buf_get_lines(b, 0, 1, false)[1] == "changed" end, vim.api.nvim_list_bufs())`, 60)
		e.is(`pieces > 5`, true)
	})
}
