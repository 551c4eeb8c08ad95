-- Random messages and keys in the transcript of a chat: after each step every line, sign, highlight
-- and fold is that of the model, and a key does what its line says, or nothing. While soaking there
-- are 10,000 sequences.

local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))

describe("the transcript", function()
  it("is a list of blocks, and a key does what its line says", function()
    local child = MiniTest.new_child_neovim()
    child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    child.o.lines, child.o.columns = 60, 100
    local count = vim.env.HERMES_SOAK and 10000 or 300
    local first = vim.fn.has("nvim-0.11") == 1 and 1 or count + 1
    local result = child.lua(
      [[local play = dofile((...) .. "/test/transcript_play.lua")
      return play.run(select(2, ...))]],
      { root, first, count, 120 }
    )
    child.stop()
    assert(not result.fault, result.fault)
    MiniTest.expect.equality(result.answers > count, true)
  end)
end)
