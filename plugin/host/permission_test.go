package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/sockdir"
)

// askAboutCommands makes every command a question, which answer answers.
func (e *editor) askAboutCommands(answer string) {
	e.t.Helper()
	e.lua(`
hermes.setup({ permissions = { terminal_access = "ask" } })
hermes.on_request("PermissionRequest", function() return "` + answer + `" end)`)
	e.open()
	e.is(`hermes.state().agents.tester ~= nil`, true)
}

func TestACommandIsShownExactlyAsItWouldRun(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.askAboutCommands("allow")
		e.prompt("RUN echo 'a  b'\nSHELL echo one; echo two")
		e.is(`vim.tbl_map(function(x) return x.toolCall.title end, of("PermissionRequest"))`, []string{
			`Run sh -c 'echo '\''a  b'\''` + "'", `Run through a shell: ` + e.shell() + ` -c 'echo one; echo two'`,
		})
		e.is(`of("PermissionRequest")[1].toolCall.rawInput.cwd == vim.uv.fs_realpath(vim.fn.getcwd())`, true)
		e.is(`of("PermissionRequest")[1].toolCall.rawInput.program:match("^/.*/sh$") ~= nil`, true)
		e.is(`vim.tbl_map(function(x) return x.toolCall.rawInput.shell end, of("PermissionRequest"))`, []bool{false, true})
		e.is(`said():find("a  b", 1, true) ~= nil and said():find("one\\ntwo", 1, true) ~= nil`, true)
		e.is(`vim.iter(require("hermes.ask.permission").details(of("PermissionRequest")[2])):any(function(l)
  return l:find("shell: true", 1, true) ~= nil end)`, true)
	})
}

// shell is the first word of a shell line as it is shown.
func (e *editor) shell() string {
	title, _ := e.lua(`return of("PermissionRequest")[2].toolCall.title`).(string)
	name, _, _ := strings.Cut(strings.TrimPrefix(title, "Run through a shell: "), " ")
	if !strings.HasSuffix(name, "sh") {
		e.t.Errorf("the shell is %q", name)
	}
	return name
}

func TestAQuestionSaysWhatEarlierUpdatesHaveSaid(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.openWith(`"tester"`)
		e.lua(`hermes.on_request("PermissionRequest", function(data) asked = data.toolCall return "yes" end)`)
		e.prompt("MAY read /w/a")
		e.is(`{ asked.toolCallId, asked.title, asked.kind, asked.locations[1].path }`, []any{"may read /w/a", "read /w/a", "read", "/w/a"})
	})
}

func TestACommandThatIsNotAllowedDoesNotRun(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.askAboutCommands("reject")
		mark := filepath.Join(t.TempDir(), "mark")
		e.prompt("RUN touch " + mark)
		e.is(`said():find("the user did not allow it", 1, true) ~= nil`, true)
		if _, err := os.Stat(mark); err == nil {
			t.Error("it ran")
		}
	})
}

func TestWithoutQuestionsNoCommandRunsUnseen(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(`hermes.setup({ permissions = { terminal_access = "ask", request_permissions = false } })`)
		e.open()
		e.prompt("RUN echo unseen")
		e.is(`said():find("request_permissions is off", 1, true) ~= nil`, true)
		e.is(`#of("TerminalData")`, 0)
	})
}

// answers lets the user answer the agent's questions with one option, and the
// questions of Hermes itself with another.
func (e *editor) answers(agent, own string) {
	e.t.Helper()
	e.lua(`
local agent, own = ...
_G.seen = {}
if _G.off then off() end
_G.off = hermes.on_request("PermissionRequest", function(data)
  return vim.startswith(data.toolCall.toolCallId, "hermes:") and own or agent
end)`, agent, own)
}

// own are the questions of Hermes itself.
const own = `vim.tbl_filter(function(q) return vim.startswith(q.toolCall.toolCallId, "hermes:") end, of("PermissionRequest"))`

func TestAnAllowedQuestionCoversTheCommandItShows(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(`hermes.setup({ permissions = { terminal_access = "ask" } })`)
		e.open()
		line := `{"command":"echo covered; true","description":"say so"}`
		for _, allow := range []string{"yes", "always"} {
			e.answers(allow, "reject")
			e.prompt("SHOW " + line + "\nSHELL echo covered; true")
			e.is(`{ #of("PermissionRequest"), #`+own+`, said():find('"output":"covered', 1, true) ~= nil }`, []any{1, 0, true})
			e.answers(allow, "reject")
			e.prompt("SHELL echo covered; true") // another turn
			e.is(`{ #`+own+`, said():find("the user did not allow it", 1, true) ~= nil }`, []any{1, true})
		}
		for what, script := range map[string]string{
			"a second time":         "SHOW " + line + "\nSHELL echo covered; true\nSHELL echo covered; true",
			"another command":       "SHOW " + line + "\nSHELL echo covered; true;\nSHELL echo covered; true",
			"no command shown":      "MAYRUN build\nEXEC true\nSHOW " + line + "\nSHELL echo covered; true",
			"an earlier call":       "MAYRUN build\nSHOW {}\nEXEC true\nSHOW " + line + "\nSHELL echo covered; true",
			"a question about else": "ASK look\nEXEC true\nSHOW " + line + "\nSHELL echo covered; true",
		} {
			e.answers("yes", "reject")
			e.prompt(script)
			e.is(`{ "`+what+`", #`+own+`, #vim.split(said(), "did not allow it"), #vim.split(said(), '"output":"covered') }`, []any{what, 1, 2, 2})
		}
		e.answers("no", "reject")
		e.prompt("SHOW " + line + "\nSHELL echo covered; true")
		e.is(`{ #`+own+`, #vim.split(said(), "did not allow it") }`, []any{1, 2})
	})
}

