---What the system says about processes.
local M = {}

---Whether a process runs. One that has ended does not, even while nobody has asked how: tmux 3.3
---can miss the end of a command, because a library of it takes the signal.
---@param pid integer
---@return boolean
function M.runs(pid)
  if vim.uv.kill(pid, 0) ~= 0 then
    return false
  end
  local file = io.open(("/proc/%d/stat"):format(pid))
  local stat = file and file:read("*a") or ""
  return not (file and file:close() and stat:find("^%d+ %(.*%) [ZX] "))
end

-- Programs that run the file that their first word names. Without one, they are no agents.
local interpreters = vim.split("node bun deno python python3 env sh bash dash fish ksh zsh", " ")

---@param word string
---@return string
local function base(word)
  return word:match("[^/]*$")
end

---Whether a command line is that of a shim.
---@param line string as `ps` shows it
---@return boolean
function M.is_shim(line)
  local first, second = line:match("^%s*(%S+)%s+(%S+)")
  return first ~= nil and base(first) == "hermes" and second == "shim"
end

---Which program a command line runs, however it was started.
---@param line string as `ps` shows it
---@return string? program without its folder
function M.program(line)
  local words = vim.split(line, "%s+", { trimempty = true })
  local at = 1
  if M.is_shim(line) then
    for i, word in ipairs(words) do
      if word == "--" then
        at = i + 1
        break
      end
    end
  end
  while vim.tbl_contains(interpreters, base(words[at] or "")) do
    repeat
      at = at + 1
    until not words[at] or not (words[at]:find("^%-") or words[at]:find("="))
  end
  return words[at] and base(words[at])
end

---@param line string
---@param pattern string a Lua pattern for all of the program's name
---@return boolean
function M.matches(line, pattern)
  local program = M.program(line)
  return program ~= nil and program:find("^" .. pattern .. "$") ~= nil
end

return M
