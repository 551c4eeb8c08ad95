-- Records what reaches Lua at a time: bytes and values.
_G.most = { bytes = 0, values = 0 }
local rpc = require("hermes.core.rpc")
local deliver = rpc.deliver
local function count(v)
  local n = 1
  if type(v) == "table" then
    for _, m in pairs(v) do
      n = n + count(m)
    end
  end
  return n
end
rpc.deliver = function(text)
  local values, items = 0, vim.json.decode(text, { luanil = { object = true } })
  for i = 2, #items, 2 do
    values = values + count(items[i])
  end
  most.bytes, most.values = math.max(most.bytes, #text), math.max(most.values, values)
  return deliver(text)
end
