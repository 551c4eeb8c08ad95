package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// count keeps the calls of the questions that reach Neovim, and answers them with no.
const count = `
_G.asked = {}
hermes.on_request("PermissionRequest", function(data)
  asked[#asked + 1] = data.toolCall.toolCallId
  for _, o in ipairs(data.options) do
    if o.kind == "reject_once" then return o.optionId end
  end
end)`

func TestRulesAnswerBeforeTheQuestionIsAsked(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(count)
		e.open()
		// Nothing is decided unless it is configured.
		e.prompt("MAY read /w/a.txt")
		e.is("{ asked, said() }", []any{[]string{"may read /w/a.txt"}, `MAY {"outcome":{"outcome":"selected","optionId":"no"}}`})
		e.lua(`hermes.setup({ permissions = { rules = {
  { action = "allow", kind = "read", path = "/w/**" },
  { action = "deny", path = "*.key" },
  { action = "allow", kind = "edit", agent = "second" },
} } })
asked, seen = {}, {}`)
		e.prompt("MAY read /w/deep/a.txt")
		e.is("{ asked, said() }", []any{[]string{}, `MAY {"outcome":{"outcome":"selected","optionId":"yes"}}`})
		e.is(`vim.tbl_map(function(x) return { x.by, x.optionId, x.toolCallId, x.requestId == nil } end, of("PermissionResolved"))`,
			[]any{[]any{"rule", "yes", "may read /w/deep/a.txt", true}})
		e.is(`#of("PermissionRequest")`, 0)
		e.lua("seen = {}")
		e.prompt("MAY read /w/secret.key")
		e.is("{ asked, said() }", []any{[]string{}, `MAY {"outcome":{"outcome":"selected","optionId":"no"}}`})
		for _, other := range []string{"read /elsewhere", "read /w/../elsewhere", "edit /w/a.txt"} {
			e.lua("asked = {}")
			e.prompt("MAY " + other)
			e.is("asked", []string{"may " + other})
		}
		e.lua(`hermes.setup({ permissions = { rules = {} } }); asked = {}`)
		e.prompt("MAY read /w/a.txt")
		e.is("#asked", 1)
	})
}

// The host keeps a part of large calls, for the rules as for Neovim.
func TestNoRuleAllowsWhatIsLeftOfACutToolCall(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(count)
		e.lua(`hermes.setup({ permissions = { rules = {
  { action = "allow", kind = "edit", path = "/w/**" }, { action = "allow", kind = "read" },
} } })`)
		e.open()
		e.prompt("MAY read /w/a.txt\nMAY edit /w/a.txt")
		e.is("asked", []string{})
		for _, how := range []string{"delivery", "memory", "number"} {
			e.lua("asked = {}")
			e.prompt("CUT " + how)
			e.is("{ asked, done.turn.err == nil }", []any{[]string{"cut"}, true})
		}
	})
}

func TestRulesOfASessionAndForOneQuestionEndWithIt(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(count)
		e.open()
		e.lua(`
hermes.permissions.add({ action = "allow", kind = "read", scope = "once" }, { on_done = finish("once") })
hermes.permissions.add({ action = "allow", kind = "edit", session = s }, { on_done = finish("session") })
hermes.permissions.add({ action = "allow", kind = "move" }, { on_done = finish("always") })`)
		e.until("done.always")
		e.is(`vim.tbl_map(function(r) return r.scope end, done.always.result.rules)`, []string{"once", "session", "always"})
		e.prompt("MAY read /w/a\nMAY read /w/b\nMAY edit /w/a\nMAY edit /w/b\nMAY move /w/a")
		e.is("asked", []string{"may read /w/b"})
		e.lua(`hermes.close_session(s, { on_done = function() hermes.permissions.list({ on_done = finish("left") }) end })`)
		e.until("done.left")
		e.is(`vim.tbl_map(function(r) return r.scope end, done.left.result.rules)`, []string{"always"})
		e.lua(`hermes.permissions.remove({ action = "allow", kind = "move" }, { on_done = finish("none") })`)
		e.until("done.none")
		e.is("done.none.result.rules", []string{})
		e.lua(`hermes.permissions.add({ action = "allow", kind = "dance" }, { on_done = finish("bad") })`)
		e.until("done.bad")
		e.is("{ done.bad.err.kind, done.bad.err.message }", []string{"invalid", `not a valid permission rule: unknown tool kind "dance"`})
		e.is(`select(2, pcall(hermes.permissions.add, { action = "allow", paths = "x" })):find('unknown key "the rule.paths"', 1, true) ~= nil`, true)
	})
}

func TestRulesAreKeptWhenTheUserWantsThat(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(count)
		e.lua(`hermes.setup({ permissions = { remember = true } })
hermes.permissions.add({ action = "allow", kind = "read", path = "~/w/*" }, { on_done = finish("kept") })`)
		e.until("done.kept")
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(filepath.Dir(e.log), "hermes", "permissions.json")
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), filepath.Join(home, "w", "*")) {
			t.Errorf("%s, %v", text, err)
		}
		e.lua(`require("hermes.core.rpc").stop()`)
		e.until(`not require("hermes.core.rpc").running()`)
		e.open()
		e.prompt("MAY read " + filepath.Join(home, "w", "a"))
		e.is("asked", []string{})
		e.lua(`require("hermes.core.rpc").stop()`)
		e.until(`not require("hermes.core.rpc").running()`)
		if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		e.lua("done, notes = {}, {}")
		e.open()
		e.until("#notes == 1")
		e.is(`notes[1]:find("set aside as", 1, true) ~= nil`, true)
		e.prompt("MAY read " + filepath.Join(home, "w", "a"))
		e.is("#asked", 1)
	})
}

