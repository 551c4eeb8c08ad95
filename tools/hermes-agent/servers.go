package main

import (
	"maps"
	"slices"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/config"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/mcp"
)

// servers are the MCP servers of the settings that are not switched off, in the order of their
// names: requests to the model begin with the same bytes each time.
func servers(c config.Config) []mcp.Server {
	var list []mcp.Server
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		s := c.Servers[name]
		if !s.On() {
			continue
		}
		var headers []acp.HTTPHeader
		for _, header := range slices.Sorted(maps.Keys(s.Headers)) {
			headers = append(headers, acp.HTTPHeader{Name: header, Value: s.Headers[header]})
		}
		server := mcp.Server{Setting: "mcp_servers." + name, Allow: s.Allow, Fault: s.Fault}
		switch s.Type {
		case "sse":
			server.MCPServer = &acp.MCPServerSSE{Name: name, URL: s.URL, Headers: headers}
		case "http":
			server.MCPServer = &acp.MCPServerHTTP{Name: name, URL: s.URL, Headers: headers}
		default:
			var env []acp.EnvVariable
			for _, variable := range slices.Sorted(maps.Keys(s.Env)) {
				env = append(env, acp.EnvVariable{Name: variable, Value: s.Env[variable]})
			}
			server.MCPServer = &acp.MCPServerStdio{Name: name, Command: s.Command, Args: s.Args, Env: env}
		}
		list = append(list, server)
	}
	return list
}
