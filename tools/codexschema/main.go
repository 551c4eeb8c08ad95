// Command codexschema pins the schema of a codex binary: it writes
// schema/codex/schema.json and schema/codex/SOURCES.json. With -report it writes
// nothing and prints what the binary would change in Go programs. Run
// go generate ./... after it.
//
//	go run ./tools/codexschema [-report] path/to/codex
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hermes-nvim/hermes/gen/compat"
	"github.com/hermes-nvim/hermes/gen/ir"
	"github.com/hermes-nvim/hermes/schema"
	"github.com/hermes-nvim/hermes/schema/codex"
)

func main() {
	report := flag.Bool("report", false, "print what the binary would change, and write nothing")
	flag.Parse()
	if err := run(flag.Arg(0), *report); err != nil {
		fmt.Fprintln(os.Stderr, "codexschema:", err)
		os.Exit(1)
	}
}

func run(binary string, report bool) error {
	if binary == "" {
		return errors.New("name the codex binary: go run ./tools/codexschema [-report] path/to/codex")
	}
	version, err := exec.Command(binary, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s --version: %w", binary, err)
	}
	bundle, err := codex.Bundle(binary)
	if err != nil {
		return err
	}
	reduced, err := codex.Reduce(bundle)
	if err != nil {
		return err
	}
	n, err := schema.ParseNode(bytes.NewReader(reduced))
	if err != nil {
		return err
	}
	text := n.Format()
	words := strings.Fields(string(version))
	source := codex.Source{Package: "@openai/codex", Version: words[len(words)-1], License: "Apache-2.0", Author: "OpenAI",
		Origin: "codex app-server generate-json-schema", Original: schema.Sum(bundle), Reduced: schema.Sum(text)}
	if report {
		return compare(source.Version, text)
	}
	record, err := json.MarshalIndent(source, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Join("schema", "codex")
	if err := os.WriteFile(filepath.Join(dir, "schema.json"), text, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "SOURCES.json"), append(record, '\n'), 0o644)
}

// compare prints the differences between the pinned schema and another.
func compare(version string, text []byte) error {
	pinned, err := codex.Pinned()
	if err != nil {
		return err
	}
	old, err := lower("schema/codex/schema.json", codex.Schema)
	if err != nil {
		return err
	}
	next, err := lower("codex "+version, text)
	if err != nil {
		return err
	}
	changes := compat.Compare(old, next)
	compat.Sort(changes)
	_, err = os.Stdout.Write(compat.Markdown(pinned.Version, version, []compat.Section{{Title: "Codex app-server", Changes: changes}}))
	return err
}

func lower(name string, text []byte) (*ir.Spec, error) {
	d, err := schema.Parse(name, text)
	if err != nil {
		return nil, err
	}
	return ir.Lower(d, ir.Overlay{})
}
