package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/config"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/mcp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model/openai"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

// endpointTime bounds the questions to an endpoint.
const endpointTime = 20 * time.Second

// report collects what doctor finds.
type report struct {
	std    stdio
	broken int
}

func (r *report) say(err error, good string, args ...any) {
	if err != nil {
		r.broken++
		r.std.say("broken: ", "%v", err)
		return
	}
	r.std.say("good:   ", good, args...)
}

func (r *report) warn(format string, args ...any) {
	r.std.say("note:   ", format, args...)
}

// doctor looks at everything that the agent needs. It changes no setting.
func doctor(ctx context.Context, args []string, std stdio) error {
	f := flag.NewFlagSet("doctor", flag.ContinueOnError)
	f.SetOutput(std.err)
	probe := f.Bool("model", false, "make six small requests and show what the model and its endpoint can do")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("doctor: unexpected argument %q", f.Arg(0))
	}
	r := &report{std: std}
	c, err := config.Load(os.Getenv)
	r.say(err, "the settings in %s", c.Dir)
	if missing, err := config.Missing(c.Dir); err == nil && len(missing) > 0 {
		r.warn("settings that have their defaults: %s; hermes-agent config migrate adds them", strings.Join(missing, ", "))
	}
	if unknown := config.Unknown(c.Dir); unknown != nil {
		r.warn("settings without a meaning: %v", unknown)
	}
	if exposed := config.Exposed(c.Dir); len(exposed) > 0 {
		file := filepath.Join(c.Dir, "config.yaml")
		r.warn("%s holds secrets, in %s, but other users can read it: run chmod 600 %s", file, strings.Join(exposed, ", "), file)
	}
	if c.Model.BaseURL != "" {
		names, works := r.endpoint(ctx, c)
		if *probe {
			r.model(ctx, c, names)
		} else if works {
			r.warn("no turn was tried; hermes-agent doctor --model tries one")
		}
	}
	if c.State != "" {
		r.say(writable(c.State), "sessions are kept in %s", c.State)
	}
	r.backend(ctx, c.Terminal, c.State)
	r.servers(ctx, c)
	skills := loadSkills(c)
	r.say(errors.Join(skills.Faults()...), "%d skills", len(skills.List("")))
	_, err = tool.NewSet(allTools(skills), nil, c.Toolsets...)
	r.say(err, "toolsets: %s", strings.Join(c.Toolsets, ", "))
	if r.broken > 0 {
		return fmt.Errorf("doctor: %d broken", r.broken)
	}
	return nil
}

// endpoint returns the models of the endpoint, and whether it has the one of the settings.
func (r *report) endpoint(ctx context.Context, c config.Config) (names []string, works bool) {
	names, err := endpointModels(ctx, c)
	name, _ := c.Named(c.Model.Name)
	if err != nil {
		err = fmt.Errorf("the %w; start the endpoint, or name another one with %s setup", err, os.Args[0])
	} else if name != "" && !slices.Contains(names, name) {
		err = fmt.Errorf("the endpoint %s has no model %q; it has %s", c.Model.BaseURL, name, describe(names))
	}
	r.say(err, "the endpoint %s has %s", c.Model.BaseURL, describe(names))
	return names, err == nil
}

// probeTime bounds the requests to a model, which may have to be loaded first.
const probeTime = 10 * time.Minute

