---Programs in terminals whose changes `hermes shim` reports.
local M = {}

local gate_ms = 30 * 60 * 1000

---@param message string
local function fail(message)
  error({ kind = "shim", message = message }, 0)
end

---@param sandbox any
---@return string[] words for hermes shim
local function sandbox_words(sandbox)
  if not sandbox then
    return {}
  end
  return { sandbox == true and "--sandbox" or "--sandbox=" .. vim.json.encode(sandbox) }
end

---@param gate boolean|hermes.ShimGate?
---@return string[] words for hermes shim
local function gate_words(gate)
  if not gate then
    return {}
  end
  gate = gate == true and {} or gate
  local words = { "--gate", "--timeout", ("%dms"):format(gate.timeout or gate_ms) }
  for _, path in ipairs(gate.allow or {}) do
    vim.list_extend(words, { "--allow", path })
  end
  for _, path in ipairs(gate.deny or {}) do
    vim.list_extend(words, { "--deny", path })
  end
  return words
end

---The command line of a program in a shim.
---@param start hermes.ProgramStart
---@param root string
---@param opts { command: string[], gate?: boolean|hermes.ShimGate, sandbox?: hermes.SandboxConfig }
---@return string[] argv
function M.argv(start, root, opts)
  local host, problem = require("hermes.core.host").command()
  if not host then
    fail(problem)
  elseif table.remove(host) ~= "host" then
    fail("host.cmd of setup() must end with the word host")
  end
  local boxed, wrong = require("hermes.session.sandbox").payload(start.agent, opts.sandbox)
  if wrong then
    fail(wrong)
  elseif opts.gate and type(boxed.sandbox) == "table" and boxed.sandbox[1] then
    fail("a gate goes with a sandbox of rules, not with one that is a command")
  end
  local state = vim.fs.dirname(require("hermes.core.config_wire").review_dir())
  return vim
    .iter({
      host,
      { "shim", "--root", root, "--state", state },
      { "--agent", start.agent, "--session", start.sessionId },
      gate_words(opts.gate),
      sandbox_words(boxed.sandbox),
      { "--" },
      opts.command,
    })
    :flatten()
    :totable()
end

---Opens the review of a folder, so that it hears of changes and answers questions.
---@param folder string
---@return string root of the review
function M.review_of(folder)
  local unseen = require("hermes.session.unseen")
  if not require("hermes.core.config").get().review.enabled then
    unseen.hears(folder, false)
    return folder
  end
  local result = require("hermes.core.async").await(function(done)
    require("hermes.core.rpc").call("review.open", { root = folder }, {
      method = "shim.open",
      on_done = function(err, result)
        if err then -- another Neovim may have it, and hears of the changes
          require("hermes.core.log").write(vim.log.levels.WARN, "shim.open: " .. err.message)
        end
        done(nil, result)
      end,
    })
  end)
  local root = result and result.root or folder
  unseen.hears(root, result ~= nil)
  return root
end

---Finds the agent and the session of a shim that runs already.
---@param start hermes.ProgramStart
---@param root string
---@return fun(pid: integer): string, string
function M.names_of(start, root)
  return function(pid)
    local known = require("hermes.core.async").await(function(done)
      require("hermes.core.rpc").call("review.program", { root = root, pid = pid }, {
        method = "shim.open",
        on_done = function(_, result) -- without a review, nobody asks whose its changes are
          done(nil, result or {})
        end,
      })
    end)
    local session = known.sessionId or ""
    if session == "" then -- it runs without a shim, or with a journal elsewhere
      return start.agent, start.sessionId
    end
    return known.agent, session
  end
end

---The process of a shim that reports as a session. Called in a function of hermes.async.
---@param session hermes.ProgramSession
---@return integer 0 if there is none
function M.process_of(session)
  if not require("hermes.core.config").get().review.enabled then
    return 0
  end
  local found = require("hermes.core.async").await(function(done)
    local payload = { path = session.path }
    payload.agent, payload.sessionId = session.agent, session.sessionId
    require("hermes.core.rpc").call("review.process", payload, {
      method = "review.comment",
      on_done = function(_, result) -- without a review, there is no hunk to comment on
        done(nil, result or {})
      end,
    })
  end)
  return found.pid or 0
end

---Makes the checkpoint of a prompt that is about to be sent to a program. What the program changes
---from then on belongs to that prompt. Called in a function of hermes.async.
---@param program hermes.OpenProgram
---@param text string
function M.prompted(program, text)
  if not require("hermes.core.config").get().review.enabled then
    return
  end
  require("hermes.core.async").await(function(done)
    local payload = { root = program.root, text = text }
    payload.agent, payload.sessionId = program.agent, program.sessionId
    require("hermes.core.rpc").call("review.prompted", payload, {
      method = "shim.send",
      on_done = function(err)
        if err then -- another Neovim may have the review
          require("hermes.core.log").write(vim.log.levels.WARN, "shim.send: " .. err.message)
        end
        done()
      end,
    })
  end)
end

return M
