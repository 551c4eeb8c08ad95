--- Highlights the markdown of a transcript, for as long as that takes no frame.
local M = {}

local api = vim.api

--- So much later comes the next piece, in milliseconds.
local pause_ms = 8
--- The most time that parsing may take, in seconds.
local max_parse_s = 0.03

--- Loads what highlighting needs, piece by piece, because all of it at once would take a frame.
---@param buf integer
---@param done fun(parser: vim.treesitter.LanguageTree?) gets one that parse() is for
function M.start(buf, done)
  local pieces = {}
  for _, language in ipairs({ "markdown", "markdown_inline" }) do
    table.insert(pieces, { language, "highlights" })
    table.insert(pieces, { language, "injections" })
  end
  local function go_on()
    local piece = table.remove(pieces, 1)
    if not api.nvim_buf_is_valid(buf) then
      return
    elseif piece then
      pcall(vim.treesitter.query.get, piece[1], piece[2])
      return vim.defer_fn(go_on, pause_ms)
    end
    local ok = pcall(vim.treesitter.start, buf, "markdown")
    -- Newer Neovims parse in the background.
    done(ok and vim.fn.has("nvim-0.11") == 0 and vim.treesitter.get_parser(buf, "markdown") or nil)
  end
  vim.defer_fn(go_on, pause_ms)
end

--- Parses what the next redraw would, and gives up where a paragraph is too long for that.
---@param buf integer
---@param parser vim.treesitter.LanguageTree
---@return vim.treesitter.LanguageTree? parser nil after it has given up
function M.parse(buf, parser)
  local window = vim.fn.win_findbuf(buf)[1]
  if not window then
    return parser
  end
  local began = os.clock()
  parser:parse({ vim.fn.line("w0", window) - 1, vim.fn.line("w$", window) })
  if os.clock() - began <= max_parse_s then
    return parser
  end
  api.nvim_buf_call(buf, function() -- Neovim 0.10 would set 'syntax' of the current buffer
    vim.treesitter.stop(buf)
  end)
end

return M
