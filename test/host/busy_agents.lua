local agents = {}
for i = 1, 8 do
  agents["busy" .. i] = agent(i % 2 == 0 and "DEAF\n" .. serving .. "\nWAIT 1h" or serving)
end
hermes.setup({ agents = agents })
hermes.on_request("PermissionRequest", function()
  return "allow"
end)
for i = 1, 8 do
  local name = "busy" .. i
  hermes.connect(name, { on_done = finish("connect " .. name) })
  hermes.create_session({
    agent = name,
    cwd = vim.fn.getcwd(),
    on_done = function(err, r)
      done[name] = { err = err }
      if not err then
        hermes.prompt(
          r.sessionId,
          i <= 2 and "RUN sleep 600" or "SAY on\nWAIT 10m",
          { agent = name }
        )
      end
    end,
  })
end
