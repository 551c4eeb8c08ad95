-- Random keys in lists of the review, in terminals, and in a chat whose prompts wait: a key does
-- what its line or its window says, or nothing. While soaking there are 500 sequences of each.

local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))

describe("what a key does", function()
  for game, where in pairs({
    review = "in a list of the review",
    terminals = "in a terminal",
    queue = "to a prompt that waits",
  }) do
    it(where, function()
      local child = MiniTest.new_child_neovim()
      child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
      child.o.lines, child.o.columns = 60, 100
      local count = vim.env.HERMES_SOAK and 500 or 60
      local first = vim.fn.has("nvim-0.11") == 1 and 1 or count + 1
      local result = child.lua(
        [[local play = dofile((...) .. "/test/lists_play.lua")
        return play.run(select(2, ...))]],
        { root, game, first, count, 100 }
      )
      child.stop()
      assert(not result.fault, result.fault)
      MiniTest.expect.equality(result.done > 20, true)
    end)
  end
end)
