package host

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neovim/go-client/nvim"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/test/editors"
)

// editor is a headless Neovim with the plugin loaded.
type editor struct {
	t   testing.TB
	v   *nvim.Nvim
	log string // of the host

	patience time.Duration // patience.Soon, unless the test has much to do
}

// usual is the mode of most agents in these tests.
const usual = "any commands models"

// inNeovim runs test with a fresh editor in the newest Neovim. The Lua specs run in every one, and so
// does a test of this package whose subject differs among them: inEveryNeovim.
func inNeovim(t *testing.T, test func(*testing.T, *editor)) {
	t.Helper()
	t.Parallel()
	program := editors.All(t)[0]
	t.Run(program.Version, func(t *testing.T) {
		t.Parallel()
		test(t, newEditor(t, program.Path))
	})
}

// inEveryNeovim runs test with a fresh editor in each Neovim: for tests of events, of the screen's
// channel and of what is left behind at the end.
func inEveryNeovim(t *testing.T, test func(*testing.T, *editor)) {
	t.Helper()
	t.Parallel()
	for _, program := range editors.All(t) {
		t.Run(program.Version, func(t *testing.T) {
			t.Parallel()
			test(t, newEditor(t, program.Path))
		})
	}
}

func newEditor(t testing.TB, path string) *editor {
	t.Helper()
	return newEditorIn(t, path, t.TempDir(), editors.StateDir(t)) // the logs are not in the folder that agents work in
}

func newEditorIn(t testing.TB, path, dir, state string) *editor {
	t.Helper()
	e := &editor{t: t, log: filepath.Join(state, "nvim", "hermes-host.log"), patience: patience.Soon}
	t.Cleanup(func() { // when Neovim has quit
		if t.Failed() {
			b, _ := os.ReadFile(e.log)
			t.Logf("host log:\n%s", b)
		}
	})
	e.v = editors.Start(t, path, dir, state, "--headless")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e.script("seen")
	e.script("agents", exe, testAgent(t), usual)
	return e
}

// script runs a Lua file of test/host. Neovim would source it at its start if it stood here.
func (e *editor) script(name string, args ...any) {
	e.t.Helper()
	code, err := os.ReadFile(filepath.Join(editors.Root(e.t), "test/host", name+".lua"))
	if err != nil {
		e.t.Fatal(err)
	}
	e.lua(string(code), args...)
}

// lua runs code and returns what it returns.
func (e *editor) lua(code string, args ...any) any {
	e.t.Helper()
	var r any
	if err := e.v.ExecLua(code, &r, args...); err != nil {
		e.t.Fatalf("%s\n%v", code, err)
	}
	return r
}

// until waits for a Lua expression to become true.
func (e *editor) until(expr string) {
	e.t.Helper()
	deadline := time.Now().Add(e.patience)
	for {
		if r, ok := e.lua("return (" + expr + ") and true or false").(bool); ok && r {
			return
		}
		if time.Now().After(deadline) {
			e.t.Fatalf("never true: %s\n%s", expr, e.lua("return vim.inspect({ done = done, notes = notes, events = vim.tbl_map(function(x) return x.event .. ' ' .. (x.message or x.text or x.to or '') end, seen) })"))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// json returns the value of a Lua expression as JSON.
func (e *editor) json(expr string) string {
	e.t.Helper()
	s, _ := e.lua("return vim.json.encode(" + expr + ")").(string)
	return s
}

// is compares a Lua expression with want. It waits for deliveries of the host,
// unless the expression calls Hermes and must run only once.
func (e *editor) is(expr string, want any) {
	e.t.Helper()
	w, err := json.Marshal(want)
	if err != nil {
		e.t.Fatal(err)
	}
	deadline := time.Now().Add(e.patience)
	for {
		text, _ := e.lua("local ok, v = pcall(function() return " + expr + " end) return ok and vim.json.encode(v) or tostring(v)").(string)
		got := strings.ReplaceAll(text, `\/`, "/")
		if got == string(w) {
			return
		}
		if strings.Contains(expr, "hermes.") || time.Now().After(deadline) {
			e.t.Errorf("%s = %s, want %s", expr, got, w)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// hostPID is the process id of the host.
func (e *editor) hostPID() int {
	e.t.Helper()
	pid, err := strconv.Atoi(e.json(`vim.fn.jobpid(vim.iter(vim.api.nvim_list_chans()):find(function(c) return c.stream == "job" end).id)`))
	if err != nil {
		e.t.Fatal(err)
	}
	return pid
}

// attach gives the editor a screen of 80 columns and 24 lines.
func (e *editor) attach() {
	e.t.Helper()
	if err := e.v.RegisterHandler("redraw", func(...[]any) {}); err != nil {
		e.t.Fatal(err)
	}
	if err := e.v.AttachUI(80, 24, map[string]any{"rgb": true, "ext_linegrid": true}); err != nil {
		e.t.Fatal(err)
	}
}

// open connects to an agent and makes the session s.
func (e *editor) open() {
	e.t.Helper()
	e.openWith(`"tester"`)
}

// openWith is open with any agent, given as arguments for connect.
func (e *editor) openWith(agent string) {
	e.t.Helper()
	e.lua(`
hermes.connect(` + agent + `)
hermes.create_session({ cwd = vim.fn.getcwd(), on_done = function(err, r)
  finish("session")(err, r)
  _G.s = r and r.sessionId
end })`)
	e.until("done.session")
	e.is("done.session.err == nil", true)
}

// prompt runs a turn to its end.
func (e *editor) prompt(script string) {
	e.t.Helper()
	e.lua(`done.turn = nil; hermes.prompt(s, ..., { on_done = finish("turn") })`, script)
	e.until("done.turn")
}

func TestAPromptStreamsTextMessages(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`
_G.heard = {}
vim.api.nvim_create_autocmd("User", { group = "hermes", pattern = "AgentTextMessage", callback = function(args)
  heard[#heard + 1] = args.data.update.content.text .. "/" .. args.data.text
end })`)
		e.prompt("SAY hello\nSAY there")
		e.is("done.turn.result.stopReason", "end_turn")
		e.is("heard", []string{"hello/hello", "there/there"})
	})
}
