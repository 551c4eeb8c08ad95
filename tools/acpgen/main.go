// Command acpgen writes everything that is generated from the schemas.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hermes-nvim/hermes/gen/emit"
	"github.com/hermes-nvim/hermes/gen/emit/neovim"
	"github.com/hermes-nvim/hermes/gen/ir"
	"github.com/hermes-nvim/hermes/schema"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "acpgen:", err)
		os.Exit(1)
	}
}

func run() error {
	d, err := schema.Load(schema.V1)
	if err != nil {
		return err
	}
	patches, err := schema.ReadPatches(schema.Tree)
	if err != nil {
		return err
	}
	p := ir.Patches(patches.Of(schema.V1))
	s, err := ir.Lower(d, p)
	if err != nil {
		return err
	}
	b, err := emit.Package("acp", s)
	if err != nil {
		return err
	}
	if err := os.WriteFile("acp/acp_gen.go", b, 0o644); err != nil {
		return err
	}
	files, err := editor(s)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(f.Path, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// editor makes what Neovim needs: event table, types, API and documentation.
func editor(s *ir.Spec) ([]emit.Output, error) {
	rows, err := schema.ReadOverlay[neovim.EventRows](schema.Tree, schema.EventsFile)
	if err != nil {
		return nil, err
	}
	docs, err := schema.ReadDocs(schema.Tree)
	if err != nil {
		return nil, err
	}
	return neovim.Files(s, docs.For(schema.V1), rows)
}
