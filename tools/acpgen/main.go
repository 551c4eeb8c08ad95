// Command acpgen writes everything that is generated from the schemas: the Go
// packages of the protocol, and the event table, types and help of the plugin.
// It works on the module that the current directory belongs to.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hermes-nvim/hermes/gen"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "acpgen:", err)
		os.Exit(1)
	}
}

func run() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	files, err := gen.Files(root)
	if err != nil {
		return err
	}
	if err := gen.Write(root, files); err != nil {
		return err
	}
	specs, err := gen.Specs(root)
	if err != nil {
		return err
	}
	for _, name := range gen.Wordless(specs) {
		fmt.Fprintf(os.Stderr, "acpgen: schema/overlay/docs.json does not explain %s; its comment comes from its structure\n", name)
	}
	return nil
}

// moduleRoot is the nearest folder with a go.mod, from here upwards.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", errors.New("no go.mod here or above; run acpgen inside the module")
		}
		dir = filepath.Dir(dir)
	}
}
