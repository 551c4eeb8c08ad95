-- Runs the Lua specs: nvim --clean --headless -l test/run.lua [FILE...]
--
-- Every spec file runs in a Neovim of its own, with mini.test from the folder
-- in $HERMES_MINI_TEST. The last line is "N passed, N failed"; the exit code
-- is 1 when a test failed, a file did not finish, or nothing ran. What a file
-- with a failure printed also goes to a file of that name in the folder
-- $HERMES_SPEC_FAILED, if it is set.

local root = vim.fs.dirname(vim.fs.dirname(assert(vim.uv.fs_realpath(arg[0]))))
-- How long a test waits for what has to come, and a file for its tests. Only what hangs takes
-- as long; on a slow machine HERMES_PATIENCE is a factor of both.
local patience_ms = 180000 * (tonumber(vim.env.HERMES_PATIENCE) or 1)
local timeout_ms = 5 * patience_ms

--- Runs one spec file in this Neovim and prints its failures.
---@param file string
local function run_file(file)
  vim.opt.rtp:prepend({ root, vim.env.HERMES_MINI_TEST })
  vim.o.swapfile = false
  require("hermes") -- joins its modules, which specs then load one by one
  local test = require("mini.test")
  -- What a test waits for longer than 20 s has to come: a test in which it did not has failed.
  local wait = vim.wait
  local in_vain = {} ---@type string[]
  function vim.wait(ms, condition, ...)
    local patient = ms >= 20000
    local done, why = wait(patient and math.max(ms, patience_ms) or ms, condition, ...)
    if not done and condition and patient then
      local at = debug.getinfo(2, "Sl")
      local where = ("%s:%d"):format(at.source:sub(2), at.currentline)
      in_vain[#in_vain + 1] = where .. ": waited in vain"
    end
    return done, why
  end
  local new_child = test.new_child_neovim
  function test.new_child_neovim()
    local child = new_child()
    local start = child.start
    function child.start(args, opts)
      opts = vim.tbl_extend("keep", opts or {}, { connection_timeout = patience_ms })
      return start(args, opts)
    end
    return child
  end
  local passed, failed, printed = 0, 0, {}
  local function update(index)
    local case = test.current.all_cases[index]
    local state = case.exec and case.exec.state or ""
    if printed[case] or not (state:find("^Pass") or state:find("^Fail")) then
      return
    end
    printed[case] = true
    if state:find("^Pass") and #in_vain == 0 then
      passed = passed + 1
      return
    end
    failed = failed + 1
    local fails = vim.list_extend(vim.list_slice(case.exec.fails), in_vain)
    in_vain = {}
    local reasons = vim.trim(table.concat(fails, "\n"):gsub("\27%[%d*m", ""))
    local line = reasons:match(vim.pesc(file) .. ":(%d+)")
    local where = line and file .. ":" .. line or file
    local name = table.concat(case.desc, " ", 2)
    io.stdout:write(("%s: FAIL %s\n  %s\n"):format(where, name, (reasons:gsub("\n", "\n  "))))
  end
  test.setup({ silent = true })
  local collected, problem = pcall(test.run, {
    collect = {
      emulate_busted = true,
      find_files = function()
        return { file }
      end,
    },
    execute = {
      reporter = { start = function() end, update = update, finish = function() end },
    },
  })
  if not collected then
    failed = failed + 1
    io.stdout:write(("%s: FAIL %s\n"):format(file, problem))
  end
  local finished = wait(timeout_ms, function()
    return not test.is_executing()
  end, 5)
  if not finished then
    failed = failed + 1
    io.stdout:write(("%s: FAIL still running after %d s\n"):format(file, timeout_ms / 1000))
  end
  test.stop() -- ends the Neovims that the specs started
  vim.api.nvim_exec_autocmds("User", { pattern = "SpecsEnded" })
  io.stdout:write(("%d passed, %d failed\n"):format(passed, failed))
  io.stdout:flush()
  os.exit(failed == 0 and 0 or 1)
end

--- Runs one spec file in a Neovim of its own.
---@param file string
---@param done fun(result: vim.SystemCompleted)
local function start_child(file, done)
  vim.system({ vim.v.progpath, "--clean", "--headless", "-l", arg[0], file }, {
    env = { HERMES_SPEC_CHILD = "1", NVIM = "", NVIM_LOG_FILE = vim.fn.tempname() },
    text = true,
    timeout = timeout_ms + 10000,
  }, vim.schedule_wrap(done))
end

--- Prints what a spec file said.
---@param file string
---@param result vim.SystemCompleted
---@return integer passed, integer failed
local function report(file, result)
  local rest, passed, failed = result.stdout:match("^(.-)(%d+) passed, (%d+) failed\n$")
  local printed = (rest or result.stdout) .. result.stderr
  if printed:find("[^\n]$") then
    printed = printed .. "\n" -- what a test printed must not run into the counts
  end
  passed, failed = tonumber(passed) or 0, tonumber(failed) or 0
  if not rest or (failed == 0 and result.code ~= 0) then
    local how = "%s: FAIL its Neovim ended with code %d, signal %d\n"
    printed = printed .. how:format(file, result.code, result.signal)
    failed = failed + 1
  elseif passed + failed == 0 then
    printed = printed .. ("%s: FAIL holds no test\n"):format(file)
    failed = 1
  end
  io.stdout:write(printed)
  local folder = vim.env.HERMES_SPEC_FAILED
  if failed > 0 and folder then
    vim.fn.mkdir(folder, "p")
    local copy = assert(io.open(vim.fs.joinpath(folder, vim.fs.basename(file)), "wb"))
    copy:write(printed)
    copy:close()
  end
  return passed, failed
end

local mini = vim.env.HERMES_MINI_TEST
if not mini or not vim.uv.fs_stat(mini .. "/lua/mini/test.lua") then
  io.stdout:write(("HERMES_MINI_TEST: no lua/mini/test.lua in %q\n"):format(mini or ""))
  os.exit(1)
end
if vim.env.HERMES_SPEC_CHILD then
  run_file(arg[1])
end

local files = #arg > 0
    and vim.tbl_map(function(file)
      return vim.fn.fnamemodify(file, ":p")
    end, vim.list_slice(arg, 1))
  or vim.fn.globpath(root .. "/test", "*_spec.lua", true, true)
-- Those that take longest begin first, so that the run does not end with one of them alone.
local longest = { "confined_agent", "hermes_chat", "typing", "chat_screen", "budget", "screens" }
local rank = {} ---@type table<string, integer>
for i, file in ipairs(files) do
  local at = vim.fn.index(longest, (vim.fs.basename(file):gsub("_spec%.lua$", "")))
  rank[file] = at >= 0 and at or #longest + i
end
table.sort(files, function(a, b)
  return rank[a] < rank[b]
end)
-- Most specs wait for the screen or the clock most of the time.
local at_a_time = 6
local running, started, results = 0, 0, {}
while vim.tbl_count(results) < #files do
  while started < #files and running < at_a_time do
    started, running = started + 1, running + 1
    local i = started
    start_child(files[i], function(result)
      running, results[i] = running - 1, result
    end)
  end
  local before = running
  vim.wait(2 * timeout_ms, function()
    return running < before
  end, 10)
end
local passed, failed = 0, 0
for i, file in ipairs(files) do
  local p, f = report(file, results[i])
  passed, failed = passed + p, failed + f
end
io.stdout:write(("%d passed, %d failed\n"):format(passed, failed))
os.exit(failed == 0 and passed > 0 and 0 or 1)
