// Package config says which model the agent talks to, what it may do and where it keeps
// its sessions: config.yaml for settings, .env for secrets, and the environment, which
// wins over both.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/approval"
)

// Version is the version of the settings. A file of an older version is completed by
// Migrate.
const Version = 1

// Config is the settings of the agent.
type Config struct {
	Dir   string `yaml:"-"` // of config.yaml, .env and the skills
	State string `yaml:"-"` // the folder of what is kept
	Key   string `yaml:"-"` // of the endpoint; empty: none is sent

	Version  int              `yaml:"version"`
	Model    Model            `yaml:"model"`
	Models   map[string]Named `yaml:"models"`
	Toolsets []string         `yaml:"toolsets"`
	Requests int              `yaml:"max_requests"` // to the model in one turn
	Terminal Terminal         `yaml:"terminal"`
	Skills   []string         `yaml:"skills"`            // more folders of skills
	Allowed  []approval.Entry `yaml:"command_allowlist"` // dangerous commands that are not asked about

	Servers map[string]Server `yaml:"mcp_servers"`
}

// Model is the endpoint and the model there.
type Model struct {
	Headers map[string]string `yaml:"headers"` // of each request, besides the header with the key

	BaseURL string `yaml:"base_url"` // such as http://127.0.0.1:8080/v1
	Name    string `yaml:"name"`     // empty: the first one of the endpoint
	Context int    `yaml:"context"`  // the context window in tokens; 0: what the endpoint says

	Parameters map[string]any `yaml:"parameters"` // of each request
	Summary    string         `yaml:"summary"`    // the model that writes summaries; empty: the session's
	Fallback   string         `yaml:"fallback"`   // the model that answers when another one fails; empty: none
}

// Named is a model with settings of its own.
type Named struct {
	Name       string         `yaml:"name"`       // at the endpoint; empty: the same
	Context    int            `yaml:"context"`    // the context window in tokens; 0: what the endpoint says
	Parameters map[string]any `yaml:"parameters"` // win over the parameters of all models
}

// Named returns the name of a model at the endpoint, and the parameters of its requests.
func (c Config) Named(name string) (string, map[string]any) {
	own := c.Models[name]
	parameters := maps.Clone(c.Model.Parameters)
	if parameters == nil {
		parameters = map[string]any{}
	}
	maps.Copy(parameters, own.Parameters)
	return cmp.Or(own.Name, name), parameters
}

// Window returns the size that the settings give to the context window of a model, 0 if they
// do not.
func (c Config) Window(name string) int { return cmp.Or(c.Models[name].Context, c.Model.Context) }

// Terminal says where commands run.
type Terminal struct {
	Backend string   `yaml:"backend"` // one of Backends
	Image   string   `yaml:"image"`   // of docker and podman
	Host    string   `yaml:"host"`    // of ssh
	Dir     string   `yaml:"dir"`     // on the host of ssh
	Options []string `yaml:"options"` // further arguments of docker, podman or ssh
	Network bool     `yaml:"network"` // whether commands in the sandbox reach the network without a question
	// Environment names variables that commands get besides the harmless ones.
	Environment []string `yaml:"environment"`
}

// Backends are the places where commands can run. The first one means the terminals of the
// client, if it has any.
var Backends = []string{"auto", "local", "sandbox", "docker", "podman", "ssh"}

// Template is the file that a new user gets, and the default of each setting.
const Template = `# Settings of hermes-agent. Keys and other secrets belong into .env beside this file.
version: 1

model:
  # An OpenAI-compatible endpoint. OPENAI_BASE_URL counts more.
  base_url: ""
  # Further headers of each request, such as {X-Team: blue} for a gateway. ${NAME} is a
  # variable of the environment or of .env, which is the place for secrets.
  headers: {}
  # Empty: the first model of the endpoint. OPENAI_MODEL counts more.
  name: ""
  # The context window in tokens. 0: what the endpoint says, if it does.
  context: 0
  # Further members of each request: {temperature: 0.2, max_tokens: 8192, reasoning_effort: high},
  # or what only your endpoint knows, such as {provider: {order: [groq]}} of OpenRouter.
  parameters: {}
  # A cheaper model that writes the summaries of long conversations.
  summary: ""
  # The model that answers when another one fails.
  fallback: ""

# Models with settings of their own, by the names that you choose:
# {deep: {name: qwen3-235b, context: 131072, parameters: {temperature: 0.6, top_p: 0.95}}}
models: {}

# Groups of tools: core, skills, process, search.
toolsets: [core, skills]

# How often the model may be asked in one turn.
max_requests: 60

terminal:
  # auto, local, sandbox, docker, podman or ssh. auto is sandbox where the system can ask what
  # commands reach, and local otherwise.
  backend: auto
  # The image of docker and podman.
  image: ""
  # The machine of ssh, and the folder there.
  host: ""
  dir: ""
  # Further arguments of docker, podman or ssh.
  options: []
  # Whether commands in the sandbox reach the network without a question.
  network: false
  # Further variables of the environment that commands get, such as [SSH_AUTH_SOCK, "AWS_*"].
  # Whatever a command gets, the model can read.
  environment: []

# More folders of skills, besides skills beside this file.
skills: []

# What runs without a question: a command, or the command with the folder, or a rule:
# {command: rm -rf build, dir: /home/me/project} or {rule: git-discard}. Or what commands in
# the sandbox reach: {effect: ~/.cache/} or {effect: "proxy.golang.org:443"}.
command_allowlist: []

# MCP servers, by the names that you choose: programs such as
# {files: {command: npx, args: [-y, "@modelcontextprotocol/server-filesystem", .], env: {A: b}}}
# or addresses such as {web: {url: "https://example.com/mcp", headers: {Authorization: "Bearer ${WEB_TOKEN}"}}}.
# type: sse is for an old server. allow names tools that run without a question, such as
# [search, "get_*"]; without a user only these run. enabled: false leaves a server out.
mcp_servers: {}
`

