package docs

import (
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// maxPublic is how many packages beside those of acp promise not to change.
const maxPublic = 26

// onlyForHermes is public because packages of other folders use it; its comment says so.
const onlyForHermes = "acp.Read"

const thisModule = "github.com/hermes-nvim/hermes/"

// What the guide does not teach is not public: nobody would find it, and it could never change.
func TestThePublicPackagesAreThoseThatTheGuideTeaches(t *testing.T) {
	t.Parallel()
	guide, _, ok := strings.Cut(read(t, "go.md"), "\n## ")
	if !ok {
		t.Fatal("go.md has no headings")
	}
	count := 0
	for name := range publicPackages(t) {
		if !strings.Contains(guide, "](../"+name+")") {
			t.Errorf("%s is public, but the table of go.md does not have it", name)
		}
		if strings.HasPrefix(name, "runtime/") {
			count++
		}
	}
	if count > maxPublic {
		t.Errorf("%d packages of runtime/ are public, at most %d may be", count, maxPublic)
	}
	if count < 10 {
		t.Errorf("found %d public packages, there must be more", count)
	}
}

// Who cannot name a type can hold no value of it in a variable of its own, and pass none to a
// function of its own.
func TestEveryTypeOfAPublicPackageCanBeNamed(t *testing.T) {
	t.Parallel()
	public := publicPackages(t)
	named := map[*types.TypeName]bool{} // types of internal packages that a public one gives a name
	for _, pkg := range public {
		for _, name := range pkg.Scope().Names() {
			if o, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && o.Exported() && o.IsAlias() {
				if n, ok := types.Unalias(o.Type()).(*types.Named); ok {
					named[n.Obj()] = true
				}
			}
		}
	}
	excused := false
	for name, pkg := range public {
		for _, unnamed := range unnamedIn(pkg, named) {
			if strings.HasPrefix(name+"."+unnamed, onlyForHermes+" ") {
				excused = true
				continue
			}
			t.Errorf("%s.%s, which other modules cannot name", name, unnamed)
		}
	}
	if !excused {
		t.Errorf("%s needs no excuse any more", onlyForHermes)
	}
}

// unnamedIn lists the exported names of a package whose types have a part that only an internal
// package names.
func unnamedIn(pkg *types.Package, named map[*types.TypeName]bool) []string {
	var out []string
	var where string
	var walk func(typ types.Type, seen []types.Type)
	walk = func(typ types.Type, seen []types.Type) {
		if slices.Contains(seen, typ) {
			return
		}
		seen = append(seen, typ)
		switch typ := typ.(type) {
		case *types.Named:
			o := typ.Obj()
			if o.Pkg() != nil && strings.Contains(o.Pkg().Path(), "/internal/") && strings.HasPrefix(o.Pkg().Path(), thisModule) && !named[o] {
				out = append(out, where+" has "+strings.TrimPrefix(o.Pkg().Path(), thisModule)+"."+o.Name())
			}
			for arg := range typ.TypeArgs().Types() {
				walk(arg, seen)
			}
		case *types.Alias:
			walk(types.Unalias(typ), seen)
		case *types.Pointer:
			walk(typ.Elem(), seen)
		case *types.Slice:
			walk(typ.Elem(), seen)
		case *types.Array:
			walk(typ.Elem(), seen)
		case *types.Chan:
			walk(typ.Elem(), seen)
		case *types.Map:
			walk(typ.Key(), seen)
			walk(typ.Elem(), seen)
		case *types.Signature:
			for v := range typ.Params().Variables() {
				walk(v.Type(), seen)
			}
			for v := range typ.Results().Variables() {
				walk(v.Type(), seen)
			}
		case *types.Struct:
			for f := range typ.Fields() {
				if f.Exported() {
					walk(f.Type(), seen)
				}
			}
		case *types.Interface:
			for m := range typ.Methods() {
				if m.Exported() {
					walk(m.Type(), seen)
				}
			}
		}
	}
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		where = name
		typ, ok := o.Type().(*types.Named)
		if _, isType := o.(*types.TypeName); !isType || !ok {
			walk(o.Type(), nil)
			continue
		}
		walk(typ.Underlying(), nil)
		for m := range typ.Methods() {
			if m.Exported() {
				where = name + "." + m.Name()
				walk(m.Type(), nil)
			}
		}
	}
	return out
}

// publicPackages returns what other modules may import of acp/ and runtime/, by its folder.
func publicPackages(t *testing.T) map[string]*types.Package {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./acp/...", "./runtime/...")
	list.Dir = ".."
	text, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	export := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			export[name] = file
		}
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })
	found := map[string]*types.Package{}
	for path := range export {
		name, ours := strings.CutPrefix(path, thisModule)
		if !ours || strings.Contains("/"+name+"/", "/internal/") || !strings.HasPrefix(name, "acp") && !strings.HasPrefix(name, "runtime/") {
			continue
		}
		if found[name], err = imports.Import(path); err != nil {
			t.Fatal(err)
		}
	}
	return found
}
