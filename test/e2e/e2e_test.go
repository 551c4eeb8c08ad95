// Package e2e runs conversations between real Neovims and real agents, through
// the public Lua API, and looks at what a user would see: autocommand data,
// files, buffers, the answer to a permission and the end of a cancelled turn.
//
// The Neovims are those of HERMES_NVIM (paths separated by colons; by default the
// nvim in PATH). The published agents are the npm packages in HERMES_AGENTS.
// "make test" provides both.
package e2e

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/test/editors"
	"github.com/hermes-nvim/hermes/test/llm"
)

// launch is how one agent is started or reached, as hermes.setup takes it.
type launch struct {
	Command  string            `json:"command,omitempty"`
	Args     []string          `json:"args,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
	Protocol string            `json:"protocol,omitempty"`
	URL      string            `json:"url,omitempty"`
	Token    string            `json:"token,omitempty"`
}

// agents says how each agent is started, given the folder of the npm packages,
// the scripted model's URL and a home folder of its own.
var agents = map[string]func(t *testing.T, env environment) launch{
	"demo": func(t *testing.T, env environment) launch {
		return launch{Command: env.hermes, Args: []string{"demo-agent"}}
	},
	"websocket": func(t *testing.T, env environment) launch {
		return serve(t, env.hermes, "websocket", env.recorded(env.hermes, "demo-agent")...)
	},
	"http": func(t *testing.T, env environment) launch {
		return serve(t, env.hermes, "http", env.recorded(env.hermes, "demo-agent")...)
	},
	"sdk": func(t *testing.T, env environment) launch {
		script, err := filepath.Abs("../agents/sdk-agent.mjs")
		if err != nil {
			t.Fatal(err)
		}
		return launch{Command: "node", Args: []string{script, env.packages(t)}}
	},
	"hermes": func(t *testing.T, env environment) launch {
		return launch{
			Command: filepath.Join(filepath.Dir(env.hermes), "hermes-agent"), Args: []string{"acp"},
			Env: map[string]string{"OPENAI_BASE_URL": env.model + "/v1", "OPENAI_API_KEY": "none", "XDG_STATE_HOME": env.home},
		}
	},
	"gemini": func(t *testing.T, env environment) launch {
		writeFile(t, filepath.Join(env.home, ".gemini/settings.json"), `{
			"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
			"general": {"disableAutoUpdate": true, "enableAutoUpdate": false},
			"privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false},
			"model": {"name": "gemini-2.5-pro"}}`)
		return launch{
			Command: filepath.Join(env.packages(t), ".bin/gemini"),
			Args:    []string{"--acp", "--skip-trust"},
			Env: map[string]string{"HOME": env.home, "GEMINI_API_KEY": "none",
				"GOOGLE_GEMINI_BASE_URL": env.model, "GEMINI_CLI_NO_RELAUNCH": "true"},
		}
	},
	"claude": func(t *testing.T, env environment) launch {
		return launch{
			Command: filepath.Join(env.packages(t), ".bin/claude-code-acp"),
			Args:    []string{},
			Env: map[string]string{"HOME": env.home, "ANTHROPIC_BASE_URL": env.model, "ANTHROPIC_API_KEY": "none",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1"},
		}
	},
}

type environment struct {
	hermes, model, home, npm string
	recording                string // of the traffic with the agent
}

// recorded is the command of an agent whose traffic is recorded.
func (e environment) recorded(command ...string) []string {
	return append([]string{e.hermes, "record", "--out", e.recording, "--"}, command...)
}

// packages is the folder of the npm packages. Outside CI a missing Node skips.
func (e environment) packages(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil || e.npm == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("no Node.js or no HERMES_AGENTS: nothing is skipped in CI, run 'make test'")
		}
		t.Skip("needs Node.js and HERMES_AGENTS (make test provides it)")
	}
	return filepath.Join(e.npm, "node_modules")
}

func TestConversations(t *testing.T) {
	t.Parallel()
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	hermes := build(t)
	for i, nvim := range editors.All(t) {
		for name, start := range agents {
			if i > 0 && name != "demo" && name != "sdk" {
				continue // the other agents say nothing that an older Neovim would not get from these
			}
			t.Run(nvim.Version+"/"+name, func(t *testing.T) {
				t.Parallel()
				env := environment{hermes: hermes, model: model.URL, home: t.TempDir(), npm: os.Getenv("HERMES_AGENTS"), recording: filepath.Join(t.TempDir(), "traffic.jsonl")}
				agent := start(t, env)
				if agent.Command != "" {
					command := env.recorded(append([]string{agent.Command}, agent.Args...)...)
					agent.Command, agent.Args = command[0], command[1:]
				}
				run(t, nvim.Path, "conversation.lua", map[string]any{
					"agent": name, "hermes": hermes, "launch": agent, "workspace": realTempDir(t),
				})
				sides, options := []lint.Party{lint.Client}, lint.Options{Profile: lint.Strict}
				if name == "hermes" {
					// It asks only about commands that may do harm.
					options.Severities = map[string]lint.Severity{"PER15": 0}
				}
				if name == "demo" || name == "hermes" || agent.URL != "" {
					sides = append(sides, lint.Agent) // it is ours
				}
				lintAll(t, env.recording, options, sides)
			})
		}
	}
}

// run executes a Lua script of this folder in a headless Neovim, with the
// plugin on its runtime path, and fails with what it printed.
func run(t *testing.T, nvim, script string, config map[string]any, env ...string) {
	t.Helper()
	config["patience"] = patience.Turn.Milliseconds()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	settings, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience.Turn)
	defer cancel()
	cmd := exec.CommandContext(ctx, nvim, "--clean", "--headless", "--cmd", "set rtp^="+root, "-l", filepath.Join(root, "test/e2e", script))
	cmd.Dir = t.TempDir()
	state := editors.StateDir(t)
	cmd.Env = append(os.Environ(), "HERMES_E2E="+string(settings), "XDG_STATE_HOME="+state, "XDG_CACHE_HOME="+state, "NVIM=")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	if !strings.Contains(string(out), "conversation complete") {
		t.Fatalf("%s ended early:\n%s", script, out)
	}
}

// serve puts an agent behind a server of its own.
func serve(t *testing.T, hermes, protocol string, agent ...string) launch {
	t.Helper()
	token := rand.Text() + rand.Text()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(hermes, append([]string{"serve", "-token-file", file, "--"}, agent...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		io.Copy(io.Discard, stderr)
		cmd.Wait()
	})
	line, err := bufio.NewReader(stderr).ReadString('\n')
	_, url, found := strings.Cut(strings.TrimSpace(line), "listening on ")
	if !found {
		t.Fatalf("hermes serve said %q, %v", line, err)
	}
	return launch{Protocol: protocol, URL: url, Token: token}
}

// buildFolder is where programs are built that are not there yet. TestMain makes and removes it.
var buildFolder string

var programs = sync.OnceValues(func() (hermes string, err error) {
	for _, pkg := range []string{"tools/hermes-agent", "tools/hermes"} {
		if hermes, err = gobuild.Program(buildFolder, pkg); err != nil {
			return "", err
		}
	}
	return hermes, nil
})

// build returns hermes, beside which there is hermes-agent.
func build(t *testing.T) string {
	t.Helper()
	hermes, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return hermes
}

// realTempDir has no symbolic link in its path, so that agents and Neovim use the
// same names for its files.
func realTempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
