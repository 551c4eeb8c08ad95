package host

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEventsOfASessionComeInOrderAndBeforeTheResult(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.until(`#of("AgentAvailableCommands") == 1`)
		e.lua(`
_G.order = {}
hermes.on("*", function(d, name) if d.sessionId then order[#order + 1] = name end end)
hermes.on("TurnEnded", function() _G.first = done.turn == nil end)`)
		e.prompt("SAY a\nTOOL\nSAY b")
		e.until(`hermes.state(s).state == "idle"`)
		e.is("first", true)
		e.is(`(function()
  local last = 0
  for _, x in ipairs(seen) do
    if x.seq then
      if x.seq < last then return x end
      last = x.seq
    end
  end
end)() == nil`, true)
		e.is("hermes.state(s).toolCalls.t1.status", "completed")
		e.is("hermes.state(s).toolCalls.t1.title", "Look")
		e.is(`of("ToolCallState")[2].toolCall.content[1].newText`, "y")
		e.is(`of("AgentToolCallUpdate")[1].content[1].new_text`, "y")
		e.is(`of("AgentToolCall")[1].input`, `{"a":[1]}`)
		e.is("order", []string{
			"StateChanged", "TurnStarted", "ClientTextMessage", "CheckpointCreated", "AgentTextMessage", "AgentToolCall", "ToolCallState",
			"AgentToolCallUpdate", "ToolCallState", "AgentTextMessage", "Prompted", "TurnEnded", "StateChanged",
		})
	})
}

func TestUpdatesBeforeTheSessionIsKnownFollowItsEvent(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.until(`#of("AgentAvailableCommands") == 1`)
		e.is(`vim.tbl_map(function(x) return x.event end, vim.tbl_filter(function(x) return x.sessionId ~= nil end, seen))`,
			[]string{"SessionCreated", "AgentAvailableCommands"})
		e.is(`hermes.state(s).commands[1].name`, "plan")
		e.is(`of("SessionCreated")[1].models.currentModelId`, "big")
		e.is(`hermes.state(s).models.currentModelId`, "big")
	})
}

// The agent asks about its sessions before it has answered session/new, with and
// without a process for each.
func TestRequestsBeforeTheSessionIsKnownReachTheUserAfterIt(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		exe := testAgent(t)
		const from = `{"jsonrpc":"2.0",`
		steps := []string{"HEAR initialize", "LINE " + from + `"id":$ID,"result":{"protocolVersion":1}}`}
		for _, id := range []string{"$PID-1", "$PID-2"} {
			steps = append(steps, "HEAR session/new",
				"LINE "+from+`"method":"session/update","params":{"sessionId":"`+id+`","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"early"}}}}`,
				"LINE "+from+`"id":"`+id+`","method":"session/request_permission","params":{"sessionId":"`+id+`","toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Y","kind":"allow_once"}]}}`,
				"LINE "+from+`"id":$ID,"result":{"sessionId":"`+id+`"}}`)
		}
		for _, quirk := range []string{"false", "true"} {
			e.lua(`
local exe, script = ...
_G.seen, _G.asked = {}, {}
hermes.on_request("PermissionRequest", function(d) asked[#asked + 1] = d.sessionId; return "y" end)
hermes.connect("eager`+quirk+`", { command = exe, env = agent(script).env, quirks = { one_session = `+quirk+` } })
for i = 1, 2 do
  hermes.create_session({ agent = "eager`+quirk+`", cwd = vim.fn.getcwd(), on_done = finish("session" .. i) })
end`, exe, strings.Join(append(steps, "EOF"), "\n"))
			e.until(`#asked == 2 and #of("AgentTextMessage") == 2 and done.session1 and done.session2`)
			e.is(`vim.tbl_map(function(id)
  return vim.tbl_map(function(x) return x.event end, vim.tbl_filter(function(x)
    return x.sessionId == id and (x.event == "SessionCreated" or x.event == "AgentTextMessage" or x.event == "PermissionRequest")
  end, seen))
end, asked)`, [][]string{{"SessionCreated", "AgentTextMessage", "PermissionRequest"}, {"SessionCreated", "AgentTextMessage", "PermissionRequest"}})
			e.lua(`done = {}`)
		}
	})
}

