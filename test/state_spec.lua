local root = vim.fs.dirname(vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))))
local pace = dofile(root .. "/test/pace.lua")
local state = require("hermes.session.state")
local eq = MiniTest.expect.equality

describe("the tool calls of a session", function()
  before_each(function()
    state.update("StateChanged", { agent = "a", from = "starting", to = "ready" })
    state.update("SessionCreated", { agent = "a", sessionId = "s" })
  end)
  after_each(function()
    state.agent_gone("a")
    collectgarbage()
  end)

  local function call(id, members)
    local update =
      vim.tbl_extend("force", { toolCallId = id, sessionUpdate = "tool_call" }, members)
    return state.update("AgentToolCall", { agent = "a", sessionId = "s", update = update })
  end

  ---@return integer bytes of text in all calls
  local function held()
    local bytes = 0
    for _, c in pairs(state.session("s").toolCalls) do
      for _, item in ipairs(c.content or {}) do
        bytes = bytes + #item.content.text
      end
    end
    return bytes
  end

  local function output(i, size)
    local text = ("%d "):format(i) .. ("x"):rep(size)
    return {
      title = "Call " .. i,
      status = "completed",
      content = { { type = "content", content = { type = "text", text = text } } },
    }
  end

  it("keep at most 8 MiB, the newest whole and the oldest without their contents", function()
    for i = 1, 900 do
      call("t" .. i, output(i, 20000))
    end
    local calls = state.session("s").toolCalls
    eq(vim.tbl_count(calls), 900)
    eq(held() < state.max_bytes and held() > state.max_bytes * 0.9, true)
    eq({ calls.t1.title, calls.t1.status, calls.t1.content, calls.t1.trimmed }, {
      "Call 1",
      "completed",
      nil,
      true,
    })
    eq(#calls.t900.content[1].content.text, 20004)
    eq(calls.t900.trimmed, nil)
  end)

  it("are at most 1000, and the last one is there whatever its size", function()
    for i = 1, 10000 do
      call("t" .. i, { title = "Call " .. i, status = "pending" })
      call("t" .. i, { status = "completed" })
    end
    local calls = state.session("s").toolCalls
    eq({ vim.tbl_count(calls), calls.t9000, calls.t9001.status }, { 1000, nil, "completed" })
    local follow = call("huge", output(1, 9 * 1024 * 1024))
    eq(#follow[1].data.toolCall.content, 1)
    eq(calls.t10000.title, "Call 10000")
    follow = call("t1", { status = "failed" }) -- forgotten: starts anew
    eq(follow[1].data.toolCall.title, nil)
    eq(state.session("s").toolCalls.huge.trimmed, true)
  end)

  it("start anew when the history is replayed", function()
    for i = 1, 900 do
      call("t" .. i, output(i, 20000))
    end
    state.update("StateChanged", { agent = "a", sessionId = "s", from = "idle", to = "replaying" })
    call("t1", output(1, 20000))
    eq(state.session("s").toolCalls.t1.trimmed, nil)
    eq(vim.tbl_count(state.session("s").toolCalls), 1)
  end)

  it("are copied for users without a pause", function()
    for i = 1, 10000 do
      call("t" .. i, output(i, 20000))
    end
    local began = os.clock()
    state.get("s")
    local ms = (os.clock() - began) * 1000
    eq(ms < 100 or ms < pace.most_ms(100, pace.here) or ms, true)
  end)
end)

describe("a session that is opened again", function()
  local log, said = require("hermes.core.log"), {}
  local notify = log.notify
  before_each(function()
    said = {}
    log.notify = function(_, text)
      said[#said + 1] = text
    end
    state.update("StateChanged", { agent = "a", from = "starting", to = "ready" })
  end)
  after_each(function()
    log.notify = notify
    state.agent_gone("a")
  end)

  local function option(id, value)
    local other = { { value = "x", name = "X" }, { value = "y", name = "Y" } }
    return { id = id, category = id, type = "select", currentValue = value, options = other }
  end

  local first = { modes = { currentModeId = "ask" }, models = { currentModelId = "small" } }
  local options = { configOptions = { option("mode", "x"), option("model", "x") } }
  for what, case in pairs({
    ["is the same"] = { first, first, {} },
    ["has another mode"] = {
      first,
      { modes = { currentModeId = "code" } },
      { ModeUpdated = "code" },
    },
    ["has another mode and model"] = {
      first,
      { modes = { currentModeId = "code" }, models = { currentModelId = "large" } },
      { ModeUpdated = "code", ModelUpdated = "large" },
    },
    ["has other options"] = {
      options,
      { configOptions = { option("mode", "y"), option("model", "x") } },
      { ModeUpdated = "y" },
    },
    ["says nothing of it"] = { first, {}, {} },
    ["has said nothing of it before"] = { {}, first, {} },
  }) do
    for _, name in ipairs({ "SessionResumed", "SessionLoaded" }) do
      it(("%s: %s"):format(what, name), function()
        local about = { agent = "a", sessionId = "s" }
        eq(state.update("SessionCreated", vim.tbl_extend("error", case[1], about)), nil)
        local told = {}
        local again = vim.tbl_extend("error", case[2], about)
        for _, event in ipairs(state.update(name, vim.deepcopy(again)) or {}) do
          eq({ event.data.agent, event.data.sessionId }, { "a", "s" })
          told[event.name] = event.data.modeId or event.data.modelId
        end
        eq(told, case[3])
        eq(#said, next(case[3]) and 1 or 0)
        for _, now in pairs(case[3]) do
          eq(said[1]:find(" is now " .. now, 1, true) ~= nil, true)
        end
      end)
    end
  end
end)
