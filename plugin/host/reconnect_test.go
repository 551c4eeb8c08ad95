package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/socket"
)

// shaky is a server of agents whose connections can be cut.
type shaky struct {
	path string

	mu   sync.Mutex
	down bool
	open []transport.Transport
}

func newShaky(t *testing.T, mode string) *shaky {
	s := &shaky{path: filepath.Join(sockdir.New(t), "s", "agent")}
	l, err := socket.ListenUnix(s.path)
	if err != nil {
		t.Fatal(err)
	}
	serveSocket(t, &socket.Server{Handle: func(ctx context.Context, way transport.Transport) {
		s.mu.Lock()
		down := s.down
		s.open = append(s.open, way)
		s.mu.Unlock()
		if down {
			way.Close()
			return
		}
		(&testagent.Agent{Mode: usual + " " + mode}).Serve(ctx, way)
	}}, l)
	return s
}

// at is what connect takes to reach it.
func (s *shaky) at() string {
	return fmt.Sprintf("'far', { protocol = 'socket', path = %q }", s.path)
}

// cut ends all connections; new ones end at once until mend.
func (s *shaky) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = true
	for _, way := range s.open {
		way.Close()
	}
	s.open = nil
}

func (s *shaky) mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = false
}

const reconnecting = `hermes.state().agents.far.state == "reconnecting"`

func TestABrokenConnectionIsMadeAgainAndItsSessionLoaded(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		s := newShaky(t, "")
		e.openWith(s.at())
		e.lua(`hermes.prompt(s, "TOOL\nSAY half\nWAIT 1m", { on_done = finish("cut") })
hermes.prompt(s, "SAY never", { on_done = finish("queued") })`)
		e.until(`said() == "half"`)
		s.cut()
		e.until("done.cut and done.queued and " + reconnecting)
		e.is(`done.cut.err.message`, "session/prompt: connection closed by the peer")
		e.is(`done.queued.err.message`, "session/prompt: connection closed by the peer")
		e.until(`#of("QueueChanged") == 2`)
		e.lua(`seen = {}
hermes.set_mode(s, "fast", { on_done = finish("mode") })
hermes.prompt(s, "SAY after", { on_done = finish("gap") })`)
		e.is(`#of("QueueChanged")`, 1)
		s.mend()
		e.until("done.gap")
		e.is("done.gap.result.stopReason", "end_turn")
		e.until("done.mode")
		e.is(`(function()
  local list = {}
  for _, x in ipairs(seen) do
    if x.event ~= "AgentCurrentMode" and x.event ~= "ModeUpdated" then list[#list + 1] = x.event end
  end
  return list
end)()`, []string{
			"QueueChanged",
			"StateChanged", "UserTextMessage", "SessionLoaded", "StateChanged", // of the session
			"StateChanged", // ready
			"QueueChanged", "StateChanged", "TurnStarted", "ClientTextMessage", "CheckpointCreated",
			"AgentTextMessage", "Prompted", "TurnEnded", "StateChanged",
		})
		e.is(`of("ModeUpdated")[1].seq == nil and of("AgentCurrentMode")[1].seq < of("AgentTextMessage")[1].seq`, true)
		e.is(`vim.tbl_map(function(x) return (x.sessionId or x.agent) .. " " .. x.to end, of("StateChanged"))`, []string{
			"s1 replaying", "s1 idle", "far ready", "s1 running", "s1 idle",
		})
		e.is(`{ of("UserTextMessage")[1].replay, of("AgentTextMessage")[1].replay, of("SessionLoaded")[1].cwd == vim.fn.getcwd() }`, []any{true, false, true})
		e.is(`vim.tbl_count(hermes.state(s).toolCalls)`, 0)
	})
}

func TestAnIdleSessionIsResumedWhenTheAgentCan(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		s := newShaky(t, "resume")
		e.openWith(s.at())
		e.prompt("TOOL")
		s.cut()
		s.mend()
		e.until(`#of("SessionResumed") == 1 and hermes.state().agents.far.state == "ready"`)
		e.is(`#of("UserTextMessage")`, 0)
		e.is(`vim.tbl_count(hermes.state(s).toolCalls)`, 1)
		e.prompt("SAY on we go")
		e.is("said()", "on we go")
	})
}

