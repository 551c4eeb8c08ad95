package host

import (
	"testing"
)

// listens makes Neovim listen to the traffic.
const listens = `hermes.on("TrafficMessage", function() end)`

func TestTrafficSaysWhatEachMessageIs(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
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
	inNeovim(t, func(t *testing.T, e *editor) {
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

func TestAFloodInTheTrafficWindowStallsNothing(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.attach()
		e.open()
		e.script("traffic_longest")
		e.prompt("COUNT 20000")
		e.until(`(function()
  return vim.fn.line("$") == 5000 and vim.fn.getline("$"):find("✓ session/prompt", 1, true)
end)()`)
		// Neovim looks at keys and screen all the time, so no piece of the work is a large
		// part of it. How long a piece takes is a matter of the machine.
		longest, _ := e.lua("return longest").(float64)
		if all, _ := e.lua("return os.clock() - began").(float64); longest <= 0 || longest > all/8 {
			t.Errorf("busy for %.3f s of %.3f s without a pause", longest, all)
		} else {
			t.Logf("longest: %.1f ms of %.0f ms", 1000*longest, 1000*all)
		}
		e.is(`#traffic.messages()`, 5000)
		e.is(`traffic.messages()[5000].ms ~= nil`, true) // its request is no longer kept
	})
}
