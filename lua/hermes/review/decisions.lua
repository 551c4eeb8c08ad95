---The decisions that this Neovim has taken, and how they are taken back.
local M = {}

local host = require("hermes.review.host")

---Decisions, oldest first, with what they were about.
---@type { decision: integer, about: table }[]
local decisions = {}

---@param decision integer
---@param about table as of hermes.review.host.selection()
function M.add(decision, about)
  decisions[#decisions + 1] = { decision = decision, about = about }
end

---@param decision integer
local function forget(decision)
  decisions = vim.tbl_filter(function(made)
    return made.decision ~= decision
  end, decisions)
end

---@param made table the `about` of a decision
---@param wanted table
---@return boolean
local function is_about(made, wanted)
  for key, value in pairs(wanted) do
    if made[key] ~= value then
      return false
    end
  end
  return true
end

---The decisions that are to be undone, the newest first.
---@param what integer|hermes.review.What
---@return integer[]
local function meant(what)
  if type(what) == "number" then
    return { what }
  end
  local wanted, numbers = host.selection(what, "undo"), {}
  wanted.version = nil -- whatever it has become
  for i = #decisions, 1, -1 do
    if is_about(decisions[i].about, wanted) then
      numbers[#numbers + 1] = decisions[i].decision
      if what ~= "all" then
        break
      end
    end
  end
  return numbers
end

---@param what? integer|hermes.review.What nil: the last one of all
---@param opts hermes.review.Opts
---@return string id
function M.undo(what, opts)
  local numbers = what ~= nil and meant(what) or {}
  if what ~= nil and #numbers == 0 then
    local info = { method = "review.undo", on_done = opts.on_done }
    return require("hermes.core.rpc").refuse(info, "nothing", "nothing was decided there")
  end
  local all = { files = {} }
  local function step(i)
    local own = vim.tbl_extend("force", opts, {
      on_done = function(err, result)
        if err and err.kind == "nothing" and #numbers > 1 then
          forget(numbers[i]) -- it has been taken back in the buffer, or decided again
          err = nil
        elseif result then
          forget(numbers[i] or result.decision)
          all.decision = result.decision
          vim.list_extend(all.files, result.files or {})
        end
        if not err and numbers[i + 1] then
          step(i + 1)
        elseif opts.on_done then
          opts.on_done(err, not err and all or nil)
        elseif err then
          require("hermes.core.log").show(vim.log.levels.ERROR, err.message)
        end
      end,
    })
    return host.ask("undo", own, { decision = numbers[i] })
  end
  return step(1)
end

return M
