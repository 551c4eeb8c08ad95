---What the system says about processes.
local M = {}

---@class hermes.Process
---@field pid integer
---@field born string its start time, as the system reports it. A pid can be used again, so only
---the two together identify a process
---@field group integer its process group
---@field front boolean it has its terminal

---@param pid integer
---@return string[]? words of /proc/PID/stat from its state on; nil where there is none
local function stat(pid)
  local file = io.open(("/proc/%d/stat"):format(pid))
  local text = file and file:read("*a") or ""
  return file and file:close() and vim.split(text:match("^%d+ %(.*%) (.*)") or "", " ") or nil
end

---@param state? string
---@return boolean
local function is_over(state)
  return not state or state:find("^[ZX]") ~= nil
end

---Whether a process runs. A zombie does not: tmux 3.3 can miss the end of a command, because one of
---its libraries takes the signal.
---@param pid integer
---@param born? string of the one that is meant, which is looked at where that costs nothing
---@return boolean
function M.runs(pid, born)
  if vim.uv.kill(pid, 0) ~= 0 then
    return false
  end
  local words = stat(pid)
  return not words or not is_over(words[1]) and (not born or words[20] == born)
end

---@param pid integer
---@return hermes.Process? process nil when it does not run
function M.look(pid)
  local words = stat(pid)
  local state, group, front, born =
    unpack(words and { words[1], words[3], words[6], words[20] } or {})
  if not words then
    local columns = "stat=,pgid=,tpgid=,lstart="
    local out = require("hermes.core.exec").wait({ "ps", "-o", columns, "-p", tostring(pid) })
    state, group, front, born = out.stdout:match("^%s*(%S+)%s+(%d+)%s+(%S+)%s+([^\n]+)")
  end
  if born and not is_over(state) then
    return { pid = pid, born = born, group = tonumber(group), front = group == front }
  end
end

-- Programs that run the file that their first argument names. Without one, they are no agents.
local interpreters = vim.split("node bun deno python python3 env sh bash dash fish ksh zsh", " ")

---@param word string
---@return string
local function base(word)
  return word:match("[^/]*$")
end

---Whether a command line runs a shim.
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
