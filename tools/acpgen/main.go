// Command acpgen writes everything that is generated from the schemas.
package main

import (
	"fmt"
	"os"

	"github.com/hermes-nvim/hermes/gen/emit"
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
	return os.WriteFile("acp/acp_gen.go", b, 0o644)
}
