--- The buffer in which prompts are written: an ordinary one, so that everything
--- Neovim offers for text works. A prompt stays in it until it was accepted.

local api = vim.api

---@class hermes.chat.Prompt
---@field buf integer
---@field sent? string what is on its way
local Prompt = {}
Prompt.__index = Prompt

---@param buf integer
---@return hermes.chat.Prompt
function Prompt.new(buf)
  return setmetatable({ buf = buf }, Prompt)
end

---@return string
function Prompt:text()
  return table.concat(api.nvim_buf_get_lines(self.buf, 0, -1, true), "\n")
end

--- The prompt was accepted: takes it out, and leaves what was typed after it.
---@param text string
function Prompt:take(text)
  local now = self:text()
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

--- Puts a prompt back that the agent never got, above what is being written.
---@param text string
function Prompt:put_back(text)
  local lines = vim.split(text, "\n")
  if vim.trim(self:text()) == "" then
    api.nvim_buf_set_lines(self.buf, 0, -1, true, lines)
  else
    api.nvim_buf_set_lines(self.buf, 0, 0, true, lines)
  end
end

return Prompt
