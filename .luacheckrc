std = "luajit"
cache = false
max_line_length = 100
globals = { "vim" }
read_globals = { "MiniTest" }
exclude_files = { "lua/hermes/core/types_gen.lua" }
files["**/*_gen.lua"] = { max_line_length = false }
files["test/question_screens.lua"] = { std = "+busted" } -- the tests of several specs
files["test/chat_spec.lua"] = { max_line_length = false, ignore = { "613" } } -- it quotes a whole chat
files["test/hermes_chat_spec.lua"] = { max_line_length = false, ignore = { "613" } } -- so does this
files["test/budget_spec.lua"] = { max_line_length = false } -- it lists modules
files["test/host"] = { ignore = { "11." } } -- they share globals with the tests that run them
