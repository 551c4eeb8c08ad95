// Tsoracle compares the Go bindings with the TypeScript SDK: it makes mutants of
// valid values of every definition, decodes them with both, and prints the classes
// of cases that the two judge or encode differently. It is a tool for developers;
// nothing else depends on it. See docs/fidelity.md.
package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

//go:embed compare.mjs
var compare string

func main() {
	n := flag.Int("n", 50, "mutants of each definition")
	agents := flag.String("agents", os.Getenv("HERMES_AGENTS"), "folder whose node_modules has the TypeScript SDK (scripts/agents prints it)")
	flag.Parse()
	if err := run(*n, *agents, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tsoracle:", err)
		os.Exit(1)
	}
}

// packages are the generated ones, from the root of the module.
var packages = []string{"./acp", "./acp/unstable", "./acp/v2", "./acp/v2/unstable"}

func run(n int, agents string, out io.Writer) error {
	if agents == "" {
		return errors.New("set HERMES_AGENTS or -agents to the folder that scripts/agents prints")
	}
	sdk := filepath.Join(agents, "node_modules", "@agentclientprotocol", "sdk")
	if _, err := os.Stat(sdk); err != nil {
		return fmt.Errorf("no TypeScript SDK: %w", err)
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	dir, err := os.MkdirTemp("", "tsoracle")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	test := exec.Command("go", append([]string{"test", "-count=1", "-run", "^TestPackage$/^MutantsAgreeWithTheValidator$"}, packages...)...)
	test.Dir = strings.TrimSpace(string(root))
	test.Env = append(os.Environ(), "HERMES_MUTANTS="+strconv.Itoa(n), "HERMES_MUTANTS_OUT="+dir)
	if text, err := test.CombinedOutput(); err != nil {
		return fmt.Errorf("make mutants: %w\n%s", err, text)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) != len(packages) {
		return fmt.Errorf("%d files of mutants, want %d: %v", len(files), len(packages), err)
	}
	script := filepath.Join(dir, "compare.mjs")
	if err := os.WriteFile(script, []byte(compare), 0o600); err != nil {
		return err
	}
	node := exec.Command("node", append([]string{script, sdk}, files...)...)
	node.Stdout, node.Stderr = out, os.Stderr
	if err := node.Run(); err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	return nil
}
