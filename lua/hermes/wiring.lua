---Functions of higher modules that lower modules call without knowing them. lua/hermes/init.lua
---fills them in. lua/hermes/command.lua fills in its own: the windows that use it are opened by a
---subcommand.
local M = {}

---@class hermes.Channel what runs the host and takes what it delivers
---@field open fun(): boolean, string?
---@field prepare fun()
---@field info fun(): table?
---@field running fun(): boolean
---@field post fun(op: string, id: string, text: string)
---@field configure fun()
---@field stop fun()
---@field deliver fun(text: string): number

---@type fun(): hermes.Channel
M.channel = nil

---The view that shows hunks in buffers.
---@type fun(): { start: fun(), stop: fun() }
M.signs = nil

---Runs a subcommand of :Hermes.
---@type fun(name: string, words: string[])
M.subcommand = nil

---Functions that check parts of the configuration in the modules that know them, by part.
---@type table<string, fun(value: any): string?>
M.problems = {}

return M