// An agent that asks and ends its turn in one breath waits for no answer.
func TestAQuestionIsWithdrawnHoweverSoonItsTurnEnds(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`hermes.on_request("PermissionRequest", function() end)`) // who never answers
		const turns = 20
		for i := range turns {
			e.lua(`hermes.prompt(s, ..., { on_done = finish("turn") })`, fmt.Sprintf("LINE "+`{"jsonrpc":"2.0","id":"q%d","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Y","kind":"allow_once"}]}}`, i))
			e.until(`done.turn`)
			e.lua(`done = {}`)
		}
		e.until(fmt.Sprintf(`#of("RequestCancelled") == %d`, turns))
		e.is(`vim.tbl_map(function(x) return x.reason end, of("RequestCancelled"))`, slices.Repeat([]string{"the turn is over"}, turns))
		e.is(`{ #hermes.pending(), hermes.state("s1").state }`, []any{0, "idle"})
	})
}

func TestPromptsWaitForTheTurnThatRuns(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`
_G.ids = {}
-- The others come during the first turn, on a busy machine too.
for i = 1, 3 do ids[i] = hermes.prompt(s, (i == 1 and "WAIT 3s\nSAY " or "SAY ") .. i, { on_done = finish(i) }) end`)
		e.until("done[3]")
		e.is("said()", "123")
		e.is(`vim.tbl_map(function(x) return x.promptId end, of("AgentTextMessage"))`, []string{"prompt-3", "prompt-4", "prompt-5"})
		e.is("ids", []string{"prompt-3", "prompt-4", "prompt-5"})
		e.is(`#of("QueueChanged")`, 4)
	})
}

func TestRequestsOfASessionGoBeforeLaterPrompts(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`hermes.set_mode(s, "plan"); hermes.prompt(s, "SAY x", { on_done = finish("turn") })`)
		e.until("done.turn")
		e.is(`vim.tbl_map(function(x) return x.event end, vim.tbl_filter(function(x)
  return x.event == "AgentCurrentMode" or x.event == "AgentTextMessage" end, seen))`, []string{"AgentCurrentMode", "AgentTextMessage"})
		e.is(`hermes.state(s).modes.currentModeId`, "plan")
	})
}

func TestCancelEndsTheTurnAndDropsTheQueue(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`
hermes.prompt(s, "SAY on\nWAIT 10s\nSAY never", { on_done = finish(1) })
hermes.prompt(s, "SAY never", { on_done = finish(2) })`)
		e.until(`said() == "on"`)
		e.lua(`hermes.cancel(s, { on_done = finish("cancel") })`)
		e.until("done[1] and done[2] and done.cancel")
		e.is("done[1].result.stopReason", "cancelled")
		e.is("done[2].result.stopReason", "cancelled")
		e.is("done.cancel.result.cancelled", true)
		e.is("done.cancel.result.dropped", 1)
		e.is("said()", "on")
		e.is("hermes.state(s).state", "idle")
		// The session goes on.
		e.lua(`hermes.prompt(s, "SAY wards", { on_done = finish(3) })`)
		e.until("done[3]")
		e.is("done[3].result.stopReason", "end_turn")
		e.is("said()", "onwards")
	})
}

