package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/pathname"
)

// use is a place where a program uses a name of the SDK.
type use struct {
	at         token.Position
	owner      string // the type, of fields and methods
	member     string
	method     bool
	implements string // the interface whose method is declared here
}

func (u use) name() string {
	if u.owner != "" {
		return u.owner + "." + u.member
	}
	return u.member
}

func (u use) String() string {
	if u.implements != "" {
		return "method " + u.member + " of acp." + u.implements
	}
	return "acp." + u.name()
}

// findUses lists the uses below path in order. incomplete says for which packages
// there were no types, and why.
func findUses(path string) (uses []use, incomplete []string, err error) {
	list, err := goList(path)
	if err != nil {
		return nil, nil, err
	}
	export := map[string]string{}
	for _, p := range list {
		export[p.ImportPath] = p.Export
	}
	found := map[use]bool{}
	for _, p := range list {
		if p.DepOnly || p.Name == "" || strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		fset := token.NewFileSet()
		files, err := parse(fset, p)
		if err != nil {
			return nil, nil, err
		}
		if !slices.ContainsFunc(files, importsSDK) {
			continue
		}
		add := func(u use, at token.Pos) {
			if u.at = fset.Position(at); u.at.Filename != "" {
				u.at.Filename = relative(u.at.Filename)
				u.at.Offset = 0
				found[u] = true
			}
		}
		if export[p.mapped(sdk)] == "" {
			incomplete = append(incomplete, fmt.Sprintf("%s: %s has no types (%s)", p.ImportPath, sdk, p.reason()))
			for _, f := range files {
				bySyntax(f, add)
			}
			continue
		}
		imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
			file := export[p.mapped(path)]
			if file == "" {
				return nil, fmt.Errorf("%s: not built", path)
			}
			return os.Open(file)
		})
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
		config := types.Config{Importer: imports, Error: func(error) {}} // what can be typed is enough
		pkg, _ := config.Check(p.ImportPath, fset, files, info)
		byType(imports, pkg, info, add)
	}
	for u := range found {
		uses = append(uses, u)
	}
	slices.SortFunc(uses, func(a, b use) int {
		return cmp.Or(cmp.Compare(a.at.Filename, b.at.Filename), cmp.Compare(a.at.Line, b.at.Line), cmp.Compare(a.at.Column, b.at.Column), cmp.Compare(a.name(), b.name()))
	})
	return uses, incomplete, nil
}

func parse(fset *token.FileSet, p listed) ([]*ast.File, error) {
	var files []*ast.File
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if f == nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// relative shortens a path below the current folder.
func relative(path string) string {
	if dir, err := os.Getwd(); err == nil {
		if short, ok := pathname.Below(dir, path); ok {
			return short
		}
	}
	return path
}

// byType lists the uses of a package whose types are known, the methods by which its
// types implement the interfaces of the SDK included.
func byType(imports types.Importer, pkg *types.Package, info *types.Info, add func(use, token.Pos)) {
	acp, err := imports.Import(sdk)
	if err != nil || pkg == nil {
		return
	}
	owners := map[types.Object]string{}
	var interfaces []*types.TypeName
	for _, name := range acp.Scope().Names() {
		t, ok := acp.Scope().Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		switch u := t.Type().Underlying().(type) {
		case *types.Struct:
			for f := range u.Fields() {
				owners[f] = name
			}
		case *types.Interface:
			if u.NumMethods() > 0 && t.Exported() {
				interfaces = append(interfaces, t)
			}
			for m := range u.Methods() {
				owners[m] = name
			}
		}
	}
	for id, o := range info.Uses {
		if o.Pkg() == nil || o.Pkg().Path() != sdk {
			continue
		}
		switch o := o.(type) {
		case *types.PkgName:
		case *types.Var:
			add(use{owner: owners[o.Origin()], member: o.Name()}, id.Pos())
		case *types.Func:
			u := use{member: o.Name(), owner: owners[o.Origin()]}
			if recv := o.Signature().Recv(); recv != nil {
				u.method = true
				if n, ok := deref(recv.Type()).(*types.Named); ok {
					u.owner = n.Obj().Name()
				}
			}
			add(u, id.Pos())
		default:
			add(use{member: o.Name()}, id.Pos())
		}
	}
	for _, name := range pkg.Scope().Names() {
		t, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || t.IsAlias() || types.IsInterface(t.Type()) {
			continue
		}
		for _, i := range interfaces {
			if !types.Implements(types.NewPointer(t.Type()), i.Type().Underlying().(*types.Interface)) {
				continue
			}
			for m := range i.Type().Underlying().(*types.Interface).Methods() {
				if o, _, _ := types.LookupFieldOrMethod(t.Type(), true, pkg, m.Name()); o != nil && o.Pkg() == pkg {
					add(use{owner: i.Name(), member: m.Name(), method: true, implements: i.Name()}, o.Pos())
				}
			}
		}
	}
}

func deref(t types.Type) types.Type {
	if p, ok := t.(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// importsSDK reports whether a file imports the SDK.
func importsSDK(f *ast.File) bool {
	_, ok := localName(f)
	return ok
}

// localName is what a file calls the SDK.
func localName(f *ast.File) (string, bool) {
	for _, i := range f.Imports {
		if i.Path.Value == `"`+sdk+`"` {
			if i.Name != nil {
				return i.Name.Name, true
			}
			return "acp", true
		}
	}
	return "", false
}

// bySyntax lists what a file qualifies with the name of the SDK.
func bySyntax(f *ast.File, add func(use, token.Pos)) {
	name, ok := localName(f)
	if !ok {
		return
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == name {
				add(use{member: n.Sel.Name}, n.Sel.Pos())
			}
		case *ast.CompositeLit:
			t, ok := n.Type.(*ast.SelectorExpr)
			if !ok {
				break
			}
			if x, ok := t.X.(*ast.Ident); !ok || x.Name != name {
				break
			}
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					if key, ok := kv.Key.(*ast.Ident); ok {
						add(use{owner: t.Sel.Name, member: key.Name}, key.Pos())
					}
				}
			}
		}
		return true
	})
}
