-- What "make demo" and "make demo-agent" run inside Neovim: a chat with an agent.
-- Headless it answers for the user, prints the chat and quits.
local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))
local hermes = require("hermes")

-- The file that the agent edits, so that the edit is seen, and the first prompt.
local demos = {
  demo = {
    file = "hermes-demo.md",
    lines = { "# Visits of the demo agent", "", "- visit 1" },
    prompt = "Show me what you can do.",
  },
  hermes = {
    file = "greet.sh",
    lines = { "# Greets everybody.", 'echo "Hello, wrold"' },
    prompt = "The greeting has a typo. Fix it and run it.",
  },
}
local agent = vim.env.HERMES_DEMO or "demo"
local demo = demos[agent]

hermes.setup({
  root_markers = { demo.file }, -- there may be a repository above
  host = { cmd = { root .. "/bin/hermes", "host" } },
  agents = {
    demo = { command = root .. "/bin/hermes", args = { "demo-agent" } },
    hermes = { command = root .. "/bin/hermes-agent", args = { "acp" } },
  },
})

-- print() of Neovim 0.10 makes one line of it and cuts that.
local function say(text)
  io.stdout:write(text, "\n")
end

local headless = #vim.api.nvim_list_uis() == 0
vim.o.showmode = not headless
if headless then
  vim.ui.select = function(items, opts, answer)
    for i, item in ipairs(items) do
      if item.kind == "allow_once" then
        say(("\n%s\n> %s"):format(opts.prompt, opts.format_item(item)))
        return vim.schedule(function()
          answer(item, i)
        end)
      end
    end
    answer(nil, nil)
  end
end

vim.fn.writefile(demo.lines, demo.file)
vim.cmd.edit(demo.file)

-- What a demo without a terminal waits for. After this many milliseconds it fails.
local waits_for = "the agent to start"
local limit_ms = tonumber(vim.env.HERMES_DEMO_LIMIT_MS) or 60000

local finished = false

---@param problem? string why the demo has failed
local function finish(problem)
  if finished then
    return
  end
  finished = true
  local chat = require("hermes.chat").list()[1]
  if chat then
    say("\n" .. table.concat(vim.api.nvim_buf_get_lines(chat.buf, 0, -1, false), "\n"))
  end
  if problem then
    vim.api.nvim_create_autocmd("VimLeave", { -- what ends until then may write, too
      callback = function()
        io.stderr:write(("\nThe demo has failed: %s\n"):format(problem))
      end,
    })
  end
  vim.cmd(problem and "cquit" or "qa!")
end

if headless then
  local said = ""
  hermes.on("AgentTextMessage", function(data)
    said = said .. data.text
  end)
  hermes.on("AgentToolCall", function()
    said = "" -- what comes after it is another message
  end)
  hermes.on("TurnStarted", function()
    waits_for = "the end of the agent's turn"
  end)
  hermes.on("TurnEnded", function(data)
    if data.stopReason ~= "end_turn" then
      local error = data.error and "its turn failed: " .. data.error.message
      return finish(error or "its turn ended with " .. data.stopReason)
    end
    waits_for = "the transcript to show the agent's last words"
    local last = vim.trim(said):match("[^\n]*$")
    local function look() -- the transcript is written a little later
      local shown = vim.api.nvim_buf_get_lines(require("hermes.chat").list()[1].buf, 0, -1, false)
      if not table.concat(shown, "\n"):find(last, 1, true) then
        return vim.defer_fn(look, 20)
      end
      finish()
    end
    look()
  end)
  hermes.on({ "ConnectionFailed", "Disconnected", "RequestFailed" }, function(data)
    finish(data.message or data.error or data.reason)
  end)
  vim.defer_fn(function()
    finish(("after %d s it still waits for %s"):format(limit_ms / 1000, waits_for))
  end, limit_ms)
end

hermes.on("SessionCreated", function()
  waits_for = "its first prompt to reach the agent"
  -- The first prompt, typed into the chat. Questions come up in normal mode.
  vim.schedule(function()
    vim.api.nvim_input(demo.prompt .. "<C-s><Esc>")
  end)
end)
vim.cmd("Hermes chat " .. agent)
