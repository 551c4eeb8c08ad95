---What lower modules call of higher ones, which they do not know. lua/hermes/init.lua fills it in,
---and lua/hermes/command.lua its own part: the windows that run subcommands come up by one.
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

---What is wrong with parts of the configuration that other modules know, by part.
---@type table<string, fun(value: any): string?>
M.problems = {}

return M
