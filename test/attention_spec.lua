-- Notices, the statusline and the sessions at a glance, with events as the host
-- sends them.

local hermes, attention, events =
  require("hermes"), require("hermes.session.attention"), require("hermes.core.events")
local eq = MiniTest.expect.equality

describe("attention", function()
  local notices, builtin, views

  local function deliver(...)
    require("hermes.core.rpc").deliver(vim.json.encode({ ... }))
  end

  local function state(session, to)
    deliver("StateChanged", { agent = "a", sessionId = session, from = "idle", to = to })
  end

  local function settle()
    vim.wait(30, function()
      return false
    end, 2)
  end

  ---Gives a session a buffer, in no window.
  local function view(session)
    local buf = vim.api.nvim_create_buf(false, true)
    vim.b[buf].hermes_session = session
    views[#views + 1] = buf
  end

  before_each(function()
    views = {}
    require("hermes.core.config").reset()
    notices, builtin = {}, vim.notify
    vim.notify = function(text)
      notices[#notices + 1] = text
    end
    attention.start()
    vim.api.nvim_exec_autocmds("FocusGained", {})
    deliver("StateChanged", { agent = "a", from = "starting", to = "ready" })
    for _, id in ipairs({ "s1", "s2", "s3" }) do
      deliver("SessionCreated", { agent = "a", sessionId = id, cwd = "/w" })
    end
  end)
  after_each(function()
    settle()
    vim.notify = builtin
    events.own = {}
    vim.b.hermes_session = nil
    for _, buf in ipairs(views) do
      vim.api.nvim_buf_delete(buf, { force = true })
    end
    require("hermes.core.config").reset()
    require("hermes.session.state").agent_gone("a")
  end)

  it("says that an agent waits in its terminal, unless the terminal is in a window", function()
    local function wait(message)
      deliver("AttentionNeeded", { agent = "a", sessionId = "s1", message = message })
      settle()
    end
    wait("may I?\27[31m\nreally")
    eq(#notices, 1)
    eq(notices[1]:find("a waits in its terminal: may I?", 1, true) ~= nil, true)
    eq(notices[1]:find("[%c]"), nil)
    vim.b.hermes_session = "s1"
    wait("may I?")
    eq(#notices, 1)
    hermes.setup({ attention = { when = "always" } })
    wait("may I?")
    eq(#notices, 2)
    hermes.setup({ attention = { waiting = false } })
    wait("may I?")
    eq(#notices, 2)
  end)

  local function turn(session, data)
    deliver("TurnStarted", { agent = "a", sessionId = session, promptId = "p" })
    local full = { agent = "a", sessionId = session, promptId = "p" }
    deliver("TurnEnded", vim.tbl_extend("force", full, data))
    settle()
  end

  local done = { stopReason = "end_turn" }
  local failed = { error = { kind = "agent", message = "no\27 luck" } }

  it("tells of turns that are done or failed, not of those the user ended", function()
    deliver("SessionUpdate", {
      agent = "a",
      sessionId = "s1",
      update = { sessionUpdate = "session_info_update", title = "Fix\10it" },
    })
    vim.iter({ "s1", "s2", "s3" }):each(view)
    turn("s1", done)
    turn("s2", failed)
    turn("s3", { stopReason = "cancelled" })
    turn("s3", { error = { kind = "disconnected", message = "the host was stopped" } })
    eq(notices, { "hermes: a is done: Fix it", "hermes: a failed (no<1b> luck)" })
  end)

  it("tells nothing of a session that the user sees, unless asked to", function()
    vim.b.hermes_session = "s1"
    view("s2")
    turn("s1", done)
    eq(notices, {})
    turn("s2", done)
    eq(#notices, 1)
    vim.api.nvim_exec_autocmds("FocusLost", {})
    turn("s1", done)
    eq(#notices, 2)
    vim.api.nvim_exec_autocmds("FocusGained", {})
    hermes.setup({ attention = { when = "always" } })
    turn("s1", done)
    eq(#notices, 3)
  end)

  it("leaves sessions without a buffer to the script that made them", function()
    turn("s1", done)
    turn("s1", failed)
    vim.api.nvim_exec_autocmds("FocusLost", {})
    turn("s1", done)
    eq(notices, {})
  end)

  it("can be turned off, or given to a function", function()
    view("s1")
    hermes.setup({ attention = { done = false, failed = false, waiting = false } })
    turn("s1", done)
    turn("s1", failed)
    attention.tell({ kind = "waiting", agent = "a", text = "x" })
    settle()
    eq(notices, {})
    local got = {}
    hermes.setup({
      attention = {
        done = true,
        notify = function(notice)
          got[#got + 1] = notice
        end,
      },
    })
    turn("s1", done)
    eq(got, { { kind = "done", agent = "a", sessionId = "s1", text = "a is done" } })
    eq(notices, {})
  end)

  it("lists the sessions, those that wait for the user first", function()
    state("s1", "running")
    state("s3", "waiting")
    deliver("QueueChanged", { agent = "a", sessionId = "s1", items = { "p1", "p2" } })
    deliver("UsageUpdate", {
      agent = "a",
      sessionId = "s1",
      update = {
        sessionUpdate = "usage_update",
        used = 50,
        size = 200,
        cost = { amount = 1.234, currency = "USD" },
      },
    })
    turn("s2", failed)
    local list = hermes.sessions({ waiting_first = true })
    eq(
      vim.tbl_map(function(s)
        return { s.sessionId, s.state, s.queued, s.percent, s.ended }
      end, list),
      { { "s3", "waiting", 0 }, { "s1", "running", 2, 25 }, { "s2", "idle", 0, nil, "failed" } }
    )
    eq(list[2].usage.cost, { amount = 1.234, currency = "USD" })
    eq(list[3].error, "no\27 luck")
    eq(hermes.statusline(), "1 waiting, 1 running, 1 idle")
    eq(hermes.statusline({ session_id = "s1" }), "a: running +2 (25%%, 1.23 USD)")
    eq(hermes.statusline({ session_id = "s2" }), "a: failed")
    eq(hermes.statusline({ agent = "other" }), "")
    eq(
      hermes.statusline({
        format = function(sessions)
          return #sessions .. " of 100%"
        end,
      }),
      "3 of 100%%"
    )
  end)

  it("says what a statusline shows and evaluates nothing of it", function()
    vim.g.marked = nil
    local evil = "%{execute('let g:marked=1')}%@Pwn@%*\27[8m\10"
    deliver("StateChanged", { agent = evil, from = "starting", to = "ready" })
    deliver("SessionCreated", { agent = evil, sessionId = "e", cwd = "/w" })
    local shown = vim.api.nvim_eval_statusline(
      "%{%v:lua.require'hermes'.statusline({'session_id':'e'})%}",
      { maxwidth = 200 }
    )
    eq(shown.str, "%{execute('let g:marked=1')}%@…: idle")
    eq(vim.g.marked, nil)
    require("hermes.session.state").agent_gone(evil)
  end)

  it("names the agents that have no session", function()
    require("hermes.session.state").agent_gone("a")
    deliver("StateChanged", { agent = "b", from = "disconnected", to = "starting" })
    eq(hermes.statusline(), "b: starting")
    require("hermes.session.state").agent_gone("b")
    eq(hermes.statusline(), "")
  end)

  it("shows in the title how many wait and run", function()
    local title, own = vim.o.title, vim.o.titlestring
    vim.o.titlestring = "mine"
    hermes.setup({ attention = { title = true } })
    state("s1", "running")
    state("s2", "waiting")
    settle()
    eq(vim.o.titlestring, "%{v:lua.require'hermes.session.attention'._title()}mine")
    eq(vim.api.nvim_eval_statusline(vim.o.titlestring, {}).str, "[1 waiting, 1 running] mine")
    vim.o.title, vim.o.titlestring = title, own
  end)

  it("follows turns with progress messages where Neovim has them", function()
    if vim.fn.has("nvim-0.12") == 0 then
      return
    end
    local echo, shown = vim.api.nvim_echo, {}
    vim.api.nvim_echo = function(chunks, history, opts)
      shown[#shown + 1] = { chunks[1][1], opts.title, opts.status, opts.id ~= nil }
      return echo(chunks, history, opts)
    end
    hermes.setup({ attention = { progress = true, done = false, failed = false } })
    turn("s1", done)
    turn("s1", failed)
    vim.api.nvim_echo = echo
    eq(shown, {
      { "works", "a", "running", false },
      { "is done", "a", "success", true },
      { "works", "a", "running", false },
      { "failed", "a", "failed", true },
    })
  end)
end)
