package plugin

import (
	"maps"
	"os"
	"slices"
)

// presets are the agents that connect knows by name. A user's setup{agents}
// wins over them.
var presets = map[string]command{
	"claude":   npm("claude-agent-acp", "@zed-industries/claude-agent-acp", "ANTHROPIC_*", "CLAUDE_*"),
	"codex":    npm("codex-acp", "@zed-industries/codex-acp", "OPENAI_*", "CODEX_*"),
	"copilot":  npm("copilot", "@github/copilot", "GH_*", "GITHUB_*").with("--acp"),
	"demo":     self("demo-agent"),
	"gemini":   npm("gemini", "@google/gemini-cli", "GEMINI_*", "GOOGLE_*").with("--acp"),
	"goose":    command{Command: "goose", Install: "see the goose documentation", PassEnv: []string{"GOOSE_*"}}.with("acp"),
	"opencode": npm("opencode", "opencode-ai", "OPENCODE_*", "ANTHROPIC_*", "OPENAI_*").with("acp"),
	"qwen":     npm("qwen", "@qwen-code/qwen-code", "OPENAI_*", "DASHSCOPE_*").with("--acp"),
}

func npm(program, pkg string, passEnv ...string) command {
	return command{Command: program, Install: "npm install -g " + pkg, PassEnv: passEnv}
}

// self is an agent that this program is itself.
func self(subcommand string) command {
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	return command{Command: program, Args: []string{subcommand}, Install: "comes with Hermes"}
}

func (c command) with(args ...string) command {
	c.Args = args
	return c
}

// Preset is an agent that connect knows by name.
type Preset struct {
	Name    string
	Program string
	Install string // what to do when the program is missing
}

// Presets returns the presets, sorted by name.
func Presets() []Preset {
	list := make([]Preset, 0, len(presets))
	for _, name := range slices.Sorted(maps.Keys(presets)) {
		list = append(list, Preset{name, presets[name].Command, presets[name].Install})
	}
	return list
}