// After a cancel no answer is a failure, whatever the agent says, as long as it is there.
func TestWhateverAnAgentAnswersAfterACancel(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		for i, answer := range []string{`"result":null`, `"result":{}`, `"result":{"stopReason":"stopped"}`, `"result":{"stopReason":7}`, `"result":[]`, `"error":{"code":-32603,"message":"aborted"}`} {
			name := fmt.Sprint("a", i)
			e.lua(`
local name, answer = ...
_G.id, done.new, done.turn, done.off = nil, nil, nil, nil
hermes.connect(name, vim.tbl_extend("error", agent("TALK session/prompt\nHEAR session/cancel\nLINE {\"jsonrpc\":\"2.0\",\"id\":$ID," .. answer .. "}\nTALK"), {}))
hermes.create_session({ agent = name, on_done = function(_, r) id = r.sessionId end })`, name, answer)
			e.until("id")
			e.lua(`hermes.prompt(id, "x", { on_done = finish("turn") })`)
			e.until(`vim.iter(of("StateChanged")):any(function(d) return d.agent == "` + name + `" and d.sessionId == id and d.to == "running" end)`)
			e.lua(`hermes.cancel(id)`)
			e.until("done.turn")
			e.is("done.turn.err and done.turn.err.kind or done.turn.result.stopReason", "cancelled")
			e.lua(`hermes.disconnect(..., { on_done = finish("off") })`, name)
			e.until("done.off")
		}
	})
}

func TestCancelRightAfterAPromptEndsIt(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		for range 20 {
			e.lua(`
done.turn = nil
hermes.prompt(s, "WAIT 20s", { on_done = finish("turn") })
hermes.cancel(s)`)
			e.until("done.turn")
			e.is("done.turn.result.stopReason", "cancelled")
		}
		e.lua(`
done.turn = nil
hermes.set_mode(s, "slow") -- the prompt waits for it and never goes out
hermes.prompt(s, "WAIT 20s", { on_done = finish("turn") })
hermes.cancel(s)`)
		e.until("done.turn")
		e.is("done.turn.result.stopReason", "cancelled")
	})
}

func TestOutputThatNeovimMissesIsCounted(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`
_G.bytes, _G.missed = 0, 0
hermes.on("TerminalData", function(d)
  if bytes == 0 then vim.uv.sleep(1500) end
  bytes, missed = bytes + #d.chunk, missed + (d.skipped or 0)
end)`)
		e.prompt("RUN yes | head -c 40000000")
		e.until(`bytes + missed >= 40000000`)
		e.is(`bytes + missed`, 40000000)
		e.is(`missed > 0`, true)
	})
}

func TestCancelIsNotSentToAnIdleAgent(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`hermes.cancel(s, { on_done = finish("cancel") })`)
		e.until("done.cancel")
		e.is("done.cancel.result.cancelled", false)
		e.lua(`hermes.request(nil, "_count", { a = 1 }, finish("count"))`)
		e.until("done.count")
		e.is("done.count.result.cancels", 0)
		e.is("done.count.result.big", "9007199254740993")
	})
}

func TestParamsWithoutMembersAreAnObject(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`for i, params in ipairs({ {}, vim.empty_dict(), { a = 1 } }) do
  hermes.request(nil, "_count", params, finish("count" .. i))
end
hermes.request(nil, "_count", nil, finish("count4"))`)
		for i := range 4 {
			e.until(fmt.Sprintf("done.count%d", i+1))
			e.is(fmt.Sprintf("done.count%d.err", i+1), nil)
		}
	})
}

func TestCancelAnswersPermissionRequestsCancelled(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`
hermes.on_request("PermissionRequest", function(data) _G.asked = data end)
hermes.prompt(s, "ASK sure?", { on_done = finish("turn") })`)
		e.until("asked")
		e.is("hermes.state(s).state", "waiting")
		e.is("#hermes.state().pending", 1)
		e.lua(`hermes.cancel(s)`)
		e.until("done.turn")
		e.is("done.turn.result.stopReason", "cancelled")
		e.is("said()", `ASK {"outcome":{"outcome":"cancelled"}}`)
		e.is(`of("PermissionResolved")[1].outcome`, "cancelled")
		e.is(`of("PermissionResolved")[1].by`, "cancel")
		e.is(`#of("RequestCancelled")`, 1)
		e.is(`hermes.respond(asked.requestId, "yes")`, false)
		e.is("#hermes.state().pending", 0)
	})
}

