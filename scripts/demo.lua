-- What "make demo" runs inside Neovim: examples/chat.lua with the demo agent.
-- Headless it answers for the user, prints the chat and quits.
local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))
local hermes = require("hermes")
hermes.setup({
  host = { cmd = { root .. "/bin/hermes", "host" } },
  agents = { demo = { command = root .. "/bin/hermes", args = { "demo-agent" } } },
})
dofile(root .. "/examples/chat.lua")

local headless = #vim.api.nvim_list_uis() == 0
if headless then
  vim.ui.select = function(items, opts, answer)
    for i, item in ipairs(items) do
      if item.kind == "allow_once" then
        print(("\n%s\n> %s"):format(opts.prompt, opts.format_item(item)))
        return vim.schedule(function()
          answer(item, i)
        end)
      end
    end
    answer(nil, nil)
  end
end

local ended
hermes.on("TurnEnded", function(data)
  ended = data
end)
hermes.on("SessionCreated", function(data)
  -- The first prompt, as if it had been typed into the chat.
  vim.schedule(function()
    hermes.prompt(data.sessionId, "Show me what you can do")
  end)
end)
vim.cmd("HermesChat demo")

if headless then
  local done = vim.wait(60000, function()
    return ended ~= nil
  end, 20)
  print(table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n"))
  vim.cmd(done and "qa!" or "cquit")
end
