package matrix

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

func TestAnAgentIsRead(t *testing.T) {
	t.Parallel()
	got, err := parse("agents.toml", []byte(`
# Two versions.
[[agent]]
name = "Agent 1.0"
command = ["agent", "--acp", # over stdin and stdout
  "-v"]
version = ["agent", "--version"]
env = { KEY = "k", OTHER = "" }
timeout = "90s"
total = "10m"
profile = "spec"
auth-method = "key"
prompts = ["one", "two"]
without = ["permission-allow", "permission-reject"]
permission-prompt = "ask"
cancel-prompt = "count"

[[agent]]
command = ["b"]
name = "b"
[agent.env]
KEY = "other"
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[1].Name != "b" || !slices.Equal(got[1].Env, []string{"KEY=other"}) {
		t.Fatalf("%+v", got)
	}
	a := *got[0]
	a.key = got[1].key
	want := Agent{
		Name: "Agent 1.0", Command: []string{"agent", "--acp", "-v"}, Version: []string{"agent", "--version"}, Env: []string{"KEY=k", "OTHER="},
		Timeout: 90 * time.Second, Total: 10 * time.Minute, Profile: lint.Spec, AuthMethod: "key", Prompts: []string{"one", "two"}, Without: []string{"permission-allow", "permission-reject"}, Asking: "ask", Busy: "count", key: a.key,
	}
	if !reflect.DeepEqual(a, want) || a.File() != "Agent-1.0" {
		t.Errorf("%+v, want %+v", a, want)
	}
}

func TestAMistakeIsNamedWithItsLineAndKey(t *testing.T) {
	t.Parallel()
	const agent = "[[agent]]\nname = \"a\"\ncommand = [\"a\"]\n"
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "# none\n", "agents.toml: there is no agent"},
		{"no TOML", "[[agent]]\nname \"a\"\n", "agents.toml:2: "},
		{"one bracket", "[agent]\n", "agents.toml:1: agent: each agent begins with [[agent]], in two brackets"},
		{"a table that is not known", agent + "[other]\n", "agents.toml:4: other: no such table: want [[agent]]"},
		{"a table of an agent that is not known", agent + "[agent.secrets]\n", "agents.toml:4: agent.secrets: no such table"},
		{"a key that is not known", agent + "comand = [\"b\"]\n", "agents.toml:4: agent.comand: no such key: want auth-method, cancel-prompt, command, env, name, "},
		{"a key outside of an agent", "name = \"a\"\n", "agents.toml:1: name: no such key: want [[agent]]"},
		{"a key below another", agent + "name.first = \"a\"\n", "agents.toml:4: agent.name.first: no such key"},
		{"a key twice", agent + "name = \"b\"\n", "agents.toml:4: agent.name: it is set twice"},
		{"no name", "[[agent]]\ncommand = [\"a\"]\n", "agents.toml:1: agent.name: missing"},
		{"an empty name", "[[agent]]\nname = \"\"\n", "agents.toml:2: agent.name: want 1 to 80 characters"},
		{"a name that cannot be seen", "[[agent]]\nname = \"a\\u202e\"\n", "agents.toml:2: agent.name: want 1 to 80 characters"},
		{"no command", agent + "[[agent]]\nname = \"b\"\n", "agents.toml:4: agent.command: missing"},
		{"a command for a shell", "[[agent]]\ncommand = \"a --acp\"\n", "agents.toml:2: agent.command: want a list of texts in quotes"},
		{"an empty command", "[[agent]]\ncommand = []\n", "agents.toml:2: agent.command: want a program"},
		{"an argument that is a number", "[[agent]]\ncommand = [\"a\", 1]\n", "agents.toml:2: agent.command: want a list of texts in quotes"},
		{"an argument with a zero", "[[agent]]\ncommand = [\"a\", \"\\u0000\"]\n", "agents.toml:2: agent.command: an argument cannot"},
		{"the same name", agent + "[[agent]]\nname = \"A\"\ncommand = [\"b\"]\n", `agents.toml:4: agent.name: "a" and "A" would share their reports`},
		{"no time", agent + "timeout = \"soon\"\n", `agents.toml:4: agent.timeout: "soon" is not a time`},
		{"a time in the past", agent + "total = \"-1s\"\n", `agents.toml:4: agent.total: "-1s" is not a time`},
		{"a profile that is not known", agent + "profile = \"loose\"\n", `agents.toml:4: agent.profile: profile "loose": want spec, recommended or strict`},
		{"a variable that is a number", agent + "env = { A = 1 }\n", "agents.toml:4: agent.env.A: want text in quotes"},
		{"variables that are text", agent + "env = \"A=1\"\n", "agents.toml:4: agent.env: want a table of variables"},
		{"a variable with an equals sign", agent + "env = { \"A=\" = \"1\" }\n", "agents.toml:4: agent.env.A=: want a table of variables"},
	} {
		_, err := parse("agents.toml", []byte(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}
