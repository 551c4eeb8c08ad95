package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

// asHermes makes the test binary run as the program.
const asHermes = "HERMES_TEST_AS_HERMES"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == keepCommand {
		syscall.Exit(launch.Keep(os.Args[2:])) // os.Exit takes a second with the race detector
	}
	if len(os.Args) > 1 && os.Args[1] == shimCommand {
		syscall.Exit(shim.Child(os.Args[2:]))
	}
	launcher := len(os.Args) > 2 && os.Args[1] == "confine" && os.Args[2] == "--rules" // it has the environment of an agent
	if os.Getenv(asHermes) != "" || launcher {
		main()
		os.Exit(0)
	}
	testagent.Main()
	os.Exit(m.Run())
}

// self is the program.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// hermes prepares a run of the program in a folder.
func hermes(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience.Soon) // a run is many steps
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self(t), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asHermes+"=1", "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"),
		"GITHUB_ACTIONS=", "GITHUB_STEP_SUMMARY=", "NO_COLOR=1")
	return cmd
}

// begin starts it and returns its standard streams.
func begin(t *testing.T, cmd *exec.Cmd) (in io.WriteCloser, out io.Reader) {
	t.Helper()
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, out
}

// end runs it and returns what it printed and its exit status.
func end(t *testing.T, cmd *exec.Cmd) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// demo are the arguments that run the demo agent, with the environment it needs
// to be the program here.
func demo(args ...string) []string {
	return append([]string{"run", "--env", asHermes}, args...)
}

// script writes a recording that hermes replay plays, and returns the command
// for it: a real agent process with the faults that a test needs.
func script(t *testing.T, lines ...string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--", self(t), "replay", path}
}

func fromAgent(message string) string {
	return `{"direction":"agent->client","message":{"jsonrpc":"2.0",` + message + `}}`
}

func fromClient(message string) string {
	return `{"direction":"client->agent","message":{"jsonrpc":"2.0",` + message + `}}`
}

// hello are the first lines of every script.
var hello = []string{
	fromClient(`"id":0,"method":"initialize"`),
	fromAgent(`"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"authMethods":[{"id":"k","name":"A key"}]}`),
	fromClient(`"id":1,"method":"session/new","params":{"cwd":"/w"}`),
	fromAgent(`"id":1,"result":{"sessionId":"s"}`),
	fromClient(`"id":2,"method":"session/prompt"`),
}

func readRecording(t *testing.T, path string) *trace.Recording {
	t.Helper()
	rec, err := trace.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// sdkAgent is the command of the agent on the official TypeScript SDK.
func sdkAgent(t *testing.T) []string {
	t.Helper()
	agents := os.Getenv("HERMES_AGENTS")
	if agents == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("HERMES_AGENTS is not set: run make test")
		}
		t.Skip("HERMES_AGENTS is not set: make test runs the agent on the TypeScript SDK")
	}
	script, err := filepath.Abs("../../test/agents/sdk-agent.mjs")
	if err != nil {
		t.Fatal(err)
	}
	return []string{"node", script, filepath.Join(agents, "node_modules")}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAgentsListsPresetsRegistryAndTheUsersOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "config/hermes/agents.json"), `{"mine":{"command":"my-agent"},"gemini":{"command":"/opt/gemini"}}`)
	write(t, filepath.Join(dir, "r.json"), `{"version":"1.0.0","agents":[{"id":"listed","distribution":{"npx":{"package":"p"}}},{"id":"bad","distribution":{}}]}`)
	out, errs, status := end(t, hermes(t, dir, "agents", "--registry", filepath.Join(dir, "r.json")))
	if status != 0 {
		t.Fatal(status, errs)
	}
	for _, want := range []string{"mine\tmy-agent\t\n", "gemini\t/opt/gemini\tnpm install", "listed\tnpx\t", "demo\t" + self(t) + "\t"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if !strings.Contains(errs, `agent 2 ("bad")`) {
		t.Error(errs)
	}
	write(t, filepath.Join(dir, "config/hermes/agents.json"), `{"mine":{"comand":"x"}}`)
	if _, errs, status := end(t, hermes(t, dir, "agents")); status != 1 || !strings.Contains(errs, `agents.json: json: unknown field "comand"`) {
		t.Error(status, errs)
	}
}

