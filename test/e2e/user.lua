-- A user who answers the questions of agents, after a moment: at once answers a program,
-- which `hermes lint` reports.
local M = {
  kind = "allow_once", -- of the answer
  asked = {}, ---@type string[] the questions so far
}

--- How many milliseconds the user reads a question.
local reading = 400

vim.ui.select = function(items, opts, answer)
  table.insert(M.asked, opts.prompt)
  vim.defer_fn(function()
    for i, item in ipairs(items) do
      if item.kind == M.kind then
        return answer(item, i)
      end
    end
    answer(nil, nil)
  end, reading)
end

return M
