--- Highlights the markdown of a transcript without delaying a frame. Each text has a tree of its
--- own, so that none changes how another one is shown.
local M = {}

local api = vim.api

--- Milliseconds until the next piece.
local pause_ms = 8
--- The most text that is parsed at a stretch, in bytes: a frame for what is hardest to parse.
--- Neovim 0.10 cannot stop within a stretch, and does one at every change.
local max_bytes = 16 * 1024

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
  if not same then -- the tree of one text cannot become the tree of another
    parser:set_included_regions({})
  end
  parser:set_included_regions(regions)
  return not same
end

--- Divides what is in sight into its texts, and parses what the next redraw would parse. Anything
--- beyond a stretch is parsed in the background, or has no highlights if Neovim cannot do that.
---@param buf integer
---@param parser vim.treesitter.LanguageTree
---@param texts fun(first: integer, last: integer): integer[][] the texts between two rows, as rows:
---the first of each, and the one after its last
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
    return
  end
  local in_background = vim.fn.has("nvim-0.11") == 1
  local list, bytes = {}, 0
  for _, rows in vim.spairs(by_row) do
    local size = api.nvim_buf_get_offset(buf, rows[2]) - api.nvim_buf_get_offset(buf, rows[1])
    if in_background or bytes + size <= max_bytes then
      list[#list + 1], bytes = rows, bytes + size
    end
  end
  local anew = divide(parser, list)
  if not in_background or anew and bytes <= max_bytes then -- or a frame would have no highlights
    vim.iter(sights):each(function(sight)
      parser:parse(sight)
    end)
  end
end

return M
