package host

import (
	"os"
	"path/filepath"
	"testing"
)

// The agents are recordings of claude-agent-acp 0.101.0 and codex-acp 2.6.0.
func TestAMessageGoesIntoTheTurnOfAPublishedAgent(t *testing.T) {
	for _, agent := range []string{"claude", "codex"} {
		for _, moment := range []string{"run", "ask"} {
			t.Run(agent+" "+moment, func(t *testing.T) {
				inNeovim(t, func(t *testing.T, e *editor) {
					file, err := filepath.Abs("../../internal/steering/testdata/" + agent + "-" + moment + ".jsonl")
					must(t, err)
					exe, err := os.Executable()
					must(t, err)
					e.lua(`
local exe, role = ...
hermes.connect("recorded", { command = exe, env = { HERMES_TEST_ROLE = role } })
hermes.on_request("PermissionRequest", function(data, answer)
  _G.asked, _G.answer = data.options[1].optionId, answer
end)`, exe, "recorded "+file)
					e.lua(`
hermes.create_session({ agent = "recorded", cwd = vim.fn.getcwd(), on_done = function(err, r)
  finish("session")(err, r)
  _G.s = r and r.sessionId
end })`)
					e.until("done.session")
					e.is("done.session.err == nil", true)
					e.lua(`_G.turn = hermes.prompt(s, "sleep", { on_done = finish("turn") })`)
					if moment == "ask" {
						e.until("asked")
					} else {
						e.until(`#of("AgentToolCall") > 0`)
					}
					e.lua(`_G.word = hermes.steer(s, "and say so", { on_done = finish("word") })`)
					e.until("done.word")
					e.is("done.word.err == nil and done.word.result", map[string]string{"outcome": "injected"})
					if moment == "ask" { // the question is still open
						e.is(`#of("RequestCancelled")`, 0)
						e.lua(`answer.respond(asked)`)
					}
					e.until("done.turn")
					e.is("done.turn.result.stopReason", "end_turn")
					e.is(`vim.tbl_map(function(x) return { x.steerId == word, x.outcome, x.promptId == turn } end, of("PromptSteered"))`,
						[][]any{{true, "injected", true}})
					e.is(`vim.tbl_map(function(x) return { x.source, x.text, x.promptId == turn } end, of("ClientTextMessage"))`,
						[][]any{{"client", "sleep", true}, {"steer", "and say so", true}})
					e.is(`#of("TurnStarted")`, 1)
				})
			})
		}
	}
}
