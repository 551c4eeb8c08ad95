-- A tmux of its own with real Neovims in it, for specs about programs in panes.

local here = vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))
local root = vim.fs.dirname(vim.fs.dirname(here))
local place = dofile(vim.fs.dirname(here) .. "/place.lua")

local M = {}

-- A program that writes down its arguments and every byte that it gets, and does what some of them
-- say. $HEARD says where.
M.program = [[#!/bin/sh
case $1 in --version) echo "2.1.400 (Claude Code)"; exit ;; esac
printf '<%s>' "$@" > "$HEARD.args"
stty raw -echo
printf '\033[?2004hready'
while :; do
  got=$(dd bs=65536 count=1 2> /dev/null | od -An -v -tx1 | tr -d ' \n')
  printf '%s' "$got" >> "$HEARD"
  case $got in
    *656469743b*) echo two >> "$PWD/f" || printf denied >> "$HEARD" ;;
    *736176653b*) sed -i s/one/three/ "$PWD/f" ;;
    *73746f703b*) exit 7 ;;
    *656e643b*) exit 0 ;;
    '') exit 1 ;;
  esac
done
]]

---@param path string
---@param text string
---@param mode? integer
function M.write(path, text, mode)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  if mode then
    assert(vim.uv.fs_chmod(path, mode))
  end
end

---@param path string
---@return string
function M.read(path)
  local file = io.open(path, "rb")
  local text = file and file:read("*a") or ""
  return file and file:close() and text or text
end

---@param what string
---@param is fun(): any
---@param seen? fun(): any
function M.wait_for(what, is, seen)
  if not vim.wait(60000, is, 20) then
    error(("no %s; %s"):format(what, vim.inspect(seen and seen())), 2)
  end
end

---@class hermes.test.Tmux
---@field dir string
---@field socket? string of the server
---@field channel integer RPC of the Neovim that was started last
local Tmux = {}
Tmux.__index = Tmux

---A test where there is no tmux.
function M.skip()
  io.stdout:write("skipped: needs tmux: run 'make test', or set HERMES_TMUX\n")
end

---@param name string
---@return hermes.test.Tmux? nil where there is no tmux
function M.new(name)
  local program = vim.env.HERMES_TMUX or ""
  program = vim.fn.exepath(program ~= "" and program or "tmux")
  if program == "" then
    return nil
  end
  vim.env.PATH = vim.fs.dirname(program) .. ":" .. vim.env.PATH -- with its ps
  return setmetatable({ dir = place.new() .. "/" .. name, channel = 0 }, Tmux)
end

---@param ... string
---@return string
function Tmux:output(...)
  local argv = { "tmux", "-S", self.socket }
  for _, word in ipairs({ ... }) do
    argv[#argv + 1] = (word:gsub(";$", "\\;"))
  end
  local out = vim.system(argv, { text = true, env = { TMUX = "" } }):wait()
  return out.code == 0 and out.stdout or error(out.stderr, 2)
end

---@param ... string
---@return string
function Tmux:run(...)
  return vim.trim(self:output(...))
end

---@param pane string
---@param what string
---@return string
function Tmux:of(pane, what)
  return self:run("display-message", "-p", "-t", pane, what)
end

---@param pane string
---@return string
function Tmux:screen(pane)
  return self:output("capture-pane", "-p", "-t", pane)
end

---Runs Lua in the Neovim that was started last.
---@param code string
---@return any
function Tmux:lua(code, ...)
  return vim.rpcrequest(self.channel, "nvim_exec_lua", code, { ... })
end

---@param socket string
---@return integer channel
local function speak_to(socket)
  local channel = 0
  M.wait_for("Neovim", function()
    local ok, opened = pcall(vim.fn.sockconnect, "pipe", socket, { rpc = true })
    channel = ok and opened or 0
    return channel > 0
  end)
  M.wait_for("screen", function()
    return vim.rpcrequest(channel, "nvim_get_vvar", "vim_did_enter") == 1
      and #vim.rpcrequest(channel, "nvim_list_uis") > 0
  end)
  return channel
end

---Starts a Neovim in a window of tmux, and speaks to it.
---@param name string
---@param file string in the folder where it starts
---@param size? { columns: integer, lines: integer } of a screen of its own
function Tmux:neovim(name, file, size)
  local socket = ("%s/%s.sock"):format(self.dir, name)
  local command = { vim.v.progpath, "--clean", "-n", "--listen", socket }
  vim.list_extend(command, { "--cmd", "set rtp^=" .. vim.fn.fnameescape(root), file })
  local how = { "-d", "-e", "XDG_STATE_HOME=" .. self.dir .. "/state" }
  vim.list_extend(how, { "-c", (vim.fs.dirname(file):gsub("#", "##")), "-n", name, "--" })
  vim.list_extend(how, command)
  local first = not self.socket
  self.socket = self.dir .. "/tmux"
  if first or size then
    local columns, lines = size and size.columns or 160, size and size.lines or 40
    local screen = { "new-session", "-x", tostring(columns), "-y", tostring(lines) }
    vim.list_extend(screen, size and { "-s", name } or {})
    self:run("-f", "/dev/null", unpack(vim.list_extend(screen, how)))
    if size then -- all of it for Neovim
      self:run("set-option", "-t", name, "status", "off")
      self:resize(name, size)
    end
  else
    self:run("new-window", unpack(how))
  end
  self.channel = speak_to(socket)
end

---@param name string of a screen
---@param size { columns: integer, lines: integer }
function Tmux:resize(name, size)
  local columns, lines = tostring(size.columns), tostring(size.lines)
  self:run("resize-window", "-t", name, "-x", columns, "-y", lines)
end

return M
