local eq = MiniTest.expect.equality
local root = vim.fs.dirname(vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))))

describe("the border of a window", function()
  local child = MiniTest.new_child_neovim()
  after_each(child.stop)

  local windows = {
    ["a question"] = [[return require("hermes.core.float").open({ "hi" }, false,
      { row = 1, col = 1, width = 5, height = 1 })]],
    ["the keys of the chat"] = [[
      local keys = require("hermes.view.chat.actions").resolve({})
      require("hermes.view.chat.keys").help({ options = { keys = keys } })
      return vim.api.nvim_get_current_win()]],
  }

  -- The corner at the top left.
  for wanted, corner in pairs({ [""] = "╭", single = "┌", double = "╔", none = false }) do
    it(("is what 'winborder' says: %q"):format(wanted), function()
      for what, open in pairs(windows) do
        child.restart({ "--clean", "-n", "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
        local has = child.fn.exists("+winborder") == 1
        if has then
          child.o.winborder = wanted
        end
        local window = child.lua(open)
        local border = child.api.nvim_win_get_config(window).border or false
        local drawn = type(border) == "table" and (border[1][1] or border[1]) or false
        eq({ what, drawn }, { what, not has and "╭" or corner })
      end
    end)
  end
end)
