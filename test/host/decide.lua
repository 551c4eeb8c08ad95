-- The user decides file after file, accepts one and rejects the next, and saves a line of their own
-- after each decision.
local dir, round, count = ...
_G.acked, _G.saved = {}, {}
local function step(i)
  if i >= count then
    return
  end
  local verb = i % 2 == 0 and "accept" or "reject"
  hermes.review[verb]({ path = ("%s/r%d-%d.txt"):format(dir, round, i) }, {
    on_done = function(err, result)
      acked[#acked + 1] = err and err.message or result.files[1].error or "done"
      local line = ("mine %d %d"):format(round, i)
      vim.api.nvim_buf_set_lines(1, 0, 0, false, { line })
      if pcall(vim.cmd, "silent write") then
        saved[#saved + 1] = line
      end
      step(i + 1)
    end,
  })
end
step(0)
