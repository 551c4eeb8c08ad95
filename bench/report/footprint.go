package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// client is a program of bench/footprint, built.
type client struct {
	name     string
	bytes    int64
	packages int // linked, those of the standard library included
	modules  int // besides the bindings themselves
}

func weigh(names ...string) ([]client, error) {
	dir, err := os.MkdirTemp("", "footprint")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var out []client
	for _, name := range names {
		c := client{name: name}
		pkg, bin := "./footprint/"+name, filepath.Join(dir, name)
		if _, err := goTool("build", "-trimpath", "-ldflags", "-s -w", "-o", bin, pkg); err != nil {
			return nil, err
		}
		st, err := os.Stat(bin)
		if err != nil {
			return nil, err
		}
		c.bytes = st.Size()
		deps, err := goTool("list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", pkg)
		if err != nil {
			return nil, err
		}
		modules := map[string]bool{}
		for line := range strings.Lines(deps) {
			c.packages++
			if _, module, _ := strings.Cut(strings.TrimSpace(line), " "); module != "" {
				modules[module] = true
			}
		}
		c.modules = len(modules) - 2 // the program and the bindings
		out = append(out, c)
	}
	return out, nil
}

func goTool(args ...string) (string, error) {
	var stderr strings.Builder
	cmd := exec.Command("go", args...)
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, stderr.String())
	}
	return string(b), nil
}
