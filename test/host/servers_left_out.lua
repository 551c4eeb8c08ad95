hermes.setup({ agents = { local_ones = agent(serving .. " stdio resume") } })
_G.more = {
  agent = "local_ones",
  additional_directories = { vim.fn.getcwd() },
  mcp_servers = {
    { name = "c", command = "/bin/true", args = {}, env = {} },
    { type = "http", name = "a", url = "http://h" },
    { type = "sse", name = "b", url = "http://h" },
  },
}
function _G.taken(method)
  local list = {}
  for _, m in ipairs(of("TrafficMessage")) do
    if m.direction == "out" and m.method == method then
      local params = vim.json.decode(m.message).params
      list[#list + 1] = vim
        .iter(params.mcpServers)
        :map(function(server)
          return server.name
        end)
        :join(" ")
      list[#list + 1] = params.additionalDirectories and "folders" or nil
    end
  end
  return list
end
function _G.finished(key)
  return vim.tbl_extend("error", more, { on_done = finish(key) })
end
hermes.connect("local_ones", { on_done = finish("connected") })
