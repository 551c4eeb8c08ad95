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

// Files generates everything for the module at root. Nothing is written.
func Files(root string) ([]emit.Output, error) {
	o, err := readOverlay(root)
	if err != nil {
		return nil, err
	}
	module, err := modulePath(root)
	if err != nil {
		return nil, err
	}
	specs, err := o.lowerAll()
	if err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	var out []emit.Output
	for _, p := range packages {
		reserved, err := declared(filepath.Join(root, filepath.FromSlash(p.dir)))
		if err != nil {
			return nil, err
		}
		channel := "stable"
		if p.edition.Unstable() {
			channel = "unstable"
		}
		files, err := golang.Package{
			Edition: string(p.edition), Dir: p.dir, Module: module, Shared: shared,
			Header: fmt.Sprintf("from %s (sha256 %s)", p.edition.File(), schema.Sum(p.edition.Bytes())),
			Const:  p.value, Version: p.edition.Version(), Channel: channel,
			Reserve: reserved, Calls: o.calls(), Names: o.names, Spec: specs[p.edition],
		}.Files()
		if err != nil {
			return nil, err
		}
		out = append(out, files...)
	}
	lock, err := o.lock()
	if err != nil {
		return nil, err
	}
	out = append(out, lock)
	editor, err := editorFiles(specs[schema.V1])
	if err != nil {
		return nil, err
	}
	return append(out, editor...), nil
}

// editorFiles makes what Neovim needs: event table, types, API, documentation.
func editorFiles(s *ir.Spec) ([]emit.Output, error) {
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

// Write writes the files below root and removes generated Go files that are not
// among them.
func Write(root string, files []emit.Output) error {
	keep := map[string]bool{}
	for _, f := range files {
		keep[f.Path] = true
	}
	for _, p := range packages {
		old, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(p.dir), "*_gen*.go"))
		if err != nil {
			return err
		}
		for _, name := range old {
			if !keep[path.Join(p.dir, filepath.Base(name))] {
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

// lockFile is read from the module that is generated, not from the program.
func readLock(root string) (map[string]string, error) {
	b, err := os.ReadFile(filepath.Join(root, "schema", filepath.FromSlash(schema.NamesFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var m map[string]string
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("schema/%s: %w", schema.NamesFile, err)
	}
	return m, nil
}
