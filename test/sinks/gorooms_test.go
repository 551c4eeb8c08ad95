package sinks

import (
	"errors"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
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

// TestPackagesOfThePluginImportOnlyThoseBelow takes their order from the table in the design notes.
func TestPackagesOfThePluginImportOnlyThoseBelow(t *testing.T) {
	t.Parallel()
	notes, err := os.ReadFile("../../docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, m := range regexp.MustCompile("(?m)^\\| `plugin/(\\w+)`").FindAllSubmatch(notes, -1) {
		order = append(order, string(m[1]))
	}
	dirs, err := filepath.Glob("../../plugin/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range dirs {
		name := filepath.Base(filepath.Dir(path))
		at := slices.Index(order, name)
		if at < 0 {
			t.Errorf("plugin/%s is not in the table of docs/design.md", name)
			continue
		}
		f, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			_, below, ours := strings.Cut(strings.Trim(i.Path.Value, `"`), "/hermes/plugin/")
			if ours && slices.Index(order, below) >= at {
				t.Errorf("%s imports plugin/%s, which does not stand above it in the table of docs/design.md", path, below)
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
