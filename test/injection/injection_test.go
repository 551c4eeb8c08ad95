// Package injection shows what a hostile agent can say to real Neovims with a
// screen, in every text that the schema lets it choose, and looks whether any
// of it acts: whether a key is processed that the user did not press, and
// whether modes, texts, options, registers or files change.
package injection

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/neovim/go-client/nvim"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/test/editors"
)

//go:embed editor.lua
var editorLua string

// editor is a Neovim with a screen and the user in front of it.
type editor struct {
	t     *testing.T
	v     *nvim.Nvim
	asked chan [2]string
	ended chan string

	fields map[string]int // of each form, how many the user has looked at

	mu      sync.Mutex
	sent    map[string]int // keys that the user pressed
	screens []string       // drawn text that no screen may get
}

func newEditor(t *testing.T, program string, settings map[string]any) *editor {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	v := editors.Start(t, program, t.TempDir(), editors.StateDir(t))
	e := &editor{t: t, v: v, asked: make(chan [2]string, 1000), ended: make(chan string, 100), sent: map[string]int{}, fields: map[string]int{}}
	for name, handler := range map[string]any{
		"asked":  func(name, prompt string) { e.asked <- [2]string{name, prompt} },
		"ended":  func(scene string) { e.ended <- scene },
		"redraw": e.redraw,
	} {
		if err := v.RegisterHandler(name, handler); err != nil {
			t.Fatal(err)
		}
	}
	// Every choice of a list fits on the screen.
	if err := v.AttachUI(120, 60, map[string]any{"rgb": true, "ext_linegrid": true}); err != nil {
		t.Fatal(err)
	}
	settings["hermes"], settings["agent"], settings["root"] = hermes, exe, root
	e.lua(editorLua, v.ChannelID(), settings)
	return e
}

// redraw looks at what Neovim draws: cells and titles hold no control
// characters, and nothing is passed through to the terminal.
func (e *editor) redraw(updates ...[]any) {
	for _, update := range updates {
		name, _ := update[0].(string)
		for _, args := range update[1:] {
			var bad bool
			list, _ := args.([]any)
			switch {
			case name == "ui_send", name == "bell", name == "visual_bell":
				bad = true
			case name == "set_title", name == "set_icon":
				bad = hasControls(list)
			case name == "grid_line" && len(list) > 3:
				cells, _ := list[3].([]any)
				bad = slices.ContainsFunc(cells, func(cell any) bool {
					c, _ := cell.([]any)
					return hasControls(c)
				})
			}
			if bad {
				e.mu.Lock()
				e.screens = append(e.screens, fmt.Sprintf("%s %q", name, args))
				e.mu.Unlock()
			}
		}
	}
}

// hasControls reports whether a text in a list has a control character.
func hasControls(list []any) bool {
	return slices.ContainsFunc(list, func(v any) bool {
		s, _ := v.(string)
		return strings.ContainsFunc(s, unicode.IsControl)
	})
}

// answered lets a call fail that Neovim does not answer. What it returns is called
// after the answer.
func (e *editor) answered() func() bool {
	return time.AfterFunc(patience.Turn, func() { e.v.Close() }).Stop
}

func (e *editor) lua(code string, args ...any) any {
	e.t.Helper()
	defer e.answered()()
	var r any
	if err := e.v.ExecLua(code, &r, args...); err != nil {
		e.t.Fatalf("%s\n%v", code, err)
	}
	return r
}

var keyNames = regexp.MustCompile(`<[^>]+>|.`)

// spelling is how on_key spells the keys that the user presses.
var spelling = map[string]string{"<CR>": "\r", "<Esc>": "\x1b", "<C-\\>": "\x1c", "<C-N>": "\x0e", "<Tab>": "\t"}

// press types keys.
func (e *editor) press(keys string) {
	e.t.Helper()
	for _, key := range keyNames.FindAllString(keys, -1) {
		if s := spelling[key]; s != "" {
			key = s
		}
		e.sent[key]++
	}
	defer e.answered()()
	if _, err := e.v.Input(keys); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) mode() *nvim.Mode {
	e.t.Helper()
	defer e.answered()()
	mode, err := e.v.Mode()
	if err != nil {
		e.t.Fatal(err)
	}
	return mode
}

