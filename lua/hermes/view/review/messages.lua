---Messages of the view of the review.
local M = {}

---Makes a text safe to show, because it may be an agent's.
---@param text string
---@param max? integer bytes
---@return string
function M.safe(text, max)
  return require("hermes").text.line(text, max)
end

---@param text string
function M.say(text)
  require("hermes.core.log").show(vim.log.levels.INFO, text)
end

---@param text string
function M.fail(text)
  require("hermes.core.log").show(vim.log.levels.ERROR, text)
end

---@param done fun(result: table)
---@return fun(err: hermes.Error?, result: table?)
function M.outcome(done)
  return function(err, result)
    if err then
      return M.fail(err.message)
    end
    done(result --[[@as table]])
  end
end

---@param count integer
---@param what string
---@return string
function M.counted(count, what)
  return ("%d %s%s"):format(count, what, count == 1 and "" or "s")
end

---@param path string
---@return string
function M.short(path)
  return M.safe(vim.fn.fnamemodify(path, ":~:."), 200)
end

---Says in one message what was done, and which files failed. A second one would cover the first.
---@param result hermes.review.Decision
---@param verb string
---@param next? string what the user may do then
function M.report(result, verb, next)
  local why, errors = {}, 0
  for _, file in ipairs(result.files or {}) do
    errors = errors + (file.error and 1 or 0)
    if file.error and #why < 100 then -- more do not fit into a message
      why[#why + 1] = ("%s: %s"):format(vim.fn.fnamemodify(file.path, ":~:."), file.error)
    end
  end
  local failed = result.failed or errors
  local done = (result.total or #(result.files or {})) - failed
  local said = done > 1 and ("%s in %s"):format(verb, M.counted(done, "file")) or nil
  if failed == 0 then
    said = said and next and said .. "; " .. next or said or next
    return said and M.say(said)
  end
  local which = failed > 1 and M.counted(failed, "file") .. " failed: " or ""
  M.fail(which .. table.concat(why, "; ") .. (said and "; " .. said or ""))
end

return M
