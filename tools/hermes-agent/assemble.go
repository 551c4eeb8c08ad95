package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/agent"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/approval"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/config"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/loop"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/skill"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/store"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

// program is the agent that the settings describe.
type program struct {
	config.Config
	home   string // of the user
	skills *skill.Index
	tools  *tool.Set
	client *endpoint
	log    *slog.Logger
}

// assemble reads the settings. With the error config.ErrNoModel there is a program, too,
// whose model works once the settings name one.
func assemble(std stdio) (*program, error) {
	c, noModel := config.Load(os.Getenv)
	if noModel != nil && !lacksModel(noModel) {
		return nil, noModel
	}
	p := &program{Config: c, client: &endpoint{}, log: slog.New(slog.NewTextHandler(std.err, nil))}
	var err error
	if p.home, err = os.UserHomeDir(); err != nil {
		return nil, err
	}
	p.skills = loadSkills(c)
	for _, fault := range p.skills.Faults() {
		p.log.Warn("a skill is left out", "error", fault)
	}
	if p.tools, err = tool.NewSet(allTools(p.skills), nil, c.Toolsets...); err != nil {
		return nil, fmt.Errorf("toolsets: %w", err)
	}
	return p, noModel
}

func loadSkills(c config.Config) *skill.Index {
	return skill.Load(append([]string{filepath.Join(c.Dir, "skills")}, c.Skills...)...)
}

func allTools(skills *skill.Index) []*tool.Tool {
	return []*tool.Tool{tool.Read(), tool.Write(), tool.Edit(), tool.Terminal(), tool.Todo(), tool.Skill(skills), tool.Process(), tool.Search()}
}

// state opens the sessions, and asks for the models of the endpoint.
func (p *program) state(ctx context.Context) (*store.Store, *agent.Models, error) {
	sessions, err := store.Open(filepath.Join(p.State, "sessions"))
	if err != nil {
		return nil, nil, err
	}
	return sessions, agent.ListModels(ctx, p.Config.Model.Name, p.client.Models, func(err error) {
		p.log.Warn("the endpoint does not list its models", "error", err)
	}), nil
}

func (p *program) options(models *agent.Models, sessions *store.Store) agent.Options {
	return agent.Options{
		Version: version, Model: p.client, Models: models, Store: sessions, Tools: p.tools, Log: p.log, Skills: p.skills, Servers: servers(p.Config),
		Limits: loop.Limits{Requests: p.Requests}, Window: p.Window, Summary: p.Config.Model.Summary,
		Approval: approval.Options{
			Home: p.home, Own: p.own(), Allowed: p.Allowed,
			Keep: func(e approval.Entry) error { return config.Allow(p.Dir, e) },
		},
		Processes: func(cwd string) process.Options {
			return process.Options{Backend: backend(p.Terminal, cwd, p.State, p.own(), time.Now()), Keeper: keeper(), Environment: p.Terminal.Environment}
		},
		Ready: func() error { return p.client.ready(models) },
	}
}

// own are the folders of settings that no command may change, besides those that are
// always below the home folder.
func (p *program) own() []string {
	list := []string{p.Dir}
	if dir, err := os.UserConfigDir(); err == nil {
		list = append(list, filepath.Join(dir, "hermes"))
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		list = append(list, filepath.Join(dir, "nvim", "hermes"))
	}
	return list
}

// backend is where the commands of a session in a folder run. They may not change what is our
// own, nor the state of the agent. since is when the session began.
func backend(t config.Terminal, cwd, state string, own []string, since time.Time) process.Backend {
	switch t.Backend {
	case "auto", "sandbox":
		self, err := os.Executable()
		if err != nil || runtime.GOOS == "linux" {
			self = "/proc/self/exe"
		}
		s := &process.Sandbox{Launcher: []string{self, sandboxCommand}, Net: confine.Net{All: t.Network}, State: filepath.Join(state, "commands"), Deny: own, Since: since}
		if runtime.GOOS == "linux" {
			s.Supervisor = []string{self, superviseCommand}
		}
		if t.Backend == "auto" {
			return process.Auto{Sandbox: s, Dir: cwd}
		}
		return s
	case "docker", "podman":
		return process.NewContainer(t.Backend, t.Image, cwd, t.Options, keeper())
	case "ssh":
		return process.SSH{Host: t.Host, Dir: t.Dir, Options: t.Options}
	}
	return process.Local{}
}

// Subcommands that are never called by hand.
const (
	keepCommand       = "keep"
	sandboxCommand    = "sandbox"
	superviseCommand  = "supervise"
	supervisedCommand = "supervised" // the processes of a supervisor
)

// keeper is the command line of this program as a keeper of processes, which ends them
// with the agent.
func keeper() []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	return []string{"/proc/self/exe", keepCommand}
}

// sandbox confines this process by the rules in its first argument and becomes the command
// after the second. It returns only if that fails.
func sandbox(args []string) error {
	if len(args) < 3 {
		return errors.New("sandbox: rules, -- and a command are needed")
	}
	var rules confine.Rules
	if err := json.Unmarshal([]byte(args[0]), &rules); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	path, err := exec.LookPath(args[2])
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return fmt.Errorf("sandbox: %w", confine.Exec(rules, path, args[2:], os.Environ()))
}
