---The tasks of an installation. A task is a coroutine. Each function that it yields starts
---something, and gets the function to call at its end. A task's errors are messages.
local M = {}

local uv = vim.uv

---Ends the task with a message.
---@param message string
---@param ... any of string.format()
function M.fail(message, ...)
  error(select("#", ...) > 0 and message:format(...) or message, 0)
end

---Runs a task.
---@param task fun(): any
---@param on_done fun(err: string?, result: any)
function M.start(task, on_done)
  local co = coroutine.create(task)
  local function step(...)
    local ok, yielded = coroutine.resume(co, ...)
    if not ok then
      return on_done(tostring(yielded))
    elseif coroutine.status(co) == "dead" then
      return on_done(nil, yielded)
    end
    local started, problem = pcall(yielded, vim.schedule_wrap(step))
    if not started then
      on_done(tostring(problem))
    end
  end
  step()
end

---Calls a function of vim.uv that takes a callback.
---@return string? err
---@return any result
function M.call(f, ...)
  local args = { ... }
  return coroutine.yield(function(done)
    args[#args + 1] = done
    f(unpack(args))
  end)
end

---Like M.call(), for what must not fail.
function M.must(what, f, ...)
  local err, result = M.call(f, ...)
  if err then
    M.fail("%s: %s", what, err)
  end
  return result
end

---Runs a program to its end. vim.system() of Neovim 0.10 may lose the end of what it prints.
---@param cmd string[]
---@param input string?
---@param on_output? fun(size: integer, kill: fun()) bytes so far
---@return { code: integer, stdout: string, stderr: string }
function M.run(cmd, input, on_output)
  return coroutine.yield(function(done)
    local pipes = { uv.new_pipe(), uv.new_pipe(), uv.new_pipe() }
    local texts, size, code, open = { {}, {} }, 0, nil, 3
    local function ended()
      open = open - 1
      if open == 0 then
        done({ code = code, stdout = table.concat(texts[1]), stderr = table.concat(texts[2]) })
      end
    end
    local handle, problem
    handle, problem = vim.uv.spawn(cmd[1], {
      args = vim.list_slice(cmd, 2),
      cwd = require("hermes.core.host").root(), -- not the folder of a project
      stdio = pipes,
      hide = true,
    }, function(exit_code, signal)
      code = signal ~= 0 and 128 + signal or exit_code
      handle:close()
      ended()
    end)
    if not handle then
      for _, pipe in ipairs(pipes) do
        pipe:close()
      end
      return done({ code = 127, stdout = "", stderr = problem })
    end
    require("hermes.core.quit").add_process(handle)
    for i = 1, 2 do
      pipes[i + 1]:read_start(function(_, chunk)
        if not chunk then
          pipes[i + 1]:close()
          return ended()
        end
        table.insert(texts[i], chunk)
        if i == 1 and on_output then
          size = size + #chunk
          on_output(size, function()
            handle:kill("sigkill")
          end)
        end
      end)
    end
    pipes[1]:write(input or "", function()
      pipes[1]:close()
    end)
  end)
end

return M
