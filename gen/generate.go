// Package gen turns the schemas and the overlay into every generated file of
// the project, in memory.
package gen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"github.com/hermes-nvim/hermes/gen/emit"
	"github.com/hermes-nvim/hermes/gen/emit/golang"
	"github.com/hermes-nvim/hermes/gen/emit/neovim"
	"github.com/hermes-nvim/hermes/gen/ir"
	"github.com/hermes-nvim/hermes/schema"
)

// packages are the Go packages, one for each edition.
var packages = []struct {
	edition schema.Edition
	dir     string
	value   string // name of the Protocol value
}{
	{schema.V1, "acp", "V1"},
	{schema.Unstable, "acp/unstable", "V1"},
	{schema.V2, "acp/v2", "V2"},
	{schema.V2Unstable, "acp/v2/unstable", "V2"},
}

// shared is the package with the hand-written types of all others.
const shared = "acp"

// Files generates everything for the module at root from its schema folder.
// Nothing is written. The error lists every mistake, in any file.
func Files(root string) ([]emit.Output, error) {
	return From(root, os.DirFS(filepath.Join(root, "schema")))
}

// From is Files with any schema folder, so that an update can be tried before
// it is made.
func From(root string, tree fs.FS) ([]emit.Output, error) {
	module, err := modulePath(root)
	if err != nil {
		return nil, err
	}
	o, err := readOverlay(tree)
	if err != nil {
		return nil, err
	}
	specs, err := o.lowerAll()
	if err != nil {
		return nil, err
	}
	errs := []error{o.check()}
	var out []emit.Output
	add := func(files []emit.Output, err error) {
		out, errs = append(out, files...), append(errs, err)
	}
	for _, p := range packages {
		reserved, err := declared(filepath.Join(root, filepath.FromSlash(p.dir)))
		if err != nil {
			return nil, err
		}
		channel := "stable"
		if p.edition.Unstable() {
			channel = "unstable"
		}
		add(golang.Package{
			Edition: string(p.edition), Dir: p.dir, Module: module, Shared: shared,
			Header: "from " + p.edition.File(),
			Const:  p.value, Version: p.edition.Version(), Channel: channel,
			Reserve: reserved, Calls: o.calls(), Names: o.names, Spec: specs[p.edition],
		}.Files())
		add(shapes(p.edition, specs[p.edition]))
	}
	add(codexFiles(root, module))
	add(o.lock())
	add(neovim.Files(specs[schema.V1], o.events))
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

// shapes writes one line for each definition and method, without words. Its diff
// shows what an update changes in the shape of a schema, and what a change of
// gen/ir changes in how the schema is understood.
func shapes(e schema.Edition, s *ir.Spec) ([]emit.Output, error) {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	for _, t := range s.Types {
		if err := out.Encode(t); err != nil {
			return nil, err
		}
	}
	for _, m := range s.Methods {
		if err := out.Encode(m); err != nil {
			return nil, err
		}
	}
	name := strings.ReplaceAll(string(e), "/", "-") + ".golden.json"
	return []emit.Output{{Path: "gen/ir/testdata/" + name, Data: b.Bytes()}}, nil
}

// Write writes the files below root and removes generated Go files that are not
// among them.
func Write(root string, files []emit.Output) error {
	keep := map[string]bool{}
	for _, f := range files {
		keep[f.Path] = true
	}
	dirs := []string{appServer}
	for _, p := range packages {
		dirs = append(dirs, p.dir)
	}
	for _, dir := range dirs {
		old, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*_gen*.go"))
		if err != nil {
			return err
		}
		for _, name := range old {
			if !keep[path.Join(dir, filepath.Base(name))] {
				if err := os.Remove(name); err != nil {
					return err
				}
			}
		}
	}
	for _, f := range files {
		name := filepath.Join(root, filepath.FromSlash(f.Path))
		if b, err := os.ReadFile(name); err == nil && bytes.Equal(b, f.Data) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

var moduleLine = regexp.MustCompile(`(?m)^module\s+(\S+)`)

// modulePath reads the module path, so that no generated import spells it out.
func modulePath(root string) (string, error) {
	b, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	m := moduleLine.FindSubmatch(b)
	if m == nil {
		return "", fmt.Errorf("%s: no module line", filepath.Join(root, "go.mod"))
	}
	return string(m[1]), nil
}

// declared lists the top-level names of the hand-written files of a package.
func declared(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_gen.go") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names = append(names, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						names = append(names, s.Name.Name)
					case *ast.ValueSpec:
						for _, n := range s.Names {
							if n.Name != "_" {
								names = append(names, n.Name)
							}
						}
					}
				}
			}
		}
	}
	sort.Strings(names)
	return names, nil
}

// readLock reads the Go names of the previous run. The first run has none.
func readLock(tree fs.FS) (map[string]string, error) {
	names, err := schema.ReadOverlay[map[string]string](tree, schema.NamesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}
