local exe, quirk = ...
hermes.connect(
  "mixed",
  { command = exe, env = agent(serving .. " mixed").env, quirks = { one_session = quirk } }
)
for _, name in ipairs({ "a", "b" }) do
  hermes.create_session({
    cwd = vim.fn.getcwd(),
    on_done = function(err, r)
      _G[name] = r and r.sessionId
      finish(name)(err, r)
    end,
  })
end
function _G.heard(id)
  return #vim.tbl_filter(function(x)
    return x.sessionId == id
  end, of("AgentTextMessage"))
end
function _G.alive(id)
  return vim.uv.kill(tonumber(id:match("%d+$")), 0) == 0
end
