package host

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/plugin/events"
)

// Events repeat what the caller has asked for. The result is the agent's.
func TestAResultIsWhatTheAgentAnswered(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		for _, method := range []string{
			acp.MethodAuthenticate, acp.MethodLogout, acp.MethodSessionClose, acp.MethodSessionDelete, acp.MethodSessionList, acp.MethodSessionLoad,
			acp.MethodSessionPrompt, acp.MethodSessionResume, acp.MethodSessionSetConfigOption, acp.MethodSessionSetMode,
			"session/set_model", "session/fork", "_example/thing",
		} {
			e.lua(`done = {}`)
			e.openWith(`"own"`)
			e.lua(`
local method, answer = ...
_G.want = vim.json.decode(answer)
hermes.request("own", method, {
  sessionId = s, cwd = vim.fn.getcwd(), mcpServers = {}, prompt = { { type = "text", text = "hi" } },
  methodId = "m", modeId = "m", modelId = "m", configId = "m", value = "m",
}, finish("own"))`, method, testagent.OwnAnswer)
			e.until("done.own")
			if e.lua(`return vim.deep_equal(done.own.result, want)`) != true {
				t.Errorf("%s: %s", method, e.lua(`return vim.inspect(done.own)`))
			}
			if event := events.Reply(method); event != "" && strings.HasPrefix(method, "session/") && method != acp.MethodSessionList {
				e.is(fmt.Sprintf(`(function() local d = of(%q); d = d[#d]; return d.sessionId == s and d.agent == "own" and d.opId ~= "theirs" end)()`, event), true)
			}
		}
		e.lua(`hermes.request("own", "_list", { sessionId = s }, finish("list"))`)
		e.until("done.list")
		e.is("done.list.result", []any{"theirs", 2})
	})
}

func TestAForkedSessionIsKnown(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.openWith(`"own"`)
		e.lua(`_G.id = hermes.fork_session(s, { on_done = finish("fork"), force = true })`)
		e.until("done.fork")
		e.is("done.fork.result.sessionId", "theirs")
		e.is(`(function() local d = of("SessionForked")[1]; return { d.sessionId, d.agent, d.opId, d.forkedFrom == s, d.cwd == vim.fn.getcwd() } end)()`,
			[]any{"theirs", "own", e.lua("return id"), true, true})
		e.is(`#of("SessionCreated")`, 1)
		e.is(`hermes.state("theirs").state`, "idle")
		e.lua(`hermes.prompt("theirs", "hi", { on_done = finish("turn") })`)
		e.until("done.turn")
		e.is("{ done.turn.err == nil, done.turn.result.stopReason }", []any{true, "end_turn"})
		e.is(`of("TurnStarted")[1].sessionId`, "theirs")
		e.is(`hermes.state(s).state`, "idle")
	})
}
