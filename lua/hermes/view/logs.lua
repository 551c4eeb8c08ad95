---Windows on the logs of the plugin and the host, and on what an agent wrote to its standard error.
local M = {}

---Shows the logs of the plugin and of the host, one above the other, with the newest lines.
function M.open()
  local log = require("hermes.core.log")
  local function show(path)
    local buf = vim.fn.bufadd(path)
    vim.bo[buf].buflisted = true
    vim.bo[buf].modeline = false -- the log quotes agents
    vim.bo[buf].autoread = true
    vim.api.nvim_win_set_buf(0, buf)
    vim.cmd("checktime") -- it may have been read before
    local last = vim.api.nvim_buf_line_count(buf)
    vim.api.nvim_win_set_cursor(0, { last, 0 })
    vim.api.nvim_create_autocmd("FileChangedShellPost", {
      group = vim.api.nvim_create_augroup("hermes.log." .. buf, {}),
      buffer = buf,
      desc = "Hermes: follow the log where the newest line is in sight",
      callback = function()
        local before
        before, last = last, vim.api.nvim_buf_line_count(buf)
        for _, win in ipairs(vim.fn.win_findbuf(buf)) do
          if vim.api.nvim_win_get_cursor(win)[1] >= math.min(before, last) then
            vim.api.nvim_win_set_cursor(win, { last, 0 })
          end
        end
      end,
    })
  end
  vim.cmd("tab split")
  show(log.path())
  vim.cmd("belowright split")
  show(log.host_path())
end

---Shows what an agent wrote to its standard error, and follows it.
---@param agent string
function M.open_of_agent(agent)
  local pane = require("hermes.view.pane")
  local topic = "log of " .. agent
  local hermes = require("hermes")
  local lines = hermes.agent_log(agent)
  local is_connected = vim.iter(hermes.connections()):any(function(connection)
    return connection.name == agent
  end)
  if #lines == 0 and not is_connected then
    return require("hermes.view.choose").fail(
      ("agent %q has written nothing; see :Hermes log"):format(agent)
    )
  end
  local new = pane.buffer(topic) == nil
  local function show()
    local buf = pane.buffer(topic)
    local list = hermes.agent_log(agent)
    pane.fill(buf, #list > 0 and list or { "it has written nothing to its standard error" })
    for _, win in ipairs(vim.fn.win_findbuf(buf)) do
      if win ~= vim.api.nvim_get_current_win() then
        vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
      end
    end
  end
  local buf, win = pane.open(topic, math.max(#lines, 10))
  show()
  vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
  if new then
    pane.follow(buf, { "AgentStderr" }, show)
  end
end

return M