func TestOnlyTheUsersWordOpensTheTurn(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(`hermes.setup({ permissions = { terminal_access = "ask", rules = { { action = "deny", command = { "rm" } } } } })`)
		e.open()
		e.answers("yes", "turn")
		e.prompt("EXEC echo one\nEXEC echo two\nSHELL echo three; true\nEXEC rm -r x")
		e.is(`{ #`+own+`, #of("TerminalExited"), #vim.split(said(), "did not allow it") }`, []any{1, 3, 2})
		e.is(`vim.tbl_map(function(o) return o.kind .. " " .. o.name end, of("PermissionRequest")[1].options)`, []string{
			"allow_once Run it", "allow_always Run this and every further command of this turn", "reject_once Do not run it",
		})
		e.answers("yes", "reject")
		e.prompt("EXEC echo four")
		e.is(`{ #`+own+`, #vim.split(said(), "did not allow it") }`, []any{1, 2})
	})
}

func TestAMissingFileReadsAsTheAgentNeedsIt(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.openWith(`"tester"`)
		e.prompt("READ " + e.cwd() + "/none.txt")
		e.is(`said():find("READ error", 1, true) ~= nil`, true)
		e.lua(`
hermes.setup({ agents = { tester = { quirks = { missing_file = "empty" } } } })
done = {}
hermes.disconnect("tester", { on_done = finish("gone") })`)
		e.until("done.gone")
		e.openWith(`"tester"`)
		e.lua(`for i = #seen, 1, -1 do seen[i] = nil end`)
		e.prompt("READ " + e.cwd() + "/none.txt\nREAD " + e.cwd() + "/none/below.txt\nREAD /etc/none.txt")
		e.is(`(select(2, said():gsub('READ {"content":""}', "")))`, 2)
		e.is(`(select(2, said():gsub("READ error", "")))`, 1)
	})
}

func (e *editor) cwd() string {
	s, _ := e.lua(`return vim.fn.getcwd()`).(string)
	return s
}

// T13 of the conformance list.
func TestPaddingHidesNothingOfTheCommandOnTheScreen(t *testing.T) {
	for name, pad := range map[string]string{
		"blanks":  strings.Repeat(" ", 1500),
		"options": strings.Repeat(" --harmless-option-with-a-long-name", 60),
	} {
		t.Run(name, func(t *testing.T) {
			inNeovim(t, func(t *testing.T, e *editor) {
				mark := filepath.Join(sockdir.New(t), "mark") // the end of the command has this much room
				screen := e.screen()
				e.lua(`hermes.setup({ permissions = { terminal_access = "ask" } })`)
				e.open()
				e.lua(`hermes.prompt(s, ..., { on_done = finish("turn") })`, "RUN echo ok"+pad+"; touch "+mark)
				e.until(`#require("hermes.ask.questions").list() > 0`)
				text := ""
				e.wait("the question is on the screen", func() bool {
					text = screen()
					return strings.Contains(text, ":Hermes respond")
				})
				if _, err := e.v.Input(":Hermes respond<CR>"); err != nil {
					t.Fatal(err)
				}
				focused := ""
				e.wait("the question has the keys", func() bool {
					focused = screen()
					return strings.Contains(focused, " · q hides")
				})
				facts := framed(text)
				switch {
				case name == "blanks" && (!strings.Contains(framed(focused), "echo ok‹1,500 blanks›; touch "+mark) || !strings.Contains(focused, "[allow once]")):
					t.Errorf("the command cannot be read and allowed:\n%s", focused)
				case name == "options" && (!strings.Contains(facts, "; touch "+mark) || !strings.Contains(facts, " more characters …") && !strings.Contains(text, "[allow once]")):
					t.Errorf("the end of the command cannot be read:\n%s", text)
				case !strings.Contains(text, "[allow once]") && !strings.Contains(text, "NOT ALL IS SHOWN"):
					t.Errorf("nothing says that something is missing:\n%s", text)
				}
				if _, err := e.v.Input("1<CR>"); err != nil {
					t.Fatal(err)
				}
				e.until("done.turn")
				e.is(`said():find("the user did not allow it", 1, true) ~= nil`, true)
				if _, err := os.Stat(mark); err == nil {
					t.Error("it ran")
				}
			})
		})
	}
}

// screen attaches a screen and returns what reads it.
func (e *editor) screen() func() string {
	e.t.Helper()
	e.attach()
	return func() string {
		s, _ := e.lua(`
local rows = {}
for row = 1, vim.o.lines do
  local cells = {}
  for column = 1, vim.o.columns do cells[column] = vim.fn.screenstring(row, column) end
  rows[row] = vim.trim(table.concat(cells))
end
return table.concat(rows, "\n")`).(string)
		return s
	}
}

// framed is the text in the window with a border, joined where it was wrapped:
// lines go on behind two blanks.
func framed(screen string) string {
	var text strings.Builder
	for line := range strings.Lines(screen) {
		if _, line, ok := strings.Cut(line, "│"); ok {
			line, _, _ = strings.Cut(line, "│")
			line = strings.TrimRight(line, " ")
			if rest, wrapped := strings.CutPrefix(line, "  "); wrapped {
				text.WriteString(rest)
			} else {
				text.WriteString("\n" + line)
			}
		}
	}
	return text.String()
}

// wait waits until a condition holds.
func (e *editor) wait(what string, is func() bool) {
	e.t.Helper()
	patience.True(e.t, what, is)
}