func TestAHandlerAnswersPermission(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`hermes.setup({ handlers = { PermissionRequest = function(data) return data.options[1].optionId end } })`)
		e.prompt("ASK sure?")
		e.is("said()", `ASK {"outcome":{"outcome":"selected","optionId":"yes"}}`)
		e.is(`of("PermissionResolved")[1].optionId`, "yes")
		e.is(`of("PermissionResolved")[1].by`, "handler")
	})
}

func TestAnAnswerThatIsNoOptionCountsAsCancelled(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`hermes.on_request("session/request_permission", function() return "certainly" end)`)
		e.prompt("ASK sure?")
		e.is("said()", `ASK {"outcome":{"outcome":"cancelled"}}`)
		e.until(`table.concat(notes):find('there is no option "certainly"', 1, true)`)
	})
}

// Lua checks what it sends; this is what happens when it misses something.
func TestWhatTheHostCannotReadIsReported(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`
for _, key in ipairs({ "PermissionRequest", "ReadTextFile" }) do
  hermes.on_request(key, function(data)
    require("hermes.core.rpc").send("respond", data.requestId, { error = { code = "x" } })
  end)
end`)
		e.prompt("ASK one\nREAD /a") // the agent does not wait for ever
		e.is("said()", `ASK {"outcome":{"outcome":"cancelled"}}READ error: the editor's answer cannot be read`)
		e.until(`table.concat(notes):find("the answer to req-", 1, true)`)
		e.lua(`
hermes.setup({ permissions = { request_permissions = false } })
require("hermes.core.rpc").send("setup", "", { timeouts = { cancel = "soon" } })`)
		e.until(`table.concat(notes):find("setup: bad arguments", 1, true)`)
		e.prompt("ASK two") // the configuration is what it was
		e.is(`said():find("ASK error: method not found", 1, true) ~= nil`, true)
	})
}

func TestAnAnswerThatDoesNotFitIsAnErrorForTheAgent(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`
hermes.on_request("ReadTextFile", function() return { content = 5 } end)
hermes.on_request("PermissionRequest", function() return { outcome = { outcome = "selected" } } end)`)
		e.prompt("READ /a\nASK one")
		e.is(`said():find("READ error", 1, true) ~= nil`, true)
		e.is(`said():find('"cancelled"', 1, true) ~= nil or said():find("ASK error", 1, true) ~= nil`, true)
		e.until(`table.concat(notes):find("the answer to ReadTextFile from handler is not valid: /content", 1, true)`)
		e.until(`table.concat(notes):find("the answer to PermissionRequest from handler is not valid: /outcome", 1, true)`)
	})
}

func TestAListenerInTheGroupAnswersOthersWatch(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`
_G.defaults = 0
require("hermes.ask.permission").ask = function(data, answer) defaults = defaults + 1; answer("no") end
vim.api.nvim_create_augroup("mine", {})
vim.api.nvim_create_autocmd("User", { group = "mine", pattern = "PermissionRequest", callback = function(args) _G.watched = args.data.requestId end })
vim.api.nvim_create_autocmd("User", { group = "mine", pattern = "*", callback = function() end })`)
		e.prompt("ASK one")
		e.is("defaults", 1)
		e.is("watched ~= nil", true)
		e.lua(`
vim.api.nvim_create_autocmd("User", { group = "Hermes", pattern = "PermissionRequest", callback = function(args)
  _G.first, _G.second = args.data.respond("yes"), args.data.respond("no")
end })`)
		e.prompt("ASK two")
		e.is("defaults", 1)
		e.is("{ first, second }", []bool{true, false})
		e.lua(`vim.o.eventignore = "User"`)
		e.prompt("ASK three")
		e.is("defaults", 2)
	})
}

func TestAFileIsReadFromDiskAndFromTheBuffer(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		dir := e.lua(`return vim.fn.getcwd()`).(string)
		path := filepath.Join(dir, "f.txt")
		if err := os.WriteFile(path, []byte("disk\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		e.prompt("READ " + path)
		e.lua(`vim.cmd.edit(...); vim.api.nvim_buf_set_lines(0, 0, -1, false, { "unsaved" })`, path)
		e.prompt("READ " + path)
		e.is("said()", `READ {"content":"disk\n"}READ {"content":"unsaved\n"}`)
	})
}

