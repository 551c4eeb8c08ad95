package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hermes-nvim/hermes/internal/preset"
)

// agents lists the agents known by name: name, program, how to install it, and for
// one with two ways to start which is taken and why, separated by tabs.
func agents(ctx context.Context, args []string, std *stdio) error {
	flags := newFlags("agents", "[--registry FILE|URL]", std.out)
	registry := flags.String("registry", "", registryUsage)
	if rest, err := flags.parse(args); err != nil {
		return err
	} else if len(rest) > 0 {
		return usageError("unexpected argument %q", rest[0])
	}
	set, err := knownAgents(ctx, std, *registry)
	if err != nil {
		return err
	}
	for _, name := range set.Names() {
		p, err := set.Find(name)
		if err != nil {
			return err
		}
		line := oneLine(p.Name) + "\t" + oneLine(p.Program()) + "\t" + oneLine(p.Install)
		if why := p.Choice(); why != "" {
			line += "\t" + oneLine(why)
		}
		if _, err := fmt.Fprintln(std.out, line); err != nil {
			return err
		}
	}
	return nil
}

const registryUsage = "also know the agents of an ACP registry, a file or an https `URL` (" + preset.RegistryURL + ")"

// knownAgents returns the presets. If a registry is named, its presets are added.
// Those of the user, agents.json in the folder hermes of the user's configuration,
// override them.
func knownAgents(ctx context.Context, std *stdio, registry string) (*preset.Set, error) {
	set := preset.Builtin()
	if registry != "" {
		more, skipped, err := preset.LoadRegistry(ctx, registry)
		if err != nil {
			return nil, err
		}
		for _, s := range skipped {
			fmt.Fprintf(std.err, "hermes: %s\n", oneLine(s.Error()))
		}
		set = set.With(more)
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return set, nil // without a home there is no file
	}
	mine, err := preset.ReadFile(filepath.Join(dir, "hermes", "agents.json"))
	if err != nil {
		return nil, err
	}
	return set.With(mine), nil
}