func TestASessionThatCannotBeTakenUpAgainIsClosed(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		s := newShaky(t, "forgetful")
		e.openWith(s.at())
		s.cut()
		s.mend()
		e.until(`#of("SessionClosed") == 1 and hermes.state().agents.far.state == "ready"`)
		e.is(`of("SessionClosed")[1].reason`, "the session could not be resumed: the agent can neither load nor resume sessions")
		e.is(`vim.tbl_count(hermes.state().sessions)`, 0)
		e.lua(`hermes.prompt(s, "SAY hi", { agent = "far", on_done = finish("lost") })`)
		e.until("done.lost")
		e.is("done.lost.err.kind", "unknown_session")
		e.lua(`done.session = nil`)
		e.openWith(s.at())
		e.prompt("SAY anew")
		e.is("said()", "anew")
	})
}

func TestWhatWaitsForAConnectionCanBeCancelled(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		s := newShaky(t, "")
		e.openWith(s.at())
		s.cut()
		e.until(reconnecting)
		e.lua(`hermes.prompt(s, "SAY no", { on_done = finish("turn") })
hermes.cancel(s, { on_done = finish("cancel") })`)
		e.until("done.turn and done.cancel")
		e.is("{ done.turn.result.stopReason, done.cancel.result.cancelled, done.cancel.result.dropped }", []any{"cancelled", false, 1})
		e.lua(`hermes.prompt(s, "SAY no", { on_done = finish("gone") })
hermes.set_mode(s, "fast", { on_done = finish("mode") })
hermes.disconnect("far", { on_done = finish("end") })`)
		e.until(`done.gone and done.mode and done["end"]`)
		e.is("{ done.gone.err.kind, done.mode.err.kind, done['end'].err == nil }", []any{"disconnected", "disconnected", true})
		e.is(`of("Disconnected")[1].reason`, `agent "far" was disconnected`)
	})
}

func TestAnAgentThatDiesIsStartedAgain(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(`hermes.setup({ reconnect = { process = true } })`)
		e.open()
		e.lua(`hermes.prompt(s, "ERR out of memory\nEXIT 7", { on_done = finish("dead") })`)
		e.until(`done.dead`)
		e.is(`done.dead.err.kind`, "exit")
		e.until(`hermes.state().agents.tester.state == "reconnecting"`)
		e.is(`vim.tbl_filter(function(x) return x.to == "reconnecting" end, of("StateChanged"))[1].reason:find("exited with status 7; stderr: out of memory", 1, true) ~= nil`, true)
		e.prompt("SAY again")
		e.is(`{ said(), #of("SessionLoaded"), #of("Disconnected"), #of("ConnectionInitialized") }`, []any{"again", 1, 0, 1})
	})
}

func TestAnAgentThatKeepsDyingIsGivenUp(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(`
local tester = require("hermes.core.config").get().agents.tester
hermes.setup({ agents = { once = {
  command = tester.command, reconnect = true,
  env = agent(("IF RAN ERR the database is damaged\nIF RAN EXIT 4\nTOUCH RAN x\n"):gsub("RAN", ...) .. serving).env,
} } })`, filepath.Join(t.TempDir(), "ran"))
		e.openWith(`"once"`)
		e.lua(`hermes.prompt(s, "ERR out of memory\nEXIT 7", { on_done = finish("dead") })`)
		e.until(`done.dead and hermes.state().agents.once.state == "reconnecting"`)
		e.lua(`hermes.prompt(s, "SAY never", { on_done = finish("never") })`)
		e.until(`done.never and #of("Disconnected") == 1`) // after four restarts with pauses
		e.is(`done.never.err.kind`, "exit")
		e.is(`of("Disconnected")[1].code`, 4)
		e.is(`of("Disconnected")[1].reason:find("gave up after 4 restarts in 3m0s", 1, true) ~= nil`, true)
		e.is(`of("Disconnected")[1].stderr_tail`, []string{"the database is damaged"})
		e.is(`notes[#notes]:find("the database is damaged", 1, true) ~= nil`, true)
		e.is(`hermes.state().agents.once == nil`, true)
	})
}

func TestAProgramThatIsGoneIsNotStartedAgain(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		exe := testAgent(t)
		link := filepath.Join(t.TempDir(), "agent")
		if err := os.Symlink(exe, link); err != nil {
			t.Fatal(err)
		}
		e.openWith(fmt.Sprintf(`"mine", { command = %q, reconnect = true, env = agent(serving).env }`, link))
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
		e.lua(`hermes.prompt(s, "ERR out of memory\nEXIT 7", { on_done = finish("dead") })`)
		e.until(`#of("Disconnected") == 1`)
		e.is(`of("Disconnected")[1].reason:find('agent "mine": cannot start', 1, true) ~= nil`, true)
	})
}
