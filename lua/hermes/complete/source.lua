--- The completion of `/commands` and `@files` as a source of blink.cmp and of
--- nvim-cmp. Both create it with new(); their methods do not get in each
--- other's way.

local complete = require("hermes.complete")

-- CompletionItemKind of the Language Server Protocol.
local kinds = { command = 3, file = 17 }

---@class hermes.complete.Source
local Source = {}
Source.__index = Source

---@return hermes.complete.Source
function Source.new()
  return setmetatable({}, Source)
end

---@param before string the line up to the cursor
---@param row integer 1-based
---@param buf integer
---@param done fun(items: table[], incomplete: boolean)
local function items_for(before, row, buf, done)
  local lead = complete.lead(before, row)
  if not lead then
    return done({}, false)
  end
  complete.items(lead, vim.b[buf].hermes_session, function(found)
    local items = {}
    for i, item in ipairs(found) do
      items[i] = {
        label = item.word,
        filterText = item.word,
        kind = kinds[item.kind],
        sortText = ("%04d"):format(i),
        documentation = item.about,
        textEdit = {
          newText = item.word,
          range = {
            start = { line = row - 1, character = lead.col },
            ["end"] = { line = row - 1, character = #before },
          },
        },
      }
    end
    done(items, #found >= complete.max_items)
  end)
end

---@return string[]
function Source.get_trigger_characters()
  return { "/", "@" }
end

---------------------------------------------------------------------------
-- blink.cmp

--- Only in buffers that belong to a session.
---@return boolean
function Source.enabled()
  return vim.b.hermes_session ~= nil
end

---@param context { line: string, cursor: integer[], bufnr: integer }
---@param callback fun(response: table)
function Source.get_completions(_, context, callback)
  local row, col = unpack(context.cursor)
  items_for(context.line:sub(1, col), row, context.bufnr, function(items, incomplete)
    callback({
      items = items,
      is_incomplete_forward = incomplete,
      is_incomplete_backward = incomplete,
    })
  end)
end

---------------------------------------------------------------------------
-- nvim-cmp

---@return boolean
function Source.is_available()
  return vim.b.hermes_session ~= nil
end

---@return string
function Source.get_debug_name()
  return "hermes"
end

---@return string columns of the items are bytes
function Source.get_position_encoding_kind()
  return "utf-8"
end

---@return string
function Source.get_keyword_pattern()
  return [[\%(@"[^"]*\|@\S*\|/\S*\)]]
end

---@param params { context: { cursor_before_line: string, cursor: table, bufnr: integer } }
---@param callback fun(response: table)
function Source.complete(_, params, callback)
  local context = params.context
  items_for(
    context.cursor_before_line,
    context.cursor.row,
    context.bufnr,
    function(items, incomplete)
      callback({ items = items, isIncomplete = incomplete })
    end
  )
end

return Source
