--- The buffer in which prompts are written: an ordinary one, so that everything
--- Neovim offers for text works. A prompt stays in it until it was accepted.

local api = vim.api
local ns = api.nvim_create_namespace("hermes_chat_prompt")

---@class hermes.chat.Prompt
---@field buf integer
---@field mark? integer where those end that were put back
---@field sent? string what is on its way
---@field copy? string its text
local Prompt = {}
Prompt.__index = Prompt

--- Larger texts are not copied with each change, in bytes.
local max_copy = 1024 * 1024

---@param buf integer
---@return hermes.chat.Prompt
function Prompt.new(buf)
  local self = setmetatable({ buf = buf }, Prompt)
  api.nvim_buf_attach(buf, false, {
    on_lines = function()
      local small = api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf)) <= max_copy
      self.copy = small and self:text() or self.copy
    end,
  })
  return self
end

---@return string
function Prompt:text()
  if vim.v.dying > 0 then -- Neovim drops the texts of buffers when a signal ends it
    return self.copy or ""
  end
  return table.concat(api.nvim_buf_get_lines(self.buf, 0, -1, true), "\n")
end

--- The prompt was accepted: takes it out, and leaves what was typed after it.
---@param text string
function Prompt:take(text)
  local now = self:text()
  self.mark = nil
  if vim.trim(now) == vim.trim(text) then
    api.nvim_buf_set_lines(self.buf, 0, -1, true, {})
  elseif vim.startswith(now, text) then
    local lines = vim.split(text, "\n")
    local row, col = #lines - 1, #lines[#lines]
    if now:sub(#text + 1, #text + 1) == "\n" then
      row, col = row + 1, 0
    end
    api.nvim_buf_set_text(self.buf, 0, 0, row, col, { "" })
  end
end

--- Puts a prompt back that the agent never got: after those put back before it, and above what
--- is being written.
---@param text string
function Prompt:put_back(text)
  if text == "" then
    return
  end
  local count = api.nvim_buf_line_count(self.buf)
  local row = self.mark and api.nvim_buf_get_extmark_by_id(self.buf, ns, self.mark, {})[1] or 0
  local rest = table.concat(api.nvim_buf_get_lines(self.buf, row, -1, true))
  local lines = vim.split(text, "\n")
  local empty = row < count and not rest:find("%S")
  api.nvim_buf_set_lines(self.buf, row, empty and -1 or row, true, lines)
  self.mark = api.nvim_buf_set_extmark(self.buf, ns, row + #lines, 0, { id = self.mark })
end

return Prompt
