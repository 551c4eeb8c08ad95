-- Collects what the tests look at.
_G.hermes = require("hermes")
_G.seen, _G.done, _G.notes = {}, {}, {}
_G.notify = vim.notify
vim.notify = function(text)
  notes[#notes + 1] = text
end
hermes.on("*", function(data, name)
  seen[#seen + 1] = vim.tbl_extend(
    "force",
    vim.deepcopy(data),
    { event = name, respond = "", reject = "", default = "" }
  )
end)
function _G.finish(key)
  return function(err, result)
    done[key] = { err = err, result = result }
  end
end
function _G.of(name)
  return vim.tbl_filter(function(e)
    return e.event == name
  end, seen)
end
function _G.said()
  local out = {}
  for _, e in ipairs(of("AgentTextMessage")) do
    out[#out + 1] = e.text
  end
  return table.concat(out)
end
