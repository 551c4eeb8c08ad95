package main

import (
	"context"
	"fmt"
	"io"

	"github.com/hermes-nvim/hermes/plugin"
)

// agents lists the agents that are known by name: name, program and how to
// install it, separated by tabs.
func agents(_ context.Context, _ []string, _ io.Reader, out io.WriteCloser) error {
	for _, p := range plugin.Presets() {
		if _, err := fmt.Fprintf(out, "%s\t%s\t%s\n", p.Name, p.Program, p.Install); err != nil {
			return err
		}
	}
	return nil
}
