---Windows with lines of Hermes, one for each topic: opened once, closed with q.
local M = {}

---@type table<string, integer> buffers by topic
local buffers = {}

---@param topic string
---@return integer? buf
function M.buffer(topic)
  local buf = buffers[topic]
  return buf and vim.api.nvim_buf_is_valid(buf) and buf or nil
end

---Replaces the lines of a pane, which must be safe to show.
---@param buf integer
---@param lines string[]
function M.set(buf, lines)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
end

---As set(), but makes the lines safe to show.
---@param buf integer
---@param lines string[]
function M.fill(buf, lines)
  local text = require("hermes.core.text")
  M.set(
    buf,
    vim.tbl_map(function(line)
      return text.line(line)
    end, lines)
  )
end

---@param topic string
---@return integer buf
local function create(topic)
  local buf = vim.api.nvim_create_buf(false, true)
  buffers[topic] = buf
  pcall(vim.api.nvim_buf_set_name, buf, "hermes://" .. topic)
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].modeline = false
  vim.bo[buf].filetype = "hermes"
  vim.bo[buf].undolevels = -1
  vim.keymap.set("n", "q", function()
    if not pcall(vim.api.nvim_win_close, 0, true) then -- the last window
      vim.cmd.enew()
    end
  end, { buffer = buf, nowait = true, desc = "Close" })
  return buf
end

---@param lines integer
---@return integer height at most half of the screen
local function height_for(lines)
  return math.max(1, math.min(lines, math.floor(vim.o.lines / 2)))
end

---Gives a window another height. Neovim gives what the only window of a column loses to the command
---line, which therefore gets its height back.
---@param win integer
---@param height integer
local function set_height(win, height)
  local lines = vim.o.cmdheight
  vim.api.nvim_win_set_height(win, height)
  if vim.o.cmdheight ~= lines then
    vim.o.cmdheight = lines
  end
end

---Makes the windows of a pane high enough for its lines.
---@param buf integer
---@param exactly? boolean and no higher
function M.fit(buf, exactly)
  local height = height_for(vim.api.nvim_buf_line_count(buf))
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if exactly or vim.api.nvim_win_get_height(win) < height then
      set_height(win, height)
    end
  end
end

---Opens a pane below, or goes to it where it is.
---@param topic string
---@param height integer lines that it would like
---@return integer buf
---@return integer win
---@return boolean new
function M.open(topic, height)
  local buf = M.buffer(topic)
  local new = not buf
  buf = buf or create(topic)
  local tab = vim.api.nvim_get_current_tabpage()
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if vim.api.nvim_win_get_tabpage(win) == tab then
      vim.api.nvim_set_current_win(win)
      return buf, win, new
    end
  end
  local win = vim.api.nvim_open_win(buf, true, {
    split = "below",
    win = -1,
    height = height_for(height),
  })
  vim.wo[win][0].number = false
  vim.wo[win][0].relativenumber = false
  vim.wo[win][0].signcolumn = "no"
  vim.wo[win][0].wrap = false
  vim.wo[win][0].winfixheight = true
  return buf, win, new
end

---Shows lines in a pane, and makes them safe to show.
---@param topic string
---@param lines string[]
---@return integer buf
function M.show(topic, lines)
  local buf = M.open(topic, #lines)
  M.fill(buf, lines)
  return buf
end

---Calls `draw` after events, a moment after the first of them, for as long as the pane is there.
---@param buf integer
---@param events string[]
---@param draw fun()
function M.follow(buf, events, draw)
  local timer = assert(vim.uv.new_timer())
  local due = false
  local off = require("hermes").on(events, function()
    if due then
      return
    end
    due = true
    timer:start(100, 0, function()
      vim.schedule(function()
        due = false
        if vim.api.nvim_buf_is_valid(buf) then
          draw()
        end
      end)
    end)
  end)
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buf,
    once = true,
    callback = function()
      off()
      timer:stop()
      timer:close()
    end,
  })
end

return M
