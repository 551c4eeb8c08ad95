-- The stock UI of Codex beside Neovim, in one session whose changes a shim reports. Started by
-- codex_shared_linux_test.go; $HERMES_E2E says where.
local codex = dofile(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)) .. "/codex_screen.lua")
local config, hermes = codex.config, require("hermes")

-- Waits until a file is in the review as the program of the session has written it.
---@param file string
---@return table author
local function recorded(file)
  local authors, asking = {}, false
  return codex.wait(file .. " in the review, exactly", function()
    if not asking then
      asking = true
      hermes.review.pending({
        on_done = function(_, result)
          asking = false
          for _, hunk in ipairs(result and result.hunks or {}) do
            authors[vim.fs.basename(hunk.path)] = hunk.authors[1]
          end
        end,
      })
    end
    local by = authors[file] or {}
    return by.source == "shim" and not by.inferred and by
  end, function()
    return vim.split(vim.inspect(authors), "\n")
  end)
end

codex.start({ shared = true, shim = true })

-- What a prompt from here makes it do, and one from its terminal.
hermes.prompt(codex.session, config.allowed)
for _, file in ipairs({ "allowed", "denied" }) do
  codex.answer_here(codex.question(file), "accept")
  codex.ended()
  local by = recorded(file)
  assert(by.sessionId == codex.session and by.turn, vim.inspect(by))
  if file == "allowed" then
    codex.type_prompt(config.denied)
  end
end

-- The app-server goes on in its shim when the agent that has started it has gone.
hermes.disconnect("codex")
codex.event("Disconnected")
codex.type_prompt(config.left)
codex.answer_there("y")
codex.wait("left", function()
  return codex.exists("left")
end)
recorded("left")

-- In another project the app-server would not be watched.
vim.api.nvim_set_current_dir(vim.fs.dirname(config.workspace))
hermes.connect("codex", { shared = true, shim = true })
local refused
hermes.create_session({
  cwd = vim.fn.getcwd(),
  on_done = function(err)
    refused = err or { message = "a session" }
  end,
})
codex.wait("session", function()
  return refused
end)
assert(refused.message:find("runs already, in ", 1, true), refused.message)

io.stdout:write("conversation complete\n")
