---What is known about the CLIs of agents. `presets` of setup{shim} adds to it.

---@type table<string, hermes.ProgramPreset>
return {
  aider = { command = { "aider" }, interrupt = "ctrl-c" },
  claude = { command = { "claude" }, title = "Claude Code" },
  codex = { command = { "codex" }, title = "Codex" },
  copilot = { command = { "copilot" }, title = "GitHub Copilot" },
  gemini = { command = { "gemini" }, title = "Gemini CLI" },
  opencode = { command = { "opencode" }, title = "opencode" },
}
