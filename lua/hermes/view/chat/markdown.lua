--- Highlights the markdown of a transcript, for as long as that takes no frame. Each text is a tree
--- of its own, so that none changes how another one is shown.
local M = {}

local api = vim.api

--- So much later comes the next piece, in milliseconds.
local pause_ms = 8
--- The most time that parsing may take, in seconds, and parsing for the first time.
local max_parse_s, max_first_s = 0.03, 0.1
--- The most lines that are parsed before the next redraw, where Neovim can do it in the background.
local max_lines = 200

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
    -- Then get_parser() without a language finds the trees, too.
    vim.treesitter.language.register("markdown", vim.bo[buf].filetype)
    local ok = pcall(vim.treesitter.start, buf, "markdown")
    done(ok and vim.treesitter.get_parser(buf) or nil)
  end
  vim.defer_fn(go_on, pause_ms)
end

--- Makes a tree of each text.
---@param parser vim.treesitter.LanguageTree
---@param texts integer[][] the first row of each, and the row after its last
---@return boolean anew whether all are parsed anew
local function divide(parser, texts)
  local trees, regions = parser:trees(), {}
  local same = #parser:included_regions() == #texts
  for i, rows in ipairs(texts) do
    local range = trees[i] and trees[i]:included_ranges(false)[1]
    same = same and (not range or range[1] == rows[1])
    regions[i] = { { rows[1], 0, rows[2], 0 } }
  end
  if not same then -- the tree of one text is no beginning for that of another
    parser:set_included_regions({})
  end
  parser:set_included_regions(regions)
  return not same
end

--- Divides what is in sight into its texts, and parses what the next redraw would. Gives up where a
--- text is too long for that.
---@param buf integer
---@param parser vim.treesitter.LanguageTree
---@param texts fun(first: integer, last: integer): integer[][] the texts between two rows, as rows:
---the first of each, and the one after its last
---@return vim.treesitter.LanguageTree? parser nil after it has given up
function M.parse(buf, parser, texts)
  local sights, by_row = {}, {} ---@type integer[][], table<integer, integer[]>
  for i, window in ipairs(vim.fn.win_findbuf(buf)) do
    local first = vim.fn.line("w0", window) - 1
    -- Neovim 0.10 knows the last line in sight only after a redraw.
    local last = math.max(vim.fn.line("w$", window), first + api.nvim_win_get_height(window))
    sights[i] = { first, last + 1 }
    for _, rows in ipairs(texts(first, last)) do
      by_row[rows[1]] = rows
    end
  end
  if not sights[1] then
    return parser
  end
  local began, list, lines = os.clock(), {}, 0
  for _, rows in vim.spairs(by_row) do
    list[#list + 1], lines = rows, lines + rows[2] - rows[1]
  end
  local anew = divide(parser, list)
  local in_background = vim.fn.has("nvim-0.11") == 1
  if not in_background or anew and lines <= max_lines then -- or a frame would have no highlights
    vim.iter(sights):each(function(sight)
      parser:parse(sight)
    end)
  end
  if in_background or os.clock() - began <= (anew and max_first_s or max_parse_s) then
    return parser
  end
  api.nvim_buf_call(buf, function() -- Neovim 0.10 would set 'syntax' of the current buffer
    vim.treesitter.stop(buf)
  end)
end

return M