func TestARuleForACommandAllowsThatCommandAlone(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(count)
		e.lua(`hermes.setup({ permissions = { terminal_access = "ask", rules = {
  { action = "allow", command = { "echo" } }, { action = "deny", command = { "rm" } },
} } })`)
		e.open()
		e.prompt("EXEC echo fine\nEXEC rm -r x")
		e.is("asked", []string{})
		e.is(`said():find('"output":"fine', 1, true) ~= nil and said():find("RUN error", 1, true) ~= nil`, true)
		e.prompt("EXEC true\nSHELL echo $(id)") // not the command, and a shell
		e.is("#asked", 2)
	})
}

func TestNoRuleAllowsAFileThatOthersRun(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(count)
		e.lua(`hermes.setup({ permissions = { rules = { { action = "allow", kind = "edit" } } } })`)
		e.open()
		e.prompt("WRITE " + e.cwd() + "/Makefile all:")
		e.is("#asked", 1)
		e.is(`vim.uv.fs_stat(vim.fn.getcwd() .. "/Makefile") == nil`, true)
	})
}

func TestARuleForACommandLooksAtItsVariablesAndItsFolder(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(count)
		e.lua(`hermes.setup({ permissions = { terminal_access = "ask", rules = {
  { action = "allow", command = { "echo" } },
  { action = "allow", command = { "echo", "named" }, env = { "HOME" }, cwd = vim.fn.getcwd() .. "/bare/**" },
} } })`)
		e.open()
		id, _ := e.lua("return s").(string)
		for _, name := range []string{"bare/HEAD", "bare/config", "sub/file"} {
			path := filepath.Join(e.cwd(), name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		create := func(word, dir, env string) string {
			return fmt.Sprintf(`CALL terminal/create {"sessionId":%q,"command":"echo","args":[%q],"cwd":%q,"env":[%s]}`, id, word, filepath.Join(e.cwd(), dir), env)
		}
		const home, harmless = `{"name":"HOME","value":"/x"}`, `{"name":"CLAUDECODE","value":"1"},{"name":"PAGER","value":"cat"}`
		e.prompt(create("x", "", harmless) + "\n" + create("x", "sub", "") + "\n" + create("named", "bare", home))
		e.is("asked", []string{})
		e.prompt(create("x", "", home))
		e.is(`#asked == 1 and vim.iter(require("hermes.ask.permission").details(of("PermissionRequest")[1])):any(function(l)
  return l:find("HOME=/x", 1, true) ~= nil end)`, true)
		e.prompt(create("x", "bare", "") + "\n" + create("named", "", home))
		e.is("#asked", 3)
	})
}

func TestRulesThatDenyBindTheFilesOfAnAgent(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(count)
		e.open()
		dir := e.cwd()
		for name, text := range map[string]string{".env": "secret", ".env.local": "secret", "open": "fine"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(".env", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		e.lua(`hermes.setup({ permissions = { rules = { { action = "deny", path = ".env*" } } } })
vim.cmd.edit(".env.local")`)
		const denied = "denied by a permission rule (path .env*)"
		for _, name := range []string{".env", "link", ".env.local", ".env.new"} {
			path := filepath.Join(dir, name)
			e.lua(`for i = #seen, 1, -1 do seen[i] = nil end`)
			e.prompt("READ " + path + "\nWRITE " + path + " new")
			for _, answer := range []string{"READ error: fs/read_text_file ", "WRITE error: fs/write_text_file "} {
				e.is(`said():find("`+answer+path+": "+denied+`", 1, true) ~= nil`, true)
			}
		}
		e.prompt("READ " + filepath.Join(dir, "open") + "\nWRITE " + filepath.Join(dir, "open") + " new")
		e.is(`said():find('READ {"content":"fine', 1, true) ~= nil and said():find("WRITE {}", 1, true) ~= nil`, true)
		e.is(`{ vim.api.nvim_buf_get_lines(vim.fn.bufnr(".env.local"), 0, -1, false), #asked }`, []any{[]string{"secret"}, 0})
		for _, name := range []string{".env", ".env.local"} {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != "secret\n" {
				t.Errorf("%s holds %q, %v", name, text, err)
			}
		}
	})
}

func TestTheRulesOfSetupHoldWithoutTheFileOfTheOthers(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(count)
		dir := filepath.Join(filepath.Dir(e.log), "hermes")
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, 0o777)); err != nil {
			t.Fatal(err)
		}
		e.lua(`hermes.setup({ permissions = { remember = true, rules = { { action = "deny", kind = "read" } } } })`)
		e.open()
		e.until("#notes == 1")
		e.is(`notes[1]:find("chmod go-w", 1, true) ~= nil`, true)
		e.prompt("MAY read /w/a.txt")
		e.is("{ asked, said() }", []any{[]string{}, `MAY {"outcome":{"outcome":"selected","optionId":"no"}}`})
		e.lua(`hermes.permissions.add({ action = "allow", kind = "edit" }, { on_done = finish("added") })`)
		e.until("done.added")
		e.is(`done.added.err.message:find("other users can change it", 1, true) ~= nil`, true)
	})
}
