package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// client is a program of bench/footprint, built.
type client struct {
	name     string
	bytes    int64
	packages int // linked, those of the standard library included
	modules  int // besides the bindings themselves

	compiled time.Duration // processor time of compiling and linking; see compile
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

// compile measures how long each client takes to build once the standard library is
// there.
func compile(clients []client) error {
	cache, err := os.MkdirTemp("", "compile")
	if err != nil {
		return err
	}
	defer os.RemoveAll(cache)
	for i, c := range clients {
		pkg := "./footprint/" + c.name
		std, err := goTool("list", "-deps", "-f", "{{if .Standard}}{{.ImportPath}}{{end}}", pkg)
		if err != nil {
			return err
		}
		args := append([]string{"build", "-trimpath"}, strings.Fields(std)...)
		if _, err := runGo(append(os.Environ(), "GOCACHE="+cache), args...); err != nil {
			return err
		}
		cmd, err := runGo(append(os.Environ(), "GOCACHE="+cache), "build", "-trimpath", "-o", filepath.Join(cache, "client"), pkg)
		if err != nil {
			return err
		}
		clients[i].compiled = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return nil
}

func goTool(args ...string) (string, error) {
	cmd, err := runGo(os.Environ(), args...)
	if err != nil {
		return "", err
	}
	return cmd.Stdout.(*strings.Builder).String(), nil
}

// runGo runs the go command.
func runGo(env []string, args ...string) (*exec.Cmd, error) {
	var stdout, stderr strings.Builder
	cmd := exec.Command("go", args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, stderr.String())
	}
	return cmd, nil
}