// model tries what a turn needs, and shows what is known of the endpoint then.
func (r *report) model(ctx context.Context, c config.Config, names []string) {
	name, _ := c.Named(c.Model.Name)
	if name == "" && len(names) > 0 {
		name = names[0]
	}
	if name == "" {
		r.say(errors.New("no model; name one with OPENAI_MODEL or model.name"), "")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	opts := options(c, profiles(c))
	opts.Retries = -1
	client := openai.New(opts)
	client.Probe(ctx, name, func(f openai.Finding) {
		text := strings.TrimSuffix(f.What+": "+f.Said, ": ")
		switch {
		case f.Good:
			r.say(nil, "%s", text)
		case f.Need:
			r.say(fmt.Errorf("%s", text), "")
		default:
			r.warn("does not work: %s", text)
		}
	})
	r.std.say("profile: ", "%s", client.Profile(name).String())
}

// servers tries each MCP server.
func (r *report) servers(ctx context.Context, c config.Config) {
	cwd, err := os.Getwd()
	if err != nil {
		r.say(err, "")
		return
	}
	for _, server := range servers(c) {
		var connection mcp.Servers
		tools, err := connection.Connect(ctx, cwd, []mcp.Server{server})
		names := make([]string, len(tools))
		for i, t := range tools {
			names[i] = t.Name
		}
		r.say(errors.Join(err, connection.Close()), "MCP server %s: %d tools: %s", server.Name(), len(tools), orDefault(strings.Join(names, ", "), "none"))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		if !c.Servers[name].On() {
			r.warn("MCP server %s is switched off: enabled is false", name)
		}
	}
}

// backend checks that commands can run where the settings say.
func (r *report) backend(ctx context.Context, t config.Terminal, state string) {
	switch t.Backend {
	case "auto":
		if runtime.GOOS != "linux" {
			r.say(nil, "commands run on this machine")
			return
		}
		auto := backend(t, "", state, nil, time.Now()).(process.Auto)
		defer auto.Close()
		switch lacks, err := auto.Lacks(ctx); {
		case err == nil && lacks == "":
			r.say(nil, "commands run in a sandbox, and what they may reach beyond their project is asked about")
		default:
			r.warn("commands run on this machine, because the sandbox does not work here: %v", cmp.Or(err, errors.New(lacks)))
		}
	case "sandbox":
		var err error
		if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
			err = errors.New("the sandbox: " + strings.Join(lacks, "; "))
		}
		r.say(err, "commands run in a sandbox")
		if s, is := backend(t, "", state, nil, time.Now()).(*process.Sandbox); is && err == nil {
			defer s.Close()
			lacks, err := s.Asks(ctx)
			if err == nil && lacks != "" {
				r.warn("what a command may reach is not asked about, and fails: %s", lacks)
			} else {
				r.say(err, "what a command may reach beyond its project is asked about")
			}
		}
	case "docker", "podman":
		ctx, cancel := context.WithTimeout(ctx, endpointTime)
		defer cancel()
		out, err := exec.CommandContext(ctx, t.Backend, "version").CombinedOutput()
		if err != nil {
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			err = fmt.Errorf("%s: %w: %s", t.Backend, err, lines[len(lines)-1])
		}
		r.say(err, "commands run in a container of %s by %s", t.Image, t.Backend)
	case "ssh":
		ctx, cancel := context.WithTimeout(ctx, endpointTime)
		defer cancel()
		err := exec.CommandContext(ctx, "ssh", slices.Concat([]string{"-o", "BatchMode=yes"}, t.Options, []string{"--", t.Host, "true"})...).Run()
		if err != nil {
			err = fmt.Errorf("ssh %s: %w", t.Host, err)
		}
		r.say(err, "commands run on %s", t.Host)
	default:
		r.say(nil, "commands run on this machine")
	}
}

// writable reports whether files can be made in a folder, or in the nearest one above it
// that exists.
func writable(dir string) error {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".hermes-agent-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// status shows what is in use, without asking anybody.
func status(_ context.Context, args []string, std stdio) error {
	if len(args) > 0 {
		return fmt.Errorf("status: unexpected argument %q", args[0])
	}
	c, err := config.Load(os.Getenv)
	if err != nil && !lacksModel(err) {
		return err
	}
	key := "none"
	if c.Key != "" {
		key = "set"
	}
	sessions, _ := filepath.Glob(filepath.Join(c.State, "sessions", "*.json"))
	for _, line := range [][2]string{
		{"version", version}, {"settings", c.Dir}, {"endpoint", orDefault(c.Model.BaseURL, "none")}, {"model", orDefault(c.Model.Name, "the first of the endpoint")},
		{"key", key}, {"toolsets", strings.Join(c.Toolsets, ", ")}, {"servers", orDefault(strings.Join(slices.Sorted(maps.Keys(c.Servers)), ", "), "none")}, {"commands", c.Terminal.Backend}, {"skills", fmt.Sprint(len(loadSkills(c).List("")))},
		{"allowed", fmt.Sprint(len(c.Allowed))}, {"sessions", fmt.Sprintf("%d in %s", len(sessions), c.State)},
	} {
		std.say(fmt.Sprintf("%-9s ", line[0]), "%s", line[1])
	}
	return nil
}
