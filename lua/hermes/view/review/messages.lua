---What the view of the review says to the user.
local M = {}

---Text of an agent, or whatever may hold it, so that it can be shown.
---@param text string
---@param max? integer bytes
---@return string
function M.safe(text, max)
  return require("hermes").text.line(text, max)
end

---@param text string
function M.say(text)
  vim.notify("hermes: " .. text, vim.log.levels.INFO)
end

---@param text string
function M.fail(text)
  vim.notify("hermes: " .. text, vim.log.levels.ERROR)
end

---@param done fun(result: table)
---@return fun(err: hermes.Error?, result: table?)
function M.outcome(done)
  return function(err, result)
    if err then
      return M.fail(M.safe(err.message, 500))
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

---@param result hermes.review.Decision
---@param verb string
function M.report(result, verb)
  local failed = vim.tbl_filter(function(file)
    return file.error
  end, result.files or {})
  for _, file in ipairs(failed) do
    local name = vim.fn.fnamemodify(file.path, ":~:.")
    M.fail(("%s: %s"):format(M.safe(name, 200), M.safe(file.error, 300)))
  end
  local done = (result.total or #(result.files or {})) - (result.failed or #failed)
  if done > 1 then
    M.say(("%s in %s"):format(verb, M.counted(done, "file")))
  end
end

return M