// Variables are the variables of the environment and of .env that win over the
// settings.
var Variables = []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENAI_MODEL", "HERMES_AGENT_BACKEND"}

const openRouter = "https://openrouter.ai/api/v1"

// Load reads the settings. get is os.Getenv.
func Load(get func(string) string) (Config, error) {
	dir, err := Dir(get)
	if err != nil {
		return Config{}, err
	}
	for _, name := range []string{dir, filepath.Join(dir, fileName)} {
		// They say which commands run without a question.
		if info, err := os.Stat(name); err == nil && info.Mode().Perm()&0o002 != 0 && runtime.GOOS != "windows" {
			return Config{}, fmt.Errorf("every user of this machine can change %s: run chmod o-w %s", name, name)
		}
	}
	c, err := read(filepath.Join(dir, fileName))
	if err != nil {
		return c, err
	}
	secrets, err := readEnv(filepath.Join(dir, envName))
	if err != nil {
		return c, err
	}
	c.Dir = dir
	value := func(name string) string { return cmp.Or(get(name), secrets[name]) }
	c.Key = value("OPENAI_API_KEY")
	c.Model.BaseURL = cmp.Or(value("OPENAI_BASE_URL"), c.Model.BaseURL)
	if key := value("OPENROUTER_API_KEY"); key != "" && (strings.HasPrefix(c.Model.BaseURL, "https://openrouter.ai/") || c.Model.BaseURL == "" && c.Key == "") {
		c.Key, c.Model.BaseURL = key, cmp.Or(c.Model.BaseURL, openRouter)
	}
	for name, text := range c.Model.Headers {
		c.Model.Headers[name], _ = expand(text, value)
	}
	for name, server := range c.Servers {
		c.Servers[name] = server.resolve(value)
	}
	c.Model.Name = cmp.Or(value("OPENAI_MODEL"), c.Model.Name)
	c.Terminal.Backend = cmp.Or(value("HERMES_AGENT_BACKEND"), c.Terminal.Backend)
	if c.State, err = stateDir(get); err != nil {
		return c, err
	}
	return c, c.check()
}

// variable is a reference to one of the environment or of .env.
var variable = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

// ErrNoModel says that no endpoint is set.
var ErrNoModel = errors.New("no model")

func (c *Config) check() error {
	if c.Model.BaseURL == "" && c.Key != "" {
		c.Model.BaseURL = "https://api.openai.com/v1"
	}
	t := c.Terminal
	switch {
	case c.Model.BaseURL == "":
		return fmt.Errorf("%w: run %s setup, or set OPENAI_BASE_URL to an OpenAI-compatible endpoint such as http://127.0.0.1:8080/v1, or OPENAI_API_KEY", ErrNoModel, os.Args[0])
	case CheckEndpoint(c.Model.BaseURL) != nil:
		return fmt.Errorf("OPENAI_BASE_URL or model.base_url: %w", CheckEndpoint(c.Model.BaseURL))
	case !slices.Contains(Backends, t.Backend):
		return fmt.Errorf("terminal.backend: %q is none of %v", t.Backend, Backends)
	case (t.Backend == "docker" || t.Backend == "podman") && t.Image == "":
		return fmt.Errorf("terminal.image: %s needs an image", t.Backend)
	case t.Backend == "ssh" && t.Host == "":
		return errors.New("terminal.host: ssh needs a host")
	}
	return nil
}

// CheckEndpoint reports whether an address can be the address of an endpoint.
func CheckEndpoint(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%q is not an http address such as http://127.0.0.1:8080/v1", address)
	}
	return nil
}

// Dir is the folder of the settings: HERMES_AGENT_HOME, or where each system has them.
func Dir(get func(string) string) (string, error) {
	if dir := get("HERMES_AGENT_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	return folder(get, "XDG_CONFIG_HOME", "APPDATA", ".config")
}

// stateDir follows the habits of each system, as Hermes does.
func stateDir(get func(string) string) (string, error) {
	return folder(get, "XDG_STATE_HOME", "LOCALAPPDATA", ".local", "state")
}

func folder(get func(string) string, xdg, windows string, otherwise ...string) (string, error) {
	if dir := get(xdg); filepath.IsAbs(dir) {
		return filepath.Join(dir, "hermes-agent"), nil
	}
	if dir := get(windows); runtime.GOOS == "windows" && dir != "" {
		return filepath.Join(dir, "hermes-agent"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("folder of the agent: %w", err)
	}
	return filepath.Join(append(append([]string{home}, otherwise...), "hermes-agent")...), nil
}