// The pages of docs that explain a subcommand have all of its flags.
func TestTheGuidesHaveEverySubcommandAndFlag(t *testing.T) {
	t.Parallel()
	pages := map[string]string{}
	for _, name := range []string{"cli.md", "remote.md", "lint.md", "shim.md", "codex.md", "claude.md"} {
		text, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(text)
	}
	flag, seen := regexp.MustCompile(`(?m)^  -([a-z-]+)`), 0
	for _, c := range commands {
		if cli := pages["cli.md"]; !strings.Contains(cli, "\n| `"+c.name+"`") && !strings.Contains(cli, "\n| [`"+c.name+"`]") {
			t.Errorf("cli.md does not list %s", c.name)
		}
		page := "cli.md"
		switch c.name {
		case "serve":
			page = "remote.md"
		case "lint":
			page = "lint.md"
		case "shim":
			page = "shim.md"
		case "codex-agent":
			page = "codex.md"
		case "claude-hooks":
			page = "claude.md"
		}
		help, _, _ := end(t, hermes(t, t.TempDir(), c.name, "-h"))
		if c.name == "lint" {
			for name := range lintLive {
				more, _, _ := end(t, hermes(t, t.TempDir(), "lint", name, "-h"))
				help += more
			}
		}
		for _, m := range flag.FindAllStringSubmatch(help, -1) {
			if seen++; !strings.Contains(pages[page], "--"+m[1]) {
				t.Errorf("%s does not explain hermes %s --%s", page, c.name, m[1])
			}
		}
	}
	if seen < 20 {
		t.Errorf("found %d flags, there must be more", seen)
	}
}

func TestHelpAndWrongUsageHaveTheirExitStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"run -h", 0, "usage: hermes run [flags] AGENT [PROMPT|-]"}, {"record --help", 0, "usage: hermes record"}, {"replay -h", 0, "usage: hermes replay"},
		{"serve -h", 0, "usage: hermes serve"}, {"agents -h", 0, "usage: hermes agents"}, {"host -h", 0, "usage: hermes host\n"}, {"demo-agent -h", 0, "usage: hermes demo-agent\n"},
		{"host x", 2, `unexpected argument "x"`}, {"demo-agent x", 2, `unexpected argument "x"`}, {"codex-agent -h", 0, "usage: hermes codex-agent [flags]"}, {"codex-agent x", 2, `unexpected argument "x"`}, {"codex-agent --mode x", 2, `--mode "x"`}, {"codex-agent --wrapper x", 2, `--wrapper "x"`}, {`codex-agent --wrapper ["x"]`, 2, "it is for the app-server of --shared"}, {"codex-agent --check --codex /none/codex", 1, "/none/codex"}, {"claude-hooks -h", 0, "usage: hermes claude-hooks [flags]"}, {"claude-hooks x", 2, `unexpected argument "x"`}, {"claude-hooks --fail-open", 2, "add --gate"}, {"version x", 2, `unexpected argument "x"`}, {"serve x", 2, "missing after --"},
		{"run", 2, "give the name of an agent"}, {"run nobody x", 2, `unknown agent "nobody"; known agents: auggie, claude`},
		{"run demo a b", 2, `unexpected argument "b"`}, {"run --format x demo a", 2, `--format "x"`}, {"run --approve x demo a", 2, `--approve "x"`},
		{"run --nope demo a", 2, "flag provided but not defined: -nope (hermes run -h lists the flags)"}, {"run --cwd /none demo a", 2, "--cwd: stat /none"},
		{"run --timeout -1s demo a", 2, "--timeout"}, {"run demo", 2, "the prompt is empty"}, {"run --env " + asHermes + " --mode none demo a", 2, "--mode none: the agent has "},
		{"record", 2, "the agent's command is missing after --"}, {"record x -- y", 2, "missing after --"}, {"replay", 2, "give one recording"},
		{"replay --speed fast f", 2, "--speed"}, {"replay --as me f", 2, "--as"}, {"replay --as client f", 2, "missing after --"}, {"replay none.jsonl", 1, "none.jsonl: no such file"},
	} {
		out, errs, status := end(t, hermes(t, t.TempDir(), strings.Fields(c.args)...))
		if status != c.status || !strings.Contains(out+errs, c.want) {
			t.Errorf("hermes %s: %d\n%s%s", c.args, status, out, errs)
		}
		if status != 0 && out != "" {
			t.Errorf("hermes %s printed %q besides the error", c.args, out)
		}
	}
}
