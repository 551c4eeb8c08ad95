package setup

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/gobuild"
)

func TestWhoMayRunCommands(t *testing.T) {
	t.Parallel()
	script, here := filepath.Join(t.TempDir(), "far-agent"), filepath.Join(t.TempDir(), "near-agent")
	must(t, gobuild.Write(script, "#!/usr/bin/env bash\nset -e\nexec ssh host agent\n"))
	must(t, gobuild.Write(here, "#!/bin/sh\n# not by ssh\nexec node /opt/agent.js\n"))
	python, node, program := filepath.Join(t.TempDir(), "far-python"), filepath.Join(t.TempDir(), "far-node"), filepath.Join(t.TempDir(), "near-node")
	must(t, gobuild.Write(python, "#!/usr/bin/env python3\n# here\nimport os\nos.execvp('docker', ['docker', 'run', '-i', 'agent'])\n"))
	must(t, gobuild.Write(node, "#!/usr/bin/env node\n// here\nrequire('child_process').spawn('ssh', ['host', 'agent'], { stdio: 'inherit' })\n"))
	must(t, gobuild.Write(program, "#!/usr/bin/env node\nconst known = ['docker', 'ssh']\n"+strings.Repeat("work(known)\n", 1000)))
	for _, c := range []struct {
		all, own  string
		elsewhere bool
		want      RunAccess
	}{
		{"null", "null", false, RunFreely},
		{"true", "null", false, RunFreely}, {`"ask"`, "null", false, RunAsked}, {"false", "null", false, RunNever},
		{"true", `"ask"`, false, RunAsked}, {`"ask"`, "true", false, RunFreely}, {"true", "false", false, RunNever},
		{"false", "true", false, RunNever}, {"false", `"ask"`, false, RunNever},
		// Elsewhere only a setting of the agent's own does without a question.
		{"null", "null", true, RunAsked}, {"true", "null", true, RunAsked}, {`"ask"`, "null", true, RunAsked},
		{"false", "null", true, RunNever}, {"true", "true", true, RunFreely}, {`"ask"`, "true", true, RunFreely},
		{"null", "false", true, RunNever}, {"false", "true", true, RunNever},
	} {
		places := []string{`{"command":"agent"}`, `{"command":"/opt/ssh/agent"}`, `{"protocol":"stdio","command":"docker-agent"}`,
			`{"command":"npx","args":["-y","@acme/agent","--acp"]}`, `{"command":"` + here + `"}`, `{"command":"` + program + `"}`}
		if c.elsewhere {
			places = []string{`{"protocol":"socket"}`, `{"protocol":"tcp"}`, `{"protocol":"websocket"}`, `{"protocol":"http"}`,
				`{"command":"ssh"}`, `{"command":"/usr/bin/docker"}`, `{"command":"Podman.EXE"}`, `{"command":"bwrap"}`, `{"command":"autossh"}`,
				`{"command":"gcloud","args":["compute","ssh","host"]}`, `{"command":"gh","args":["codespace","ssh"]}`, `{"command":"fly"}`,
				`{"command":"env","args":["A=1","/usr/bin/ssh","host","agent"]}`, `{"command":"sh","args":["-c","exec ssh host agent"]}`,
				`{"command":"socat","args":["-","TCP:host:1"]}`, `{"command":"` + script + `"}`, `{"command":"` + python + `"}`, `{"command":"` + node + `"}`,
				`{"command":"pkexec","args":["agent"]}`, `{"command":"gosu"}`, `{"command":"lxc-attach"}`, `{"command":"runc"}`, `{"command":"env","args":["setpriv","--reuid=1","agent"]}`}
		}
		for _, place := range places {
			var conf Config
			var cmd, own Command
			must(t, json.Unmarshal([]byte(`{"permissions":{"terminal_access":`+c.all+`}}`), &conf))
			must(t, json.Unmarshal([]byte(place), &cmd))
			must(t, json.Unmarshal([]byte(`{"terminal_access":`+c.own+`}`), &own))
			agent := cmd.over(own).over(Command{})
			got := conf.Permissions.RunAccess(agent, agent.MayRunElsewhere())
			if got != c.want {
				t.Errorf("permissions %s, agent %s, %s: %q, want %q", c.all, c.own, place, got, c.want)
			}
			if offered := conf.Permissions.Capabilities(got).Terminal; offered != (c.want != RunNever) {
				t.Errorf("permissions %s, agent %s, %s: terminals offered: %v", c.all, c.own, place, offered)
			}
		}
	}
	for _, bad := range []string{"1", `"true"`, `"sometimes"`, "{}"} {
		if err := json.Unmarshal([]byte(`{"terminal_access":`+bad+`}`), new(Command)); err == nil {
			t.Errorf("terminal_access = %s is taken", bad)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