func TestAFileOutsideTheSessionIsRefused(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`vim.cmd.edit("/etc/hostname")`) // not from the buffer either
		e.prompt("READ /etc/hostname")
		e.until(`said():find("outside the session roots", 1, true)`)
		e.prompt("WRITE /tmp/hermes-outside.txt x")
		e.is(`select(2, said():gsub("outside the session roots", ""))`, 2)
	})
}

func TestAFileSpelledAsADirectoryIsRefused(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		for _, open := range []bool{false, true} {
			path := filepath.Join(e.cwd(), fmt.Sprintf("s-%v.txt", open))
			if err := os.WriteFile(path, []byte("old\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if open {
				e.lua(`vim.cmd.edit(...)`, path)
			}
			for _, ending := range []string{"/", "/.", "//", "/./"} {
				e.lua(`seen = {}`)
				e.prompt("READ " + path + ending + "\nWRITE " + path + ending + " new")
				e.is(`select(2, said():gsub("not a directory", ""))`, 2)
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != "old\n" {
				t.Errorf("open=%v: %q, %v", open, b, err)
			}
		}
	})
}

func TestAWriteTellsBeforeAndAfter(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		dir := e.lua(`return vim.fn.getcwd()`).(string)
		for _, open := range []bool{false, true} {
			path := filepath.Join(dir, fmt.Sprintf("w-%v.txt", open))
			if err := os.WriteFile(path, []byte("old\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if open {
				e.lua(`vim.cmd.edit(...)`, path)
			}
			e.lua(`
local path = ...
_G.onDisk = {}
local function look() onDisk[#onDisk + 1] = table.concat(vim.fn.readfile(path)) end
if _G.off then off() end
_G.off = hermes.on({ "FileWritePre", "FileWritten" }, look)`, path)
			e.prompt("WRITE " + path + " new")
			e.until("#onDisk == 2")
			e.is("onDisk", []string{"old", "new"})
			got, err := os.ReadFile(path)
			if err != nil || strings.TrimSpace(string(got)) != "new" {
				t.Errorf("open=%v: on disk %q, %v", open, got, err)
			}
		}
		e.is(`{ of("FileWritten")[1].old, of("FileWritten")[1].new, of("FileWritten")[1].bufnr == nil, of("FileWritten")[2].bufnr ~= nil }`,
			[]any{"old\n", "new", true, true})
	})
}

func TestAFileThatRunsLaterIsWrittenAfterTheUserAgreed(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		dir := e.lua(`return vim.fn.getcwd()`).(string)
		path := filepath.Join(dir, ".envrc")
		e.lua(`_G.choice = "reject"; hermes.on_request("PermissionRequest", function(data) _G.title = data.toolCall.title; return choice end)`)
		e.prompt("WRITE " + path + " export A=1")
		if _, err := os.Stat(path); err == nil {
			t.Error("it was written without leave")
		}
		e.lua(`choice = "allow"`)
		e.prompt("WRITE " + path + " export A=1")
		if b, err := os.ReadFile(path); err != nil || string(b) != "export A=1" {
			t.Errorf("%q, %v", b, err)
		}
		e.is(`title:find(".envrc", 1, true) ~= nil`, true)
	})
}

func TestACommandRunsInATerminal(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.prompt("RUN echo out; exit 3")
		e.is("said()", `RUN {"output":"out\n","truncated":false,"exitStatus":{"exitCode":3}}`)
		e.until(`#of("TerminalExited") == 1 and #of("TerminalData") >= 1`)
		e.is(`of("TerminalExited")[1].exitCode`, 3)
		e.is(`of("TerminalData")[1].chunk`, "out\n")
	})
}

