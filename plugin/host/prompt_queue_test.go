package host

import "testing"

// waiting begins a turn that lasts and puts prompts behind it.
const waiting = `
hermes.prompt(s, "SAY on\nWAIT 1m", { on_done = finish("turn") })
_G.ids = {}
for _, text in ipairs({ "a", "b", "c" }) do
  ids[text] = hermes.prompt(s, "SAY " .. text, { on_done = finish(text) })
end`

// queued names the prompts that wait, in order, by their text.
const queued = `vim.tbl_map(function(q) return q.content[1].text end, hermes.queue.list(s))`

func TestPromptsThatWaitCanBeChanged(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(waiting)
		e.until(`said() == "on" and #hermes.state(s).queue == 3`)
		e.is(queued, []string{"SAY a", "SAY b", "SAY c"})
		e.is(`hermes.queue.list(s)[1].promptId == ids.a`, true)
		// change carries one out. The event of it comes after what it changes.
		change := func(call string, want ...string) {
			t.Helper()
			e.lua(`
done.change, _G.heard = nil, nil
hermes.once("QueueChanged", function() heard = ` + queued + ` end)
hermes.queue.` + call)
			e.until("done.change and heard")
			e.is("done.change.err == nil", true)
			e.is(queued, want)
			e.is("heard", want)
		}
		change(`move(ids.c, 1, { on_done = finish("change") })`, "SAY c", "SAY a", "SAY b")
		change(`move(ids.c, 99, { on_done = finish("change") })`, "SAY a", "SAY b", "SAY c")
		change(`edit(ids.b, { "SAY B", { type = "resource_link", name = "x", uri = "file:///x" } }, { on_done = finish("change") })`, "SAY a", "SAY B", "SAY c")
		change(`remove(ids.a, { on_done = finish("change") })`, "SAY B", "SAY c")
		e.is("done.a.result.stopReason", "cancelled")
		e.is(`hermes.state(s).state`, "running")
		e.lua(`hermes.queue.send_now(ids.c, { on_done = finish("now") })`)
		e.until("done.now and done.turn and done.b and done.c")
		e.is("done.now.result.cancelled", true)
		e.is("done.turn.result.stopReason", "cancelled")
		e.is("said()", "oncBLINK file:///x")
		e.is(`vim.tbl_map(function(x) return x.text end, of("ClientTextMessage"))`, []string{"SAY on\nWAIT 1m", "SAY c", "SAY B"})
		for _, call := range []string{`edit(ids.b, "x", `, `remove(ids.b, `, `move("prompt-0", 1, `, `send_now(ids.c, `} {
			e.lua(`done.late = nil; hermes.queue.` + call + `{ on_done = finish("late") })`)
			e.until("done.late")
			e.is("done.late.err.kind", "not_queued")
		}
		e.is(`#of("TurnStarted")`, 3)
	})
}

// An agent that takes no message into a turn gets it as a prompt. What it was at work on goes on,
// unless the user wants it cancelled.
func TestASteeringPromptGoesBeforeAllOthers(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`hermes.steer(s, "SAY idle ", { on_done = finish("idle") })`) // nothing runs
		e.until("done.idle")
		e.is(`done.idle.result.outcome .. " " .. done.idle.result.stopReason`, "started end_turn")
		e.is(`vim.tbl_map(function(x) return x.outcome end, of("PromptSteered"))`, []string{"started"})
		for _, cancel := range []string{`true`, `"fallback"`} {
			for range 3 {
				e.lua(`seen, done = {}, {}` + waiting)
				e.lua(`_G.now = hermes.steer(s, "SAY now", { cancel = ` + cancel + `, on_done = finish("now") })`) // at once, or in the turn
				e.until("done.turn and done.now and done.a and done.b and done.c")
				e.is("done.turn.result.stopReason", "cancelled")
				e.is(`done.now.result.outcome .. " " .. done.now.result.stopReason`, "restarted end_turn")
				e.is("(said():gsub('^on', ''))", "nowabc")
				e.is(`#of("RequestFailed")`, 0)
				e.is(`vim.tbl_map(function(x) return { x.steerId == now, x.outcome } end, of("PromptSteered"))`, [][]any{{true, "restarted"}})
			}
		}
	})
}

func TestSteeringCancelsNothingUnlessTold(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`
hermes.prompt(s, "SAY on\nWAIT 300ms\nSAY end", { on_done = finish("turn") })
for _, text in ipairs({ "a", "b" }) do
  hermes.prompt(s, "SAY " .. text, { on_done = finish(text) })
end
hermes.steer(s, "SAY 1", { on_done = finish("first") })
hermes.steer(s, "SAY 2", { on_done = finish("second") })`)
		e.until("done.turn and done.first and done.second and done.a and done.b")
		e.is("done.turn.result", map[string]string{"stopReason": "end_turn"})
		e.is(`done.first.result.outcome .. " " .. done.first.result.stopReason`, "queued end_turn")
		e.is("said()", "onend12ab")
		for _, call := range []string{`steer(s, "x", { cancel = "yes" })`, `steer(s, "x", { cancel = 1 })`, `prompt(s, "x", { cancel = true })`} {
			e.is(`(pcall(function() hermes.`+call+` end))`, false)
		}
	})
}
