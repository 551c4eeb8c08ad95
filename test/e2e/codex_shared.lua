-- The stock UI of Codex beside Neovim, in one session. Started by codex_shared_test.go;
-- $HERMES_E2E says where.
local config = vim.json.decode(vim.env.HERMES_E2E)
local ws = config.workspace
vim.ui.select = function() end -- questions are answered below
vim.o.swapfile, vim.o.columns, vim.o.lines = false, 200, 50

local hermes = require("hermes")
hermes.setup({
  host = { cmd = { config.hermes, "host" } },
  timeouts = { initialize = config.patience, new_session = config.patience },
  shim = { terminal = "buffer" },
})
local events = {} ---@type { name: string, data: table }[]
hermes.on("*", function(data, name)
  events[#events + 1] = { name = name, data = data }
end)

---@param what string
---@param is fun(): any
---@param seen? fun(): any
local function wait(what, is, seen)
  local found
  local ok = vim.wait(config.patience, function()
    found = is()
    return found
  end, 20)
  if not ok then
    local names = vim.tbl_map(function(event)
      return event.name
    end, events)
    local shown = seen and table.concat(seen(), "\n") or ""
    error(("no %s\n%s\n%s"):format(what, shown, table.concat(names, " ")), 0)
  end
  return found
end

---@param name string
---@param is? fun(data: table): boolean
local function event(name, is)
  return wait(name, function()
    for _, e in ipairs(events) do
      if e.name == name and (not is or is(e.data)) then
        return e.data
      end
    end
  end)
end

hermes.connect("codex", { shared = true })
hermes.create_session({ cwd = ws })
local session = event("SessionCreated").sessionId

local ui ---@type integer
local function screen()
  return vim.api.nvim_buf_get_lines(ui, 0, -1, false)
end
local function shows(text)
  wait("screen with " .. text, function()
    return table.concat(screen(), "\n"):find(text, 1, true)
  end, screen)
end
local function hides(text)
  wait("screen without " .. text, function()
    return not table.concat(screen(), "\n"):find(text, 1, true)
  end, screen)
end
local function press(keys)
  vim.api.nvim_chan_send(vim.bo[ui].channel, keys)
end
-- The UI takes no keys in the first moments of a question.
local function answer_there(key)
  wait("end of the question", function()
    press(key)
    vim.wait(1000)
    return not table.concat(screen(), "\n"):find("Would you like to run", 1, true)
  end, screen)
end
-- The UI takes keys that come fast, and the Enter after them, for a paste. So the text is a
-- paste that says where it ends.
local function type_prompt(text)
  press("\21") -- what is left of other keys
  press("\27[200~" .. text .. "\27[201~")
  press("\r")
end
local function terminal()
  return wait("terminal", function()
    for _, buf in ipairs(vim.api.nvim_list_bufs()) do
      if vim.bo[buf].buftype == "terminal" then
        return buf
      end
    end
  end)
end

local function said(text)
  return event("AgentTextMessage", function(data)
    return vim.inspect(data):find(text, 1, true)
  end)
end
local turns = 0
local asked ---@type hermes.event.PermissionRequest
local function ended()
  turns = turns + 1
  wait("end of turn " .. turns, function()
    local n = 0
    for _, e in ipairs(events) do
      n = n + (e.name == "TurnEnded" and 1 or 0)
    end
    return n >= turns
  end)
end
local function question(file)
  return event("PermissionRequest", function(data)
    return vim.inspect(data.toolCall):find(file, 1, true)
  end)
end
local function answer_here(option)
  hermes.respond(asked.requestId, { outcome = { outcome = "selected", optionId = option } })
end
local function exists(file)
  return vim.uv.fs_stat(ws .. "/" .. file) ~= nil
end

ui = terminal()
shows("Ask Codex")

-- Typed in the terminal, seen in the editor.
type_prompt("SAY typed-there")
said("typed-there")
ended()

-- Typed in the editor, seen in the terminal.
hermes.prompt(session, "SAY typed-here")
shows("typed-here")
ended()

-- Asked in both, answered in the terminal.
hermes.prompt(session, config.allowed)
asked = question("allowed")
shows("Would you like to run")
answer_there("y")
event("RequestCancelled", function(data)
  return data.requestId == asked.requestId
end)
ended()
assert(exists("allowed"), "an allowed command did not run")

-- Asked in both, answered in the editor.
type_prompt(config.denied)
asked = question("denied")
shows("Would you like to run")
answer_here("decline")
hides("Would you like to run")
ended()
assert(not exists("denied"), "a denied command ran")

-- The terminal goes, and comes back.
type_prompt("/quit")
wait("end of the terminal", function()
  return vim.fn.jobwait({ vim.bo[ui].channel }, 0)[1] ~= -1
end)
hermes.prompt(session, "SAY without-it")
said("without-it")
ended()
vim.cmd.bwipeout({ ui, bang = true })
local opened
hermes.shared.open(session, {
  on_done = function(err, info)
    opened = err or info
  end,
})
wait("shared.open", function()
  return opened
end)
assert(opened.sessionId == session, vim.inspect(opened))
ui = terminal()
shows("without-it")

-- The agent goes, and comes back to a question that is still open.
hermes.prompt(session, config.left)
question("left")
shows("Would you like to run")
hermes.disconnect("codex")
event("Disconnected")
events = {}
turns = 0
hermes.connect("codex", { shared = true })
hermes.load_session(session, { cwd = ws })
asked = question("left")
shows("Would you like to run")
answer_here("accept")
hides("Would you like to run")
ended()
assert(exists("left"), "an allowed command did not run")

io.stdout:write("conversation complete\n")