func TestCapabilitiesThatAreOffAreNotOffered(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(`hermes.setup({ permissions = { fs_read_access = false, terminal_access = false } })`)
		e.open()
		e.is(`of("ConnectionInitialized")[1]._meta.caps.fs`, map[string]bool{"writeTextFile": true})
		e.is(`of("ConnectionInitialized")[1]._meta.caps.terminal == nil`, true)
		e.prompt("READ /x\nRUN true")
		e.is(`select(2, said():gsub("method not found", ""))`, 2)
	})
}

func TestAMethodOutsideTheProtocolIsAnsweredFromLua(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.prompt(`CALL fs/remove {"x":1}`)
		e.is(`said():find("method not found", 1, true) ~= nil`, true)
		e.lua(`hermes.on_request("fs/remove", function(data) return { removed = data.params.x } end)`)
		e.prompt(`CALL fs/remove {"x":1}`)
		e.is(`of("AgentTextMessage")[2].text`, `CALL {"removed":1}`)
	})
}

func TestARequestTheAgentTakesBackIsClosed(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`hermes.on_request("ReadTextFile", function(data) _G.asked = data end)`)
		e.prompt("WITHDRAW /x")
		e.is(`#of("RequestCancelled")`, 1)
		e.is(`asked.respond("late")`, false)
		e.is("done.turn.result.stopReason", "end_turn")
	})
}

// A command may outlive its turn. Everything else that is asked in a turn ends with it.
func TestTheWaitForACommandOutlivesItsTurn(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`_G.asked = {}
for _, name in ipairs({ "TerminalExit", "ReadTextFile", "PermissionRequest" }) do
  hermes.on_request(name, function(data) asked[name] = data end)
end
hermes.prompt(s, ..., { on_done = finish("turn") })`, strings.Join([]string{
			`LEAVE terminal/wait_for_exit {"sessionId":"s1","terminalId":"t1"}`, `LEAVE fs/read_text_file {"sessionId":"s1","path":"/p"}`, "ASK sure?",
		}, "\n"))
		e.until("asked.TerminalExit and asked.ReadTextFile and asked.PermissionRequest")
		e.is("asked.PermissionRequest.respond('yes')", true)
		e.until("done.turn")
		e.until(`#of("RequestCancelled") > 0`)
		e.is(`vim.tbl_map(function(data) return data.method end, of("RequestCancelled"))`, []string{"fs/read_text_file"})
		e.is("asked.ReadTextFile.respond('late')", false)
		e.is("asked.TerminalExit.respond(3)", true)
	})
}

// R03 of the conformance list.
func TestTerminalsOfTheAgentsOwnAreShown(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		raw := func(meta string) string {
			return `NOTIFY session/update {"sessionId":"$SESSION","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":` + meta + "}}"
		}
		e.prompt(strings.Join([]string{raw(`{"terminal_info":{"terminal_id":"own","cwd":"/"}}`),
			raw(`{"terminal_output":{"terminal_id":"own","data":"one\n"}}`),
			raw(`{"terminal_output_delta":{"terminal_id":"own","data":"two\ud800"}}`),
			raw(`{"terminal_output":{"terminal_id":7,"data":{}}}`), raw(`{"terminal_output":null}`),
			raw(`{"terminal_exit":{"terminal_id":"own","exit_code":3,"signal":null}}`),
			raw(`{"terminal_exit":{"terminal_id":"killed","exit_code":null,"signal":"SIGKILL"}}`)}, "\n"))
		e.until(`#of("TerminalExited") == 2`)
		e.is(`vim.tbl_map(function(d) return d.terminalId .. " " .. d.chunk end, of("TerminalData"))`, []string{"own one\n", "own two\ufffd"})
		e.is(`of("TerminalExited")[1].exitCode`, 3)
		e.is(`of("TerminalExited")[2].signal`, "SIGKILL")
		e.is("done.turn.result.stopReason", "end_turn")
	})
}

