local here = vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))

dofile(here .. "/question_screens.lua")(120, 40)
