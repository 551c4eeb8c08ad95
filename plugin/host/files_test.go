package host

import (
	"os"
	"path/filepath"
	"testing"
)

// agentFile is a file in the working folder of the editor.
func (e *editor) agentFile(name, text string) string {
	e.t.Helper()
	dir, _ := e.lua("return vim.fn.getcwd()").(string)
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
	return path
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFileWrittenHasWhatIsOnTheDisk(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		// Through a buffer whose text changes on the way, and through the host,
		// which keeps line ends.
		buffered := e.agentFile("buffered.txt", "old\n")
		plain := e.agentFile("plain.txt", "old\r\n")
		e.lua(`
vim.cmd.edit(vim.fn.fnameescape(...))
vim.api.nvim_create_autocmd("BufWritePre", { buffer = 0, callback = function()
  vim.api.nvim_buf_set_lines(0, 0, 1, false, { "formatted" })
end })`, buffered)
		for i, path := range []string{buffered, plain} {
			e.prompt("WRITE " + path + " new")
			e.until(`#of("FileWritten") == ` + []string{"1", "2"}[i])
			e.is(`of("FileWritten")[#of("FileWritten")].new`, content(t, path))
			e.is(`of("FileWritten")[#of("FileWritten")].old`, []string{"old\n", "old\r\n"}[i])
		}
		e.is(`vim.api.nvim_buf_get_lines(0, 0, -1, false)`, []string{"formatted"})
		e.lua(`vim.cmd.undo()`)
		e.is(`vim.api.nvim_buf_get_lines(0, 0, -1, false)`, []string{"old"})
	})
}

func TestHalfASurrogatePairIsNeitherWrittenNorRun(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		path := e.agentFile("a.txt", "old\n")
		id, _ := e.lua(`return s`).(string)
		for _, call := range []string{
			`fs/write_text_file {"sessionId":"` + id + `","path":"` + path + `","content":"x\ud83dy"}`,
			`terminal/create {"sessionId":"` + id + `","command":"echo","args":["\ud83d"]}`,
		} {
			e.lua(`seen = {}`)
			e.prompt("CALL " + call)
			e.is(`said():find("half a surrogate pair", 1, true) ~= nil or said()`, true)
			e.is(`#of("TerminalStarted") + #of("FileWritten") + #of("FileWritePre")`, 0)
		}
		if got := content(t, path); got != "old\n" {
			t.Errorf("the file holds %q", got)
		}
		e.prompt(`CALL fs/write_text_file {"sessionId":"` + id + `","path":"` + path + `","content":"x\ud83d\ude00y\n"}`)
		e.is(`#of("FileWritten")`, 1)
		if got := content(t, path); got != "x\U0001f600y\n" {
			t.Errorf("the file holds %q", got)
		}
	})
}

func TestFilesWithOtherNamesAreServedWhenTheUserWants(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		path := e.agentFile("a.txt", "one")
		other := filepath.Join(filepath.Dir(path), "other.txt")
		if err := os.Link(path, other); err != nil {
			t.Skip(err)
		}
		e.open()
		e.prompt("READ " + path)
		e.is(`said():find("has other hard links", 1, true) ~= nil`, true)
		e.lua(`
seen = {}
hermes.setup({ permissions = { hard_links = true } })
hermes.connect("second")
hermes.create_session({ agent = "second", cwd = vim.fn.getcwd(), on_done = finish("second") })`)
		e.until("done.second")
		e.lua(`s = done.second.result.sessionId`)
		e.lua(`done.turn = nil; hermes.prompt(s, ..., { agent = "second", on_done = finish("turn") })`, "READ "+path+"\nWRITE "+path+" two")
		e.until("done.turn")
		e.is(`said():find("error", 1, true) == nil and said():find("one", 1, true) ~= nil or said()`, true)
		if got := content(t, path) + " " + content(t, other); got != "two one" {
			t.Errorf("the files hold %q", got)
		}
	})
}
