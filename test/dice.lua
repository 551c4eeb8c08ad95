--- Random numbers for specs.
local M = {}

--- Makes a die that rolls the same numbers for the same seed.
---@param seed integer
---@return fun(n: integer): integer from 1 to n
function M.new(seed)
  local state = seed * 7919 % 2147483647 + 1
  local function roll(n)
    state = state * 48271 % 2147483647
    return math.floor(state / 7) % n + 1
  end
  for _ = 1, 5 do
    roll(1)
  end
  return roll
end

return M
