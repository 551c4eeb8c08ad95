package host

import (
	"testing"
)

// listens makes Neovim listen to the traffic.
const listens = `hermes.on("TrafficMessage", function() end)`

func TestTrafficSaysWhatEachMessageIs(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.lua(listens)
		e.open()
		e.prompt("SAY hi")
		e.prompt(`CALL fs/remove {"sessionId":"$SESSION"}`)
		e.is(`(function()
  local list, seqs, connections = {}, true, {}
  for i, m in ipairs(of("TrafficMessage")) do
    seqs = seqs and m.seq == i
    connections[m.connection] = true
    local what = table.concat({ m.direction, m.kind, m.method or "", m.sessionId or "", m.failed and "failed" or "" }, " ")
    list[what] = (list[what] or 0) + 1
  end
  return { seqs, vim.tbl_count(connections), list["out request initialize  "], list["out request session/new  "], list["in response  s1 "],
    list["in notification session/update s1 "] > 0, list["out request session/prompt s1 "], list["in request fs/remove s1 "], list["out response   failed"] }
end)()`, []any{true, 1, 1, 1, 1, true, 2, 1, 1})
		e.is(`(function()
  local asked, answered = {}, 0
  for _, m in ipairs(of("TrafficMessage")) do
    local to = m.direction == "out" and "in" or "out"
    if m.kind == "request" then asked[m.direction .. m.id] = true end
    if m.kind == "response" and asked[to .. m.id] then answered = answered + 1 end
  end
  return answered == vim.tbl_count(asked)
end)()`, true)
	})
}

func TestTrafficShowsNoSecretsUnlessTheUserWantsThem(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		const secret = "sk-live0123456789abcdefghij"
		has := func(what string) string {
			return `vim.iter(of("TrafficMessage")):any(function(m) return m.direction == "in" and m.message:find("` + what + `", 1, true) ~= nil end)`
		}
		e.lua(listens)
		e.open()
		e.prompt(`NOTIFY _x/note {"headers":[{"name":"A","value":"hunter2hunter2"}],"text":"key ` + secret + `"}`)
		e.is(has("_x/note"), true)
		e.is(has(secret), false)
		e.is(has("hunter2"), false)
		e.is(`vim.iter(of("TrafficMessage")):any(function(m) return m.redacted end)`, true)
		e.lua(`hermes.setup({ traffic = { raw = true } })`)
		e.prompt("SAY " + secret)
		e.is(has(secret), true)
	})
}
