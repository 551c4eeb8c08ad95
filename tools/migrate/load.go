package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"io"
	"os"
	"os/exec"
	"strings"
)

// listed is a package as go list describes it.
type listed struct {
	Dir, ImportPath, Name, Export string
	DepOnly                       bool
	GoFiles, CgoFiles             []string
	ImportMap                     map[string]string
	Error                         *struct{ Err string }
	DepsErrors                    []struct{ Err string }
}

// mapped is the package that an import stands for.
func (p *listed) mapped(path string) string { return cmp.Or(p.ImportMap[path], path) }

// reason is why the package has no types.
func (p *listed) reason() string {
	if p.Error != nil {
		return firstLine(p.Error.Err)
	}
	for _, e := range p.DepsErrors {
		return firstLine(e.Err)
	}
	return "it does not compile"
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// goList lists the packages below dir with what they import, tests included.
func goList(dir string) ([]listed, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s: not a folder", dir)
	}
	return list(dir, "-e", "-test", "./...")
}

func list(dir string, args ...string) ([]listed, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-export",
		"-json=Dir,ImportPath,Name,Export,DepOnly,GoFiles,CgoFiles,ImportMap,Error,DepsErrors"}, args...)...)
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	var all []listed
	d := json.NewDecoder(bytes.NewReader(out))
	for {
		var p listed
		if end := d.Decode(&p); errors.Is(end, io.EOF) {
			break
		} else if end != nil {
			return nil, fmt.Errorf("%s: go list: %w", dir, end)
		}
		all = append(all, p)
	}
	if err != nil && len(all) == 0 {
		return nil, fmt.Errorf("%s: go list: %w: %s", dir, err, firstLine(said.String()))
	}
	return all, nil
}

// hermesPackages loads the packages of this module that have the types of messages.
func hermesPackages(dir string) ([]hermesPackage, error) {
	paths := []string{module + "/acp", module + "/acp/unstable"}
	all, err := list(dir, paths...)
	if err != nil {
		return nil, err
	}
	export := map[string]string{}
	for _, p := range all {
		export[p.ImportPath] = p.Export
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })
	var packages []hermesPackage
	for _, path := range paths {
		p, err := imports.Import(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		packages = append(packages, hermesPackage{p.Name(), p.Scope()})
	}
	return packages, nil
}
