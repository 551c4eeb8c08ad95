local dir = vim.fn.getcwd() .. "/many"
vim.fn.mkdir(dir)
local lines = {}
for i = 1, 5000 do
  lines[i] = "line " .. i
end
for i = 1, 60 do
  vim.fn.writefile(lines, dir .. "/" .. i)
  vim.cmd("silent edit " .. dir .. "/" .. i)
end
lines[1] = "changed"
for i = 1, 60 do
  vim.fn.writefile(lines, dir .. "/" .. i)
end
_G.pieces, _G.work = 0, require("hermes.doc.refresh").work
require("hermes.doc.refresh").work = function()
  pieces = pieces + 1
  work()
end
