package sinks

import (
	"errors"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxKnot is how many files of a Go package may need each other. Those can only be read, and
// changed, together.
const maxKnot = 8

// TestFewFilesOfAPackageNeedEachOther is about the packages of the plugin, where everything meets.
func TestFewFilesOfAPackageNeedEachOther(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob("../../plugin/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		for _, group := range circles(needsOfFiles(t, dir)) {
			slices.Sort(group)
			if len(group) > maxKnot {
				t.Errorf("%s: %d files need each other, at most %d may: %s", dir, len(group), maxKnot, strings.Join(group, " "))
			}
		}
	}
}

// needsOfFiles returns, for each file of a package, the others whose names it uses.
func needsOfFiles(t *testing.T, dir string) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	set := gotoken.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	// What other packages declare does not matter here.
	conf := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := conf.Check(dir, set, files, &info)
	needs := map[string][]string{}
	for _, f := range files {
		needs[filepath.Base(set.Position(f.Pos()).Filename)] = nil
	}
	for name, object := range info.Uses {
		if object.Pkg() != pkg || !object.Pos().IsValid() {
			continue
		}
		if v, ok := object.(*types.Var); ok && v.IsField() {
			continue // whose type is what is needed
		}
		from, to := filepath.Base(set.Position(name.Pos()).Filename), filepath.Base(set.Position(object.Pos()).Filename)
		if from != to && !slices.Contains(needs[from], to) {
			needs[from] = append(needs[from], to)
		}
	}
	return needs
}

type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) { return nil, errors.New("not needed") }