// until waits for a Lua expression to become true.
func (e *editor) until(expr string) {
	e.t.Helper()
	for deadline := time.Now().Add(patience.Turn); ; time.Sleep(5 * time.Millisecond) {
		if ok, _ := e.lua("return (" + expr + ") and true or false").(bool); ok {
			return
		}
		if time.Now().After(deadline) {
			e.t.Fatalf("never true: %s", expr)
		}
	}
}

// inMode waits for a mode.
func (e *editor) inMode(want string) {
	e.t.Helper()
	for deadline := time.Now().Add(patience.Turn); e.mode().Mode != want; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			e.t.Fatalf("mode %q, want %q", e.mode().Mode, want)
		}
	}
}

var (
	cancelItem = regexp.MustCompile(`(?m)^(\d+): Cancel$`)
	formItem   = regexp.MustCompile(`(?m)^(\d+): Send$`)
)

// answer is what the user presses at a question. At a form he looks at each field
// before he sends it.
func (e *editor) answer(name, prompt string, dismiss bool) string {
	id, window := strings.CutPrefix(name, "window ")
	send := formItem.FindStringSubmatch(prompt)
	switch {
	case name == "waiting":
		return `\`
	case window && dismiss:
		return cancelItem.FindStringSubmatch(prompt)[1] + "<CR>"
	case dismiss:
		return "<Esc>"
	case !window:
		return "<CR>"
	case send != nil:
		e.fields[id]++
		last, err := strconv.Atoi(send[1])
		if err != nil {
			e.t.Fatal(err)
		}
		switch field := 1 + e.fields[id]; {
		case field < last:
			return strconv.Itoa(field) + "<CR>"
		case field == last:
			return send[1] + "<CR>"
		}
		return cancelItem.FindStringSubmatch(prompt)[1] + "<CR>" // a field that had to be filled in
	case strings.Contains(prompt, "Open it"), strings.Contains(prompt, "(0 chosen)") && strings.Contains(prompt, "\n2: "):
		return "2<CR>"
	}
	return "1<CR>"
}

// scene lets the agent play a scene and answers its questions until the end. It
// returns their number. The user may have to leave a mode to see them, and returns
// to it afterwards.
func (e *editor) scene(name string, begin func(), dismiss bool) (questions int) {
	e.t.Helper()
	before, mode := e.snapshot(), e.mode().Mode
	begin()
	left := false
	deadline := time.After(patience.Turn)
	for done := false; !done; {
		select {
		case <-deadline:
			e.keysAreTheUsers(name)
			e.t.Fatalf("%s: no end after %d questions, mode %v, %s\nthe window with the focus:\n%s", name, questions, *e.mode(),
				difference(before, e.snapshot()), e.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\\n')"))
		case q := <-e.asked:
			questions++
			e.press(e.answer(q[0], q[1], dismiss))
			deadline = time.After(patience.Turn) // it goes on
		case <-e.ended:
			done = true
		case <-time.After(time.Second):
			switch now := e.mode(); {
			case now.Mode[0] == 'r': // "press enter"
				e.press("<CR>")
			case !now.Blocking && e.lua("return editor.leave()") == true:
				left = true
			}
		}
	}
	if left {
		e.press(map[string]string{"t": "i", "i": "a"}[mode])
	}
	e.inMode(mode)
	if d := difference(before, e.snapshot()); d != "" {
		e.t.Errorf("%s: %s", name, d)
	}
	e.keysAreTheUsers(name)
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, bad := range e.screens {
		e.t.Errorf("%s: the screen got %s", name, bad)
	}
	e.screens = nil
	return questions
}

// keysAreTheUsers compares the keys that Neovim processed with those pressed.
func (e *editor) keysAreTheUsers(name string) {
	e.t.Helper()
	text := e.json("editor.keys()")
	var processed map[string]int
	if err := json.Unmarshal([]byte(text), &processed); err != nil && text != "[]" {
		e.t.Fatalf("%s: %v", text, err)
	}
	var foreign []string
	for key, n := range processed {
		if n > e.sent[key] {
			foreign = append(foreign, fmt.Sprintf("%q", key))
		}
	}
	if len(foreign) > 0 {
		slices.Sort(foreign)
		e.t.Errorf("%s: keys that the user did not press: %s", name, strings.Join(foreign, " "))
	}
}

// json is the value of a Lua expression.
func (e *editor) json(expr string) string {
	e.t.Helper()
	s, _ := e.lua("return vim.json.encode(" + expr + ")").(string)
	return s
}

func (e *editor) snapshot() string {
	e.t.Helper()
	return e.json("editor.snapshot()")
}

// difference names the members that differ.
func difference(before, after string) string {
	var a, b map[string]json.RawMessage
	if json.Unmarshal([]byte(before), &a) != nil || json.Unmarshal([]byte(after), &b) != nil {
		return after
	}
	var list []string
	for name := range b {
		if name == "options" || name == "registers" {
			if d := difference(string(a[name]), string(b[name])); d != "" {
				list = append(list, name+": "+d)
			}
		} else if !bytes.Equal(a[name], b[name]) {
			list = append(list, fmt.Sprintf("%s was %s, is %s", name, a[name], b[name]))
		}
	}
	return strings.Join(list, "; ")
}

var hermes string // the program

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "injection")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if hermes, err = gobuild.Program(dir, "tools/hermes"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func TestNoTextOfAnAgentActs(t *testing.T) {
	t.Parallel()
	places := []struct{ place, mode, keys string }{
		{"plain", "n", ""},
		{"plain", "i", "Omy words"},
		{"chat", "i", "my words"},
		{"chat", "n", "my words<Esc>"},
		{"hermes.chat", "i", "imy words"},
		{"hermes.chat", "n", "imy words<Esc>"},
		{"terminal", "t", "i"},
	}
	for _, program := range editors.All(t) {
		for i, where := range places {
			t.Run(program.Version+"/"+where.place+"/"+where.mode, func(t *testing.T) {
				t.Parallel()
				part := partOf(t, i, len(places))
				e := newEditor(t, program.Path, map[string]any{"place": where.place, "role": part.role()})
				e.lua("editor.open()")
				e.until("editor.session()")
				e.press(where.keys)
				e.inMode(where.mode)
				for _, scene := range []string{"updates", "requests", "permissions", "forms", "pages"} {
					asked := e.scene(scene, func() { e.lua("editor.play(...)", scene) }, false)
					if asked == 0 && scene != "updates" {
						t.Errorf("%s: the user was asked nothing", scene)
					}
				}
				for _, scene := range []string{"permissions", "forms", "pages"} {
					e.scene(scene+", dismissed", func() { e.lua("editor.play(...)", scene) }, true)
				}
				e.scene("answers", func() { e.lua("editor.requests(...)", part.len()) }, false)
			})
		}
	}
}

// command types a command and waits until it has run.
func (e *editor) command(keys string) {
	e.t.Helper()
	before := e.json("editor.typed()")
	e.press(keys)
	for deadline := time.Now().Add(patience.Turn); ; time.Sleep(5 * time.Millisecond) {
		mode := e.mode()
		switch {
		case mode.Mode[0] == 'r': // "press enter"
			e.press("<CR>")
		case !mode.Blocking && mode.Mode == "n" && e.json("editor.typed()") != before:
			return
		}
		if time.Now().After(deadline) {
			e.t.Fatalf("%s does not end, mode %v", keys, *mode)
		}
	}
}

func TestTheTestSeesControlCharactersOnTheScreen(t *testing.T) {
	t.Parallel()
	for _, bad := range [][]any{
		{"grid_line", []any{1, 0, 0, []any{[]any{"a", 0}, []any{"\x1b"}}}},
		{"grid_line", []any{1, 0, 0, []any{[]any{"\u009b", 0, 3}}}},
		{"set_title", []any{"a\x07"}},
		{"ui_send", []any{"x"}},
	} {
		e := &editor{}
		if e.redraw([]any{"grid_line", []any{1, 0, 0, []any{[]any{"a", 0}}}}, bad); len(e.screens) != 1 {
			t.Errorf("%q: %q", bad, e.screens)
		}
	}
}

// Names that agents choose are offered to the user on the command line.
func TestCommandsDoNotOfferTextThatActs(t *testing.T) {
	t.Parallel()
	programs := editors.All(t)
	for i, program := range programs {
		t.Run(program.Version, func(t *testing.T) {
			t.Parallel()
			part := partOf(t, i, len(programs))
			e := newEditor(t, program.Path, map[string]any{"place": "plain", "role": part.role()})
			e.lua("editor.open()")
			e.until("editor.session()")
			e.lua("editor.sessions(...)", part.len())
			e.until(fmt.Sprintf("vim.tbl_count(hermes.state().sessions) > %d", part.len()))
			for _, scene := range []string{"updates", "strays"} {
				e.scene(scene, func() { e.lua("editor.play(...)", scene) }, false)
			}
			e.offers("Hermes cancel ")
			e.lua("commanding = true")
			for _, keys := range []string{
				":Hermes cancel <Tab><CR>", ":Hermes cancel <Tab><Tab><Tab><CR>", ":Hermes prompt x<CR>", ":Hermes status<CR>", ":q<CR>",
				":Hermes health<CR>", ":q<CR>",
			} {
				e.command(keys)
				if marked := e.json("editor.marked()"); marked != "[]" {
					t.Fatalf("%s left %s", keys, marked)
				}
			}
			e.menus()
			e.command(":Hermes log<CR>")
			if log := e.json("vim.fn.getline(1, '$')"); !strings.Contains(log, "set textwidth=7") {
				t.Errorf("the log does not have what the agent said: %s", log)
			}
			e.lua("editor.refuse()")
			e.until("refuses")
			for i := range part.len() {
				e.lua("editor.refused()")
				e.until(fmt.Sprintf("editor.drew(%d)", i))
			}
			if marked := e.json("editor.marked()"); marked != "[]" {
				t.Errorf("the status left %s", marked)
			}
			e.keysAreTheUsers("commands")
		})
	}
}

// unheard lists the slots that do not get to Neovim, with the reason.
var unheard = map[slot]string{
	"CreateTerminalRequest.sessionId":      theSession,
	"ElicitationSessionScope.sessionId":    theSession,
	"KillTerminalRequest.sessionId":        theSession,
	"NewSessionResponse.sessionId":         theSession,
	"ReadTextFileRequest.sessionId":        theSession,
	"ReleaseTerminalRequest.sessionId":     theSession,
	"RequestPermissionRequest.sessionId":   theSession,
	"SessionNotification.sessionId":        theSession,
	"TerminalOutputRequest.sessionId":      theSession,
	"WaitForTerminalExitRequest.sessionId": theSession,
	"WriteTextFileRequest.sessionId":       theSession,
	"ElicitationUrlMode.url":               "the host lets only links through, in plain ASCII",
	"ElicitationRequestScope.requestId":    "Hermes' own id of the question is in its place",
}

const theSession = "it is the id that the agent gave the session, which is a vector"

// A text that a new schema adds is at once part of every test here. This test fails
// if it does not get to Neovim.
func TestEveryTextOfAnAgentGetsToNeovim(t *testing.T) {
	t.Parallel()
	all, err := protocol()
	if err != nil {
		t.Fatal(err)
	}
	e := newEditor(t, editors.All(t)[0].Path, map[string]any{"place": "plain", "role": "names"})
	e.lua("editor.open()")
	e.until("editor.session()")
	e.scene("everything", func() { e.lua("editor.play(...)", "everything") }, false)
	e.scene("answers", func() { e.lua("editor.requests(...)", 3) }, false)
	arrived, _ := e.lua("return editor.arrived()").(string)
	for _, s := range slots(all.notifications, all.requests, all.results) {
		heard, why := strings.Contains(arrived, named(s)), unheard[s]
		if !heard && why == "" {
			t.Errorf("%s does not get to Neovim", s)
		}
		if heard && why != "" {
			t.Errorf("%s gets to Neovim after all (%s)", s, why)
		}
		delete(unheard, s)
	}
	for s := range unheard {
		t.Errorf("%s is not in the schema", s)
	}
}
