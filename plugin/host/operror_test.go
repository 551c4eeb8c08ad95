package host

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/test/editors"
)

func TestTheCauseOfAnAgentsErrorIsShown(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		for _, data := range []string{`"no credit left"`, `{"details":"no credit left"}`, `{"message":"no credit left","status":402}`} {
			e.lua(`notes, done = {}, {}`)
			e.prompt(`ERROR {"code":-32603,"message":"Internal error","data":` + data + `}`)
			e.is("{ done.turn.err.kind, done.turn.err.code, done.turn.err.message }", []any{"agent", -32603, "Internal error: no credit left"})
			e.is(`of("TurnEnded")[#of("TurnEnded")].error.message`, "Internal error: no credit left")
			e.is(`of("RequestFailed")[#of("RequestFailed")].message`, "Internal error: no credit left")
			e.lua(`hermes.prompt(s, ...)`, `ERROR {"code":-32603,"message":"Internal error","data":`+data+`}`)
			e.until("#notes > 0")
			e.is("notes", []string{"hermes: session/prompt: Internal error: no credit left"})
		}
		long := strings.Repeat("x", 3000) + "the end"
		e.prompt(`ERROR {"code":1,"message":"a","data":"` + long + `"}`)
		e.is("#done.turn.err.message < 2000", true)
		if log, err := os.ReadFile(e.log); err != nil || !strings.Contains(string(log), long) {
			t.Errorf("the log lacks the cause: %v", err)
		}
	})
}

// aborted is an answer of agents to a prompt that was cancelled.
const aborted = `{"code":-32603,"message":"Internal error","data":"aborted"}`

// An operation that the user ended always ends in the same way, whatever the
// agent and the wire make of it, and shows no error.
func TestWhatTheUserEndedIsNoError(t *testing.T) {
	const left = `agent "tester" was disconnected`
	turns := map[string]string{
		"before the prompt is sent":         "WAIT 1m",
		"in a turn":                         "SAY on\nWAIT 1m",
		"while the agent asks":              "SAY on\nASK sure?",
		"while a command runs":              "SAY on\nRUN sleep 60",
		"when the agent heeds no cancel":    "SAY on\nIGNORE 1m",
		"when the agent answers an error":   "SAY on\nATCANCEL ERROR " + aborted,
		"in the middle of many updates":     "SAY on\nFILL 100000 10240",
		"when the agent dies of the cancel": "SAY on\nATCANCEL EXIT 9",
	}
	for name, script := range turns {
		t.Run(name, func(t *testing.T) {
			inNeovim(t, func(t *testing.T, e *editor) {
				e.open()
				e.lua(`
hermes.on_request("PermissionRequest", function(d) return d.toolCall.title ~= "sure?" and "allow" or nil end)
hermes.prompt(s, ...)
hermes.prompt(s, "SAY never")
hermes.request("tester", "_count")`, script)
				if strings.HasPrefix(script, "SAY") {
					e.until(`#of("AgentTextMessage") > 0`)
				}
				e.lua(`hermes.disconnect("tester", { on_done = finish("off") })`)
				e.until("done.off and #of('Disconnected') == 1")
				e.is(`of("Disconnected")[1].reason`, left)
				e.is(`#of("TurnEnded")`, 1)
				e.is(`{ of("TurnEnded")[1].error.kind, of("TurnEnded")[1].error.message }`, []string{"disconnected", left})
				e.is(`vim.tbl_map(function(d) return d.kind .. ": " .. d.message end, vim.tbl_filter(function(d)
  return d.method == "session/prompt"
end, of("RequestFailed")))`, []string{"disconnected: " + left, "disconnected: " + left})
				e.is(`table.concat(notes, "\n")`, "")
				e.is(`table.concat(vim.tbl_filter(function(l) return l:find(" ERROR ") or l:find("context") end, vim.fn.readfile(require("hermes.core.log").path())), "\n")`, "")
			})
		})
	}
}

// An agent may answer a prompt that was cancelled with an error.
func TestAnErrorAfterACancelIsTheCancel(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`hermes.prompt(s, ...)`, "SAY on\nATCANCEL ERROR "+aborted)
		e.until(`said() == "on"`)
		e.lua(`hermes.cancel(s)`)
		e.until(`#of("TurnEnded") == 1 and #of("RequestFailed") == 1`)
		for _, err := range []string{`of("TurnEnded")[1].error`, `of("RequestFailed")[1]`} {
			e.is("{ "+err+".kind, "+err+".code, "+err+".message }", []any{"cancelled", -32603, "the turn was cancelled: Internal error: aborted"})
		}
		e.is(`table.concat(notes, "\n")`, "")
	})
}

func TestAHostTheUserStopsIsNoError(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`
hermes.prompt(s, "SAY on\nWAIT 1m", { on_done = finish("turn") })
hermes.prompt(s, "SAY never")`)
		e.until(`said() == "on"`)
		e.lua(`require("hermes.core.rpc").stop()`)
		e.until(`done.turn and #of("RequestFailed") == 2`)
		e.is("{ done.turn.err.kind, done.turn.err.message }", []string{"disconnected", "the host was stopped"})
		e.is(`table.concat(notes, "\n")`, "")
	})
}

func TestAnAgentThatIsDisconnectedWhileItStartsFailsNobody(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(`
hermes.connect("mute")
hermes.create_session({ on_done = finish("session") })`)
		e.until(`hermes.state().agents.mute and hermes.state().agents.mute.state == "initializing"`)
		e.lua(`hermes.disconnect("mute", { on_done = finish("off") })`)
		e.until("done.off and done.session")
		e.is("{ done.session.err.kind, done.session.err.message }", []string{"disconnected", `agent "mute" was disconnected`})
		e.is(`of("ConnectionFailed")[1].error`, `agent "mute" was disconnected`)
		e.is(`table.concat(notes, "\n")`, "")
	})
}

func TestTheHelpListsEveryKindOfError(t *testing.T) {
	t.Parallel()
	help, err := os.ReadFile(filepath.Join(editors.Root(t), "doc", "hermes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(help), "*hermes-error*")
	_, list, _ = strings.Cut(list, "{kind}")
	list, _, found := strings.Cut(list, "\n    {")
	if !found {
		t.Fatal("the help has no list of the kinds")
	}
	got := []string{}
	for _, line := range strings.Split(list, "\n") {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, `"`) {
			for _, name := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(line, -1) {
				got = append(got, name[1])
			}
		}
	}
	want := append(wire.ErrorKinds[:len(wire.ErrorKinds):len(wire.ErrorKinds)], "host", "install", "lua") // of Lua
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the help lists %q, there are %q", got, want)
	}
	if slices.Contains(want, "") {
		t.Error("a kind has no name")
	}
}