func TestUnknownUpdatesAndBlocksAreEvents(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.prompt(`NOTIFY session/update {"sessionId":"$SESSION","update":{"sessionUpdate":"hologram","depth":[1,null,2],"none":null}}` + "\n" +
			`NOTIFY session/update {"sessionId":"$SESSION","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"smell","text":"\ud800"}}}` + "\n" +
			`NOTIFY session/update {"sessionId":"$SESSION","update":{"sessionUpdate":"session_info_update","title":null}}` + "\n" +
			`NOTIFY session/update {"sessionId":"$SESSION","update":{"sessionUpdate":"agent_message_chunk"}}` + "\n" +
			`NOTIFY session/update {"sessionId":"elsewhere","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}`)
		e.is(`of("SessionUpdateUnknown")[1].depth`, []int{1, 2})
		e.is(`of("SessionUpdateUnknown")[1].none == nil`, true)
		e.is(`of("AgentUnknownMessage")[1].text`, "\ufffd")
		e.is(`of("SessionUpdate")[1].cleared`, []string{"title"})
		e.until(`#of("RequestFailed") == 1`)
		e.is(`of("RequestFailed")[1].message:find("content", 1, true) ~= nil`, true)
		e.is(`of("AgentTextMessage")[1].sessionId`, "elsewhere")
	})
}

func TestLoadReplaysTheHistory(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`hermes.load_session("old", { cwd = vim.fn.getcwd(), on_done = finish("load") })`)
		e.until("done.load")
		e.is(`{ of("UserTextMessage")[1].text, of("UserTextMessage")[1].replay, of("SessionLoaded")[1].sessionId }`, []any{"earlier", true, "old"})
		e.lua(`_G.s = "old"`)
		e.prompt("SAY on")
		e.is(`{ of("AgentTextMessage")[1].replay, of("AgentTextMessage")[1].sessionId }`, []any{false, "old"})
		e.lua(`hermes.load_session("none", { on_done = finish("none") })`)
		e.until("done.none")
		e.is("{ done.none.err.kind, done.none.err.code, done.none.err.message }", []any{"agent", -32002, "no such session"})
	})
}

func TestSeveralAgentsAndSessionsAtOnce(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(`
for _, name in ipairs({ "tester", "second" }) do
  hermes.connect(name)
  for i = 1, 2 do
    hermes.create_session({ agent = name, on_done = function(err, r)
      hermes.prompt(r.sessionId, "WAIT 50ms\nSAY " .. name .. r.sessionId, { agent = name, on_done = finish(name .. i) })
    end })
  end
end`)
		e.until("vim.tbl_count(done) == 4")
		e.is(`(function() local l = vim.tbl_map(function(x) return x.agent .. " " .. x.text end, of("AgentTextMessage")); table.sort(l); return l end)()`,
			[]string{"second seconds1", "second seconds2", "tester testers1", "tester testers2"})
		e.lua(`hermes.disconnect("second", { on_done = finish("off") })`)
		e.until("done.off")
		e.is("vim.tbl_keys(hermes.state().agents)", []string{"tester"})
	})
}

func TestTrafficIsShownWhileSomebodyListens(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.prompt("SAY quiet")
		e.is(`#of("TrafficMessage")`, 0)
		e.lua(`_G.id = vim.api.nvim_create_autocmd("User", { pattern = "TrafficMessage", callback = function() end })`)
		e.prompt("SAY noticed") // the host hears of the listener by a batch
		e.prompt("SAY loud")
		e.is(`vim.iter(of("TrafficMessage")):any(function(x) return x.direction == "in" and x.message:find('"loud"', 1, true) ~= nil end)`, true)
		e.lua(`vim.api.nvim_del_autocmd(id)`)
		e.prompt("SAY done")
		e.lua(`_G.before = #of("TrafficMessage")`)
		e.prompt("SAY quiet again")
		e.is(`#of("TrafficMessage") == before`, true)
	})
}

func TestABurstArrivesWhole(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		const n = 3000
		e.prompt(fmt.Sprintf("COUNT %d", n))
		var want strings.Builder
		for i := range n {
			fmt.Fprintf(&want, "%d of %d", i+1, n)
		}
		if got := e.lua("return said()"); got != want.String() {
			t.Errorf("got %d bytes, want %d in order", len(got.(string)), want.Len())
		}
	})
}
