package host

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAgentsAreListedFromThePresetsSetupAndARegistry(t *testing.T) {
	registry := filepath.Join(t.TempDir(), "registry.json")
	text := `{"version":"1.0.0","agents":[
{"id":"novel","name":"Novel","website":"https://novel.example","distribution":{"npx":{"package":"novel@1"}}},
{"id":"gemini","name":"Another","distribution":{"npx":{"package":"gemini@1"}}},
{"id":"Bad Name","distribution":{"npx":{"package":"x"}}}]}`
	if err := os.WriteFile(registry, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(`
local registry = ...
function _G.named(name)
  return vim.iter(done.list.result.agents):find(function(a) return a.name == name end)
end
hermes.setup({ agents = { far = { protocol = "socket", path = "/x" } } })
_G.id = hermes.agents({ on_done = finish("list") })`)
		e.until("done.list")
		e.is(`{ named("gemini").source, named("tester").source, named("novel") == nil }`, []any{"preset", "setup", true})
		e.is(`{ named("tester").installed, named("missing").installed, named("far").protocol }`, []any{true, false, "socket"})
		e.is(`named("demo").installed`, true)
		e.is(`{ of("AgentList")[1].opId == id, vim.deep_equal(of("AgentList")[1].agents, done.list.result.agents) }`, []bool{true, true})
		e.lua(`done = {}; hermes.connect("novel", { on_done = finish("novel") })`)
		e.until("done.novel")
		e.is("done.novel.err.kind", "unknown_agent")

		e.lua(`hermes.agents({ url = ..., on_done = finish("list") })`, registry)
		e.until("done.list")
		e.is(`{ named("novel").source, named("novel").title, named("novel").website, named("novel").command }`,
			[]any{"registry", "Novel", "https://novel.example", []string{"npx", "-y", "novel@1"}})
		e.is(`named("gemini").source`, "preset") // it stays what it was
		e.is(`#done.list.result.skipped`, 1)
		e.lua(`
vim.env.PATH = ""
hermes.connect("novel", { command = "no-such-program", on_done = finish("novel2") })`)
		e.until("done.novel2")
		e.is("done.novel2.err.kind", "start")

		for url, want := range map[string]string{
			"http://registry.example/r.json": "the list of agents: registry http://registry.example/r.json: only https URLs and files can be read, not http",
			"/no/such/file":                  "the list of agents: registry: open /no/such/file: no such file or directory",
		} {
			e.lua(`done = {}; hermes.agents({ url = ..., on_done = finish("bad") })`, url)
			e.until("done.bad")
			e.is("{ done.bad.err.kind, done.bad.err.message }", []string{"registry", want})
		}
	})
}
