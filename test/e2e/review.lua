-- A turn of a published agent that changes files by several means. Started by
-- review_neovim_test.go; $HERMES_E2E says with whom and where.
local config = vim.json.decode(vim.env.HERMES_E2E)
local ws = config.workspace
vim.o.swapfile = false

local hermes = require("hermes")
hermes.setup({
  host = { cmd = { config.hermes, "host" } },
  timeouts = { initialize = config.patience, new_session = config.patience },
  agents = { [config.agent] = config.launch },
  permissions = config.own
      and { fs_read_access = false, fs_write_access = false, terminal_access = false }
    or nil,
})

local edited, source = {}, nil
hermes.on("FileEdited", function(data)
  local name = data.path:sub(#ws + 2)
  source = name == "hello.txt" and data.source or source
  edited[name] = (edited[name] or 0) + 1
end)
-- Every question is answered with yes, as a user who reads does.
vim.ui.select = function(items, _, answer)
  vim.schedule(function()
    for i, item in ipairs(items) do
      if type(item) == "table" and item.kind == "allow_once" then
        return answer(item, i)
      end
    end
    answer(nil, nil)
  end)
end

local function wait(what, fn)
  if not vim.wait(config.patience, fn, 20) then
    error("timeout: " .. what .. "; edited " .. vim.inspect(edited), 0)
  end
end

vim.cmd.edit(ws .. "/hello.txt")
vim.cmd.split(ws .. "/deep/list.txt")

local session
hermes.on("SessionCreated", function(data)
  session = data.sessionId
end)
hermes.connect(config.agent)
hermes.create_session({ cwd = ws })
wait("session", function()
  return session
end)

local ended
hermes.prompt(session, table.concat(config.steps, "\n"), {
  on_done = function(err)
    ended = { err }
  end,
})
wait("end of the turn", function()
  return ended
end)
assert(not ended[1], vim.inspect(ended[1]))

wait("all changes", function()
  return vim.tbl_count(edited) >= 4
end)
local function lines(name)
  return table.concat(
    vim.api.nvim_buf_get_lines(vim.fn.bufnr(ws .. "/" .. name), 0, -1, false),
    " "
  )
end
wait("fresh buffers", function()
  return lines("hello.txt") == "alpha BETA gamma" and lines("deep/list.txt") == "one 2"
end)
vim.wait(300) -- for a change that is told again
assert(
  vim.deep_equal(
    edited,
    { ["hello.txt"] = 1, ["deep/list.txt"] = 1, ["gone.txt"] = 1, ["new.txt"] = 1 }
  ),
  vim.inspect(edited)
)
assert(source == (config.own and "tool" or "write"), source)
io.write("conversation complete\n")
vim.cmd("qall!")
