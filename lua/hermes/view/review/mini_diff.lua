---A source of reference texts for mini.diff: the text that the user has agreed to. A buffer without
---pending hunks is left to the next source.

--- Milliseconds after an edit until the reference text follows: what the user types is part of it.
local pause_ms = 100

local attached = {} ---@type table<integer, { group: integer, asked: boolean, again?: boolean }>

local function review()
  return require("hermes.review")
end

local function mini_diff()
  return _G.MiniDiff or require("mini.diff")
end

---@param buf integer
local function update(buf)
  local mine = attached[buf]
  if not mine then
    return
  elseif mine.asked then
    mine.again = true
    return
  end
  mine.asked, mine.again = true, false
  review().base(buf, {
    on_done = function(err, base)
      mine.asked = false
      if attached[buf] ~= mine then
        return
      elseif mine.again then
        return update(buf)
      elseif not err and vim.api.nvim_buf_is_loaded(buf) then
        local text = base.text:gsub("^\239\187\191", "")
        if vim.bo[buf].fileformat == "dos" then
          text = text:gsub("\r\n", "\n")
        end
        mini_diff().set_ref_text(buf, text)
      end
    end,
  })
end

---Lets mini.diff choose among its sources again.
---@param buf integer
local function choose(buf)
  local diff = mini_diff()
  pcall(diff.disable, buf)
  pcall(diff.enable, buf)
end

local off ---@type fun()?

local function listen()
  off = off
    or review().on_change(function(change)
      local buf = change.bufnr
      if not buf or not vim.api.nvim_buf_is_loaded(buf) then
        return
      end
      local pending = #review().hunks(buf) > 0
      if pending ~= (attached[buf] ~= nil) then
        choose(buf)
      elseif pending then
        update(buf)
      end
    end)
end

---@param buf integer
---@return false?
local function attach(buf)
  listen()
  if #review().hunks(buf) == 0 then
    return false
  end
  local group = vim.api.nvim_create_augroup(("hermes.review.mini_diff.%d"):format(buf), {})
  local mine = { group = group, asked = false }
  attached[buf] = mine
  local waits = false
  vim.api.nvim_create_autocmd({ "TextChanged", "TextChangedI", "TextChangedP" }, {
    group = group,
    buffer = buf,
    callback = function()
      if not waits then
        waits = true
        vim.defer_fn(function()
          waits = false
          update(buf)
        end, pause_ms)
      end
    end,
  })
  update(buf)
end

---@param buf integer
local function detach(buf)
  local mine = attached[buf]
  attached[buf] = nil
  if mine then
    pcall(vim.api.nvim_del_augroup_by_id, mine.group)
  end
end

---The hunks of a buffer that lie in hunks of mini.diff, in one pass over both.
---@param buf integer
---@param theirs { buf_start: integer, buf_count: integer }[]
---@return hermes.review.Hunk[]
local function shared(buf, theirs)
  local places = {} ---@type integer[][] first and last row
  for i, hunk in ipairs(theirs) do
    local first = hunk.buf_count == 0 and hunk.buf_start or hunk.buf_start - 1
    places[i] = { first, first + hunk.buf_count }
  end
  table.sort(places, function(a, b)
    return a[1] < b[1]
  end)
  local list, at = {}, 1
  for _, hunk in ipairs(review().hunks(buf)) do
    local from, to = hunk.first - 1, hunk.first - 1 + hunk.count
    while places[at] and places[at][2] < from do
      at = at + 1
    end
    if places[at] and places[at][1] <= to then
      list[#list + 1] = hunk
    end
  end
  return list
end

local slice = 500 -- hunks that are accepted at once; between slices Neovim takes keys

---Accepts the hunks that lie in hunks of mini.diff.
---@param buf integer
---@param theirs { buf_start: integer, buf_count: integer }[]
local function apply_hunks(buf, theirs)
  local hunks, at = shared(buf, theirs), 1
  local function go_on()
    for i = at, math.min(at + slice - 1, #hunks) do
      review().accept(hunks[i])
    end
    at = at + slice
    if at <= #hunks then
      vim.defer_fn(go_on, 8)
    end
  end
  go_on()
end

return { name = "hermes", attach = attach, detach = detach, apply_hunks = apply_hunks }
