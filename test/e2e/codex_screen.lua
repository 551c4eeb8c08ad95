-- The stock UI of Codex in a terminal buffer, and what Neovim hears of the session that both
-- share. For the scripts of codex_shared_test.go.
local config = vim.json.decode(vim.env.HERMES_E2E)
vim.ui.select = function() end -- the scripts answer questions
vim.o.swapfile, vim.o.columns, vim.o.lines = false, 200, 50
vim.api.nvim_set_current_dir(config.workspace)

local hermes = require("hermes")
hermes.setup({
  host = { cmd = { config.hermes, "host" } },
  timeouts = { initialize = config.patience, new_session = config.patience },
  shim = { terminal = "buffer" },
})
local events = {} ---@type { name: string, data: table }[]
local turns = 0
hermes.on("*", function(data, name)
  events[#events + 1] = { name = name, data = data }
end)

local M = {
  config = config,
  buf = 0, -- of the UI
  session = "",
}

---@param what string
---@param is fun(): any
---@param seen? fun(): string[]
---@return any
function M.wait(what, is, seen)
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
---@param is? fun(data: table): any
---@return table data
function M.event(name, is)
  return M.wait(name, function()
    for _, e in ipairs(events) do
      if e.name == name and (not is or is(e.data)) then
        return e.data
      end
    end
  end)
end

-- Forgets what was heard.
function M.forget()
  events, turns = {}, 0
end

-- Opens a session, and waits for the UI.
---@param opts hermes.Opts
function M.start(opts)
  hermes.connect("codex", opts)
  hermes.create_session({ cwd = config.workspace })
  M.session = M.event("SessionCreated").sessionId
  M.find()
  M.shows("Ask Codex")
end

-- Waits for the buffer of the UI.
function M.find()
  M.buf = M.wait("terminal", function()
    for _, buf in ipairs(vim.api.nvim_list_bufs()) do
      if vim.bo[buf].buftype == "terminal" then
        return buf
      end
    end
  end)
end

local function screen()
  return vim.api.nvim_buf_get_lines(M.buf, 0, -1, false)
end

local function has(text)
  return table.concat(screen(), "\n"):find(text, 1, true)
end

function M.shows(text)
  M.wait("screen with " .. text, function()
    return has(text)
  end, screen)
end

function M.hides(text)
  M.wait("screen without " .. text, function()
    return not has(text)
  end, screen)
end

local function press(keys)
  vim.api.nvim_chan_send(vim.bo[M.buf].channel, keys)
end

-- The UI takes no keys in the first moments of a question.
function M.answer_there(key)
  M.shows("Would you like to run")
  M.wait("end of the question", function()
    press(key)
    vim.wait(1000)
    return not has("Would you like to run")
  end, screen)
end

-- The UI takes keys that come fast, and the Enter after them, for a paste. So the text is a
-- paste that says where it ends.
function M.type_prompt(text)
  press("\21") -- what is left of other keys
  press("\27[200~" .. text .. "\27[201~")
  press("\r")
end

function M.said(text)
  return M.event("AgentTextMessage", function(data)
    return vim.inspect(data):find(text, 1, true)
  end)
end

-- Waits for the end of the next turn.
function M.ended()
  turns = turns + 1
  M.wait("end of turn " .. turns, function()
    local n = 0
    for _, e in ipairs(events) do
      n = n + (e.name == "TurnEnded" and 1 or 0)
    end
    return n >= turns
  end)
end

-- Waits for the question about a file, in Neovim.
function M.question(file)
  return M.event("PermissionRequest", function(data)
    return vim.inspect(data.toolCall):find(file, 1, true)
  end)
end

---@param question hermes.event.PermissionRequest
---@param option string
function M.answer_here(question, option)
  hermes.respond(question.requestId, { outcome = { outcome = "selected", optionId = option } })
end

function M.exists(file)
  return vim.uv.fs_stat(config.workspace .. "/" .. file) ~= nil
end

return M
