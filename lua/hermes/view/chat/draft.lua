--- Prompts that were not sent when their chat was closed or Neovim ended. They come back in the
--- next chat of the folder.

local M = {}

---@return string folder
local function folder()
  return vim.fs.joinpath(vim.fn.stdpath("state") --[[@as string]], "hermes", "drafts")
end

---@param cwd string folder of the chat
---@return string path
local function path(cwd)
  return vim.fs.joinpath(folder(), vim.fn.sha256(cwd))
end

---@param file string
---@return string? text
local function read(file)
  local handle = io.open(file, "rb")
  local text = handle and handle:read("*a")
  return handle and handle:close() and text or nil
end

---Keeps a text, after those that are kept already. Only the user can read it.
---@param cwd string folder of the chat
---@param text string
function M.keep(cwd, text)
  if not text:find("%S") then
    return
  end
  local file = path(cwd)
  local before = read(file)
  local temporary = ("%s.%d"):format(file, vim.uv.os_getpid())
  local all = before and before .. "\n" .. text or text
  local ok, err = pcall(function()
    vim.fn.mkdir(folder(), "p", 448) -- 0700
    local handle = assert(vim.uv.fs_open(temporary, "w", 384)) -- 0600
    local written = vim.uv.fs_write(handle, all)
    assert(vim.uv.fs_close(handle))
    assert(written == #all, "the disk is full")
    assert(vim.uv.fs_rename(temporary, file))
  end)
  if not ok then
    vim.uv.fs_unlink(temporary)
    local said = "the prompt was not kept: " .. err
    require("hermes.core.log").write(vim.log.levels.ERROR, said) -- Neovim may be about to end
    require("hermes.core.log").show(vim.log.levels.ERROR, said)
  end
end

---Takes what was kept.
---@param cwd string folder of the chat
---@return string? text
function M.take(cwd)
  local text = read(path(cwd))
  if text then
    vim.uv.fs_unlink(path(cwd))
  end
  return text
end

return M
