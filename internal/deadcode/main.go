// Command deadcode fails when a function has no caller. It runs the analysis of
// golang.org/x/tools/cmd/deadcode twice:
//
//   - Code that programs link must be reachable from one of them, or from an
//     exported name of the packages below acp and runtime, which are for users,
//     or of a package that no program links, which is for tests. Programs below
//     internal are for tests too.
//   - Everything, tests included, must be reachable from a program or a test.
//
// Its argument is the analysis with its version, for go run.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	module = "github.com/hermes-nvim/hermes"
	user   = module + "/acp/user" // it may import every package for tests
)

// forTests are functions that only tests call, although programs link their
// packages.
var forTests = []string{
	"internal/jx/watch.go: Watch.Start", // counts passes over a text where they happen
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: deadcode golang.org/x/tools/cmd/deadcode@VERSION")
		os.Exit(2)
	}
	dead, err := findDead(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "deadcode:", err)
		os.Exit(1)
	}
	for _, f := range dead {
		fmt.Println(f)
	}
	if len(dead) > 0 {
		os.Exit(1)
	}
}

func findDead(analysis string) ([]string, error) {
	packages, err := list()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "hermes-deadcode-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	linked := make(map[string]bool) // or for users
	programs := []string{"."}
	for _, p := range packages {
		if p.forUsers() {
			linked[p.ImportPath] = true
		}
		if p.Name == "main" {
			linked[p.ImportPath] = true
			programs = append(programs, p.ImportPath)
			if strings.HasPrefix(p.ImportPath, module+"/internal/") {
				continue // a program for tests
			}
			for _, dep := range p.Deps {
				linked[dep] = true
			}
		}
	}
	used := slices.DeleteFunc(packages, func(p pkg) bool { return p.Name == "main" || linked[p.ImportPath] && !p.forUsers() })
	if err := writeUser(dir, used); err != nil {
		return nil, err
	}
	inPrograms, err := run(dir, analysis, func(path string) bool { return linked[path] }, programs...)
	if err != nil {
		return nil, err
	}
	inTests, err := run(".", analysis, func(string) bool { return true }, "-test", "./...")
	if err != nil {
		return nil, err
	}
	here, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	var dead []string
	excused := slices.Clone(forTests)
	for _, f := range append(inPrograms, inTests...) {
		file := strings.TrimPrefix(f.Position.File, here+"/")
		// An example without output is compiled but not run.
		if strings.HasPrefix(f.Name, "Example") && strings.HasSuffix(file, "_test.go") {
			continue
		}
		name := file + ": " + f.Name
		if slices.Contains(forTests, name) {
			excused = slices.DeleteFunc(excused, func(e string) bool { return e == name })
			continue
		}
		dead = append(dead, fmt.Sprintf("%s:%d: nothing calls %s", file, f.Position.Line, f.Name))
	}
	for _, name := range excused {
		dead = append(dead, "internal/deadcode: remove "+name+" from forTests, it has other callers or is gone")
	}
	slices.Sort(dead)
	return slices.Compact(dead), nil
}

// pkg is a package as go list describes it.
type pkg struct {
	ImportPath, Name, Dir string
	GoFiles, Deps         []string
}

// list returns the packages of the module.
func list() ([]pkg, error) {
	out, err := output(".", "go", "list", "-json=ImportPath,Name,Dir,GoFiles,Deps", "./...")
	if err != nil {
		return nil, err
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, p)
	}
}

// forUsers reports whether other modules can import the package for its API.
func (p pkg) forUsers() bool {
	top, _, _ := strings.Cut(strings.TrimPrefix(p.ImportPath, module+"/"), "/")
	return (top == "acp" || top == "runtime") && !strings.Contains(p.ImportPath, "/internal/")
}

// writeUser makes a module in dir whose program uses every exported function and
// type of the packages. A value in an interface counts as a use of all its
// exported methods.
func writeUser(dir string, packages []pkg) error {
	var imports, uses strings.Builder
	for i, p := range packages {
		names, err := p.exported()
		if err != nil {
			return err
		}
		if len(names) == 0 {
			continue
		}
		fmt.Fprintf(&imports, "\tp%d %q\n", i, p.ImportPath)
		for _, use := range names {
			fmt.Fprintf(&uses, "\t"+use+",\n", i)
		}
	}
	here, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	// The program has only the requirements of the module.
	text := strings.Replace(string(mod), "module "+module, "module "+user, 1) +
		fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %[1]s => %s\n", module, here)
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		return err
	}
	program := "package main\n\nimport (\n\t\"fmt\"\n" + imports.String() + ")\n\nfunc main() {\n\tfmt.Println(\n" + uses.String() + "\t)\n}\n"
	for name, data := range map[string]string{"go.mod": text, "go.sum": string(sum), "main.go": program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// exported returns a format of an expression for each function and type. Its
// argument is the number of the package.
func (p pkg) exported() ([]string, error) {
	var uses []string
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if types, ok := instance(d.Type.TypeParams); ok && d.Recv == nil && d.Name.IsExported() {
					uses = append(uses, "p%d."+d.Name.Name+types)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if t, ok := s.(*ast.TypeSpec); ok && t.Name.IsExported() {
						if types, ok := instance(t.TypeParams); ok {
							uses = append(uses, "new(p%d."+t.Name.Name+types+")")
						}
					}
				}
			}
		}
	}
	return uses, nil
}

// instance returns the types for one instance of a generic declaration, false if
// its parameters have other constraints than any.
func instance(params *ast.FieldList) (types string, ok bool) {
	if params.NumFields() == 0 {
		return "", true
	}
	for _, f := range params.List {
		if name, ok := f.Type.(*ast.Ident); !ok || name.Name != "any" {
			return "", false
		}
	}
	return "[" + strings.Repeat("string,", params.NumFields()) + "]", true
}

// unreachable is a function that the analysis reports.
type unreachable struct {
	Name     string
	Position struct {
		File string
		Line int
	}
}

// run returns the reports of the analysis about some packages.
func run(dir, analysis string, of func(path string) bool, args ...string) ([]unreachable, error) {
	out, err := output(dir, "go", append([]string{"run", analysis, "-json", "-filter", "^" + module + "(/|$)"}, args...)...)
	if err != nil {
		return nil, err
	}
	var packages []struct {
		Path  string
		Funcs []unreachable
	}
	if err := json.Unmarshal(out, &packages); err != nil {
		return nil, fmt.Errorf("%s: %w", analysis, err)
	}
	var all []unreachable
	for _, p := range packages {
		if of(p.Path) {
			all = append(all, p.Funcs...)
		}
	}
	return all, nil
}

func output(dir, program string, args ...string) ([]byte, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	if dir != "." {
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	}
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err)
	}
	return out, nil
}
