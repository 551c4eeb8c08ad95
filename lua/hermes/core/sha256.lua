---SHA-256 of any bytes, in another thread. Neovim's sha256() refuses zero bytes in 0.10, and keeps
---Neovim from drawing while it runs.
local M = {}

---Runs in a thread, where nothing but its argument exists.
---@param data string
---@return string hexadecimal
local function digest(data)
  local bit = require("bit")
  local band, bor, bxor, tobit = bit.band, bit.bor, bit.bxor, bit.tobit
  local lshift, rshift, ror = bit.lshift, bit.rshift, bit.ror
  local byte, floor = string.byte, math.floor

  -- The first 32 bits of the fractions of the square roots of the first 8 primes, and of the cube
  -- roots of the first 64.
  local hash, constants = {}, {}
  local function fraction(x)
    return tobit(floor(x % 1 * 2 ^ 32))
  end
  local candidate = 2
  while #constants < 64 do
    local prime = true
    for divisor = 2, floor(math.sqrt(candidate)) do
      prime = prime and candidate % divisor ~= 0
    end
    if prime then
      constants[#constants + 1] = fraction(candidate ^ (1 / 3))
      if #hash < 8 then
        hash[#hash + 1] = fraction(math.sqrt(candidate))
      end
    end
    candidate = candidate + 1
  end

  local words = {}
  local function compress(text, from)
    for i = 1, 16 do
      local b1, b2, b3, b4 = byte(text, from + 4 * i - 4, from + 4 * i - 1)
      words[i] = bor(lshift(b1, 24), lshift(b2, 16), lshift(b3, 8), b4)
    end
    for i = 17, 64 do
      local x, y = words[i - 15], words[i - 2]
      words[i] = tobit(
        words[i - 16]
          + bxor(ror(x, 7), ror(x, 18), rshift(x, 3))
          + words[i - 7]
          + bxor(ror(y, 17), ror(y, 19), rshift(y, 10))
      )
    end
    local a, b, c, d, e, f, g, h = unpack(hash)
    for i = 1, 64 do
      local t1 = h
        + bxor(ror(e, 6), ror(e, 11), ror(e, 25))
        + bxor(g, band(e, bxor(f, g)))
        + constants[i]
        + words[i]
      local t2 = bxor(ror(a, 2), ror(a, 13), ror(a, 22)) + bxor(band(a, b), band(c, bxor(a, b)))
      a, b, c, d, e, f, g, h = tobit(t1 + t2), a, b, c, tobit(d + t1), e, f, g
    end
    for i, x in ipairs({ a, b, c, d, e, f, g, h }) do
      hash[i] = tobit(hash[i] + x)
    end
  end

  local size = #data
  local whole = size - size % 64
  for from = 1, whole, 64 do
    compress(data, from)
  end
  local rest = data:sub(whole + 1) .. "\128" .. ("\0"):rep((55 - size) % 64)
  for shift = 7, 0, -1 do
    rest = rest .. string.char(floor(size * 8 / 256 ^ shift) % 256)
  end
  for from = 1, #rest, 64 do
    compress(rest, from)
  end
  for i, x in ipairs(hash) do
    hash[i] = bit.tohex(x)
  end
  return table.concat(hash)
end

---@param data string
---@param on_done fun(digest: string) lower-case hexadecimal; called where little of the API is
---allowed
function M.of(data, on_done)
  vim.uv.new_work(digest, on_done):queue(data)
end

return M
