---Agents in terminal buffers, for a Neovim that does not run in tmux. The functions are those of
---lua/hermes/shim/tmux.lua.
local M = {}

local splits = { right = true, left = true, above = true, below = true }

---@param size integer|string cells, or a part such as "40%"
---@param all integer
---@return integer
local function cells(size, all)
  local part = tostring(size):match("^(%d+)%%$")
  return math.max(1, part and math.floor(all * tonumber(part) / 100) or tonumber(size))
end

---Opens a window without going there.
---@param buf integer
---@param split string
---@param size integer|string
---@return integer win
local function show(buf, split, size)
  split = splits[split] and split or "right"
  local beside = split == "right" or split == "left"
  local win = vim.api.nvim_open_win(buf, false, {
    split = split,
    win = -1,
    width = beside and cells(size, vim.o.columns) or nil,
    height = not beside and cells(size, vim.o.lines) or nil,
  })
  vim.wo[win][0].number = false
  vim.wo[win][0].relativenumber = false
  vim.wo[win][0].signcolumn = "no"
  return win
end

---@param shim hermes.ShimSession
---@return boolean found
function M.find(shim)
  return shim.bufnr ~= nil and vim.api.nvim_buf_is_valid(shim.bufnr) and shim.state == "running"
end

---@param shim hermes.ShimSession
---@param _ string
---@param argv string[]
---@param opts hermes.ShimOpts
function M.start(shim, _, argv, opts)
  if shim.bufnr and vim.api.nvim_buf_is_valid(shim.bufnr) then
    vim.api.nvim_buf_delete(shim.bufnr, { force = true })
  end
  local buf = vim.api.nvim_create_buf(true, false)
  vim.bo[buf].bufhidden = "hide"
  local how = {
    cwd = shim.cwd,
    env = opts.env,
    on_exit = function(_, code)
      shim.job = nil
      shim.ended(code)
    end,
  }
  local win = opts.split ~= "background" and show(buf, opts.split, opts.size) or nil
  local job, err = require("hermes.job").terminal(buf, win, argv, how)
  if not job then
    error({ kind = "terminal", message = ("%s: %s"):format(argv[1], err) }, 0)
  end
  vim.b[buf].term_title = opts.title
  shim.bufnr, shim.job, shim.split, shim.size = buf, job, opts.split, opts.size
  shim.pid = vim.fn.jobpid(job)
end

---@param shim hermes.ShimSession
---@param ended fun(status: integer?)
function M.watch(shim, ended)
  shim.ended = ended
end

---Types bytes, or pastes them if the program knows pastes.
---@param shim hermes.ShimSession
---@param bytes string
---@param as_paste boolean
function M.write(shim, bytes, as_paste)
  if not as_paste then
    vim.api.nvim_chan_send(shim.job, bytes)
    return
  end
  local filter = vim.o.termpastefilter
  vim.o.termpastefilter = "" -- it would drop tabs; other control characters are not in the text
  vim.api.nvim_buf_call(shim.bufnr, function()
    vim.api.nvim_put(vim.split(bytes, "\n"), "c", false, false)
  end)
  vim.o.termpastefilter = filter
end

---Goes to the window of the buffer, and into Terminal mode.
---@param shim hermes.ShimSession
function M.select(shim)
  local win = vim.fn.win_findbuf(shim.bufnr)[1] or show(shim.bufnr, shim.split, shim.size)
  vim.api.nvim_set_current_win(win)
  vim.cmd.startinsert()
end

---@param shim hermes.ShimSession
function M.kill(shim)
  vim.fn.jobstop(shim.job)
end

return M
