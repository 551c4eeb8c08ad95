---Programs in terminal buffers, for a Neovim that does not run in tmux. The functions are the same
---as in lua/hermes/program/tmux.lua.
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

---@param program hermes.OpenProgram
---@return boolean found
function M.find(program)
  return program.bufnr ~= nil
    and vim.api.nvim_buf_is_valid(program.bufnr)
    and program.state == "running"
end

---@param program hermes.OpenProgram
---@param _ string
---@param argv string[]
---@param opts hermes.ProgramOpts
function M.start(program, _, argv, opts)
  if program.bufnr and vim.api.nvim_buf_is_valid(program.bufnr) then
    vim.api.nvim_buf_delete(program.bufnr, { force = true })
  end
  local buf = vim.api.nvim_create_buf(true, false)
  vim.bo[buf].bufhidden = "hide"
  local how = {
    cwd = program.cwd,
    env = opts.env,
    on_exit = function(_, code)
      program.job = nil
      program.ended(code)
    end,
  }
  local win = opts.split ~= "background" and show(buf, opts.split, opts.size) or nil
  local job, err = require("hermes.core.job").terminal(buf, win, argv, how)
  if not job then
    error({ kind = "terminal", message = ("%s: %s"):format(argv[1], err) }, 0)
  end
  vim.b[buf].term_title = opts.title
  program.bufnr, program.job, program.split, program.size = buf, job, opts.split, opts.size
  program.pid = vim.fn.jobpid(job)
end

---@param program hermes.OpenProgram
---@param ended fun(status: integer?)
function M.watch(program, ended)
  program.ended = ended
end

---Types bytes, or pastes them if the program knows pastes.
---@param program hermes.OpenProgram
---@param bytes string
---@param as_paste boolean
function M.write(program, bytes, as_paste)
  if not as_paste then
    vim.api.nvim_chan_send(program.job, bytes)
    return
  end
  local filter = vim.o.termpastefilter
  vim.o.termpastefilter = "" -- it would drop tabs; other control characters are not in the text
  vim.api.nvim_buf_call(program.bufnr, function()
    vim.api.nvim_put(vim.split(bytes, "\n"), "c", false, false)
  end)
  vim.o.termpastefilter = filter
end

---Goes to the window of the buffer, and into Terminal mode.
---@param program hermes.OpenProgram
function M.select(program)
  local win = vim.fn.win_findbuf(program.bufnr)[1]
    or show(program.bufnr, program.split, program.size)
  vim.api.nvim_set_current_win(win)
  vim.cmd.startinsert()
end

---@param program hermes.OpenProgram
function M.kill(program)
  vim.fn.jobstop(program.job)
end

return M
