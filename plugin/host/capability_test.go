package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatTheAgentHasNotAnnouncedIsNotSent(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.openWith(`"modest"`)
		for call, want := range map[string]string{
			`load_session("old", `:      "session/load: it has not announced loadSession",
			`resume_session("old", `:    "session/resume: it has not announced sessionCapabilities.resume",
			`fork_session(s, `:          "session/fork: it has not announced sessionCapabilities.fork",
			`list_sessions(`:            "session/list: it has not announced sessionCapabilities.list",
			`close_session("nowhere", `: "session/close: it has not announced sessionCapabilities.close",
			`delete_session("old", `:    "session/delete: it has not announced sessionCapabilities.delete",
			`logout("modest", `:         "logout: it has not announced auth.logout",
			`session_list({}, `:         "session/list: it has not announced sessionCapabilities.list",
			`prompt(s, { type = "image", data = "", mimeType = "image/png" }, `:        "images in prompts: it has not announced promptCapabilities.image",
			`prompt(s, { type = "audio", data = "", mimeType = "audio/wav" }, `:        "audio in prompts: it has not announced promptCapabilities.audio",
			`prompt(s, { type = "embedded", resource = { blob = "", uri = "x:y" } }, `: "embedded data in prompts: it has not announced promptCapabilities.embeddedContext",
		} {
			e.lua(`done.call, done.forced = nil, nil; hermes.` + call + `{ on_done = finish("call") })`)
			e.until("done.call")
			e.is("{ done.call.err and done.call.err.kind, done.call.err and done.call.err.message }",
				[]string{"unsupported", `agent "modest" does not support ` + want})
		}
		e.is(`#of("TurnStarted")`, 0)
		e.lua(`hermes.list_sessions({ force = true, on_done = finish("list") })`)
		e.until("done.list")
		e.is("done.list.result.sessions[1].sessionId", "old")
		e.lua(`hermes.request("modest", "session/list", nil, finish("raw"))`)
		e.until("done.raw")
		e.is("done.raw.err == nil", true)
		// A quirk says it of every call.
		e.lua(`
hermes.connect("shy", vim.tbl_extend("force", agent(serving .. " modest"), { quirks = { unannounced = true } }))
hermes.list_sessions({ agent = "shy", on_done = finish("shy") })`)
		e.until("done.shy")
		e.is("done.shy.err == nil", true)
	})
}

// The parts of a session that an agent cannot take are left out, and the rest
// works.
func TestServersThatAnAgentCannotReachAreLeftOut(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(listens)
		e.script("servers_left_out")
		e.until("done.connected")
		e.lua(`hermes.create_session(finished("new"))`)
		e.until("done.new")
		for key, call := range map[string]string{
			"new": "", "load": "load_session(done.new.result.sessionId, ", "resume": "resume_session(done.new.result.sessionId, ", "fork": "fork_session(done.new.result.sessionId, ",
		} {
			if call != "" {
				e.lua("hermes." + call + `finished("` + key + `"))`)
				e.until("done." + key)
			}
			e.is("done."+key+".err == nil", true)
			e.is(`taken("session/`+key+`")`, []string{"c"})
		}
		e.is(`#vim.tbl_filter(function(note) return note:find('works without the MCP server "a": it takes none over HTTP', 1, true) end, notes) > 0`, true)
		e.is(`#vim.tbl_filter(function(note) return note:find('works without the MCP server "b": it takes none over SSE', 1, true) end, notes) > 0`, true)
		e.lua(`hermes.create_session(vim.tbl_extend("error", finished("forced"), { force = true }))`)
		e.until("done.forced")
		e.is(`taken("session/new")`, []string{"c", "c a b", "folders"})
	})
}

func TestASessionThatTheAgentCannotCloseIsForgotten(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.openWith(`"modest"`)
		e.lua(`
hermes.prompt(s, "SAY on\nWAIT 1m", { on_done = finish("turn") })
hermes.prompt(s, "SAY never", { on_done = finish("next") })`)
		e.until(`said() == "on"`)
		e.lua(`_G.id = hermes.close_session(s, { on_done = finish("close") })`)
		e.until("done.close and done.turn and done.next")
		e.is("{ done.close.err == nil, done.turn.result.stopReason, done.next.result.stopReason }", []any{true, "cancelled", "cancelled"})
		e.is(`(function() local d = of("SessionClosed")[1]; return { d.sessionId == s, d.opId == id, d.reason } end)()`,
			[]any{true, true, `agent "modest" cannot close sessions and may keep it`})
		e.is(`hermes.state(s) == nil`, true)
		e.is(`#of("RequestFailed")`, 0)
		e.lua(`hermes.prompt(s, "x", { agent = "modest", on_done = finish("late") })`)
		e.until("done.late")
		e.is("done.late.err.kind", "unknown_session")
	})
}

// The fallback of an embedded file is a link to it, or else its text.
func TestEmbeddedTextReachesAgentsThatTakeNone(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.openWith(`"modest"`)
		file := filepath.Join(t.TempDir(), "a b.txt")
		if err := os.WriteFile(file, []byte("SAY disk\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		uri := "file://" + strings.ReplaceAll(file, " ", "%20")
		send := func(uri, text string) {
			t.Helper()
			e.lua(`
seen, done.turn = {}, nil
local uri, text = ...
hermes.prompt(s, { type = "embedded", resource = { uri = uri, text = text } }, { on_done = finish("turn") })`, uri, text)
			e.until("done.turn")
		}
		send(uri, "SAY disk\n")
		e.is("said()", "LINK "+uri)
		e.is(`of("ClientResourceLinkMessage")[1].name`, "a b.txt")
		send(uri, "SAY unsaved\n") // the file has something else
		e.is(`of("ClientTextMessage")[1].text`, uri+"\n```\nSAY unsaved\n```")
		send(uri+"#L1", "SAY disk\n") // a part of the file
		e.is(`of("ClientTextMessage")[1].text`, uri+"#L1\n```\nSAY disk\n```")
		send("hermes:quickfix", "a ``` b")
		e.is(`of("ClientTextMessage")[1].text`, "hermes:quickfix\n````\na ``` b\n````")
	})
}
