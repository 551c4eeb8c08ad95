package compat_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/gen"
	"github.com/hermes-nvim/hermes/gen/compat"
	"github.com/hermes-nvim/hermes/gen/emit/golang"
	"github.com/hermes-nvim/hermes/gen/ir"
	"github.com/hermes-nvim/hermes/schema"
)

// goAPI is what the Go package of a spec exports: each declaration, field and
// method by its name, with the text that a program depends on.
func goAPI(t *testing.T, s *ir.Spec) map[string]string {
	t.Helper()
	files, err := golang.Package{
		Edition: "v1", Dir: "acp/x", Module: "m", Shared: "acp", Const: "V1", Version: 1, Channel: "stable",
		Names: &golang.Names{}, Spec: s,
	}.Files()
	if err != nil {
		t.Fatal(err)
	}
	api, set := map[string]string{}, token.NewFileSet()
	text := func(n any) string {
		var b strings.Builder
		if err := printer.Fprint(&b, set, n); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	members := func(owner string, list *ast.FieldList) {
		for _, f := range list.List {
			for _, n := range f.Names {
				if n.IsExported() {
					api[owner+"."+n.Name] = text(f.Type)
				}
			}
			if f.Names == nil {
				api[owner+"."+text(f.Type)] = "embedded"
			}
		}
	}
	for _, f := range files {
		if strings.HasSuffix(f.Path, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(set, f.Path, f.Data, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil {
					name = strings.TrimLeft(text(d.Recv.List[0].Type), "*") + "." + name
				}
				variant := d.Recv != nil && strings.HasPrefix(d.Name.Name, "is") // of the union that has the method
				if !ast.IsExported(name) || !d.Name.IsExported() && !variant {
					continue
				}
				if d.Recv == nil && strings.HasPrefix(name, "New") {
					api[name] = text(d.Type) // a program with two texts swapped compiles, but means something else
					continue
				}
				var types []string // the names of parameters do not matter
				for _, list := range []*ast.FieldList{d.Type.Params, d.Type.Results} {
					for _, p := range list.List {
						for range max(1, len(p.Names)) {
							types = append(types, text(p.Type))
						}
					}
					types = append(types, ";")
					if d.Type.Results == nil {
						break
					}
				}
				api[name] = strings.Join(types, " ")
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.ValueSpec:
						for _, n := range spec.Names {
							if n.IsExported() {
								api[n.Name] = "value"
							}
						}
					case *ast.TypeSpec:
						if !spec.Name.IsExported() {
							continue
						}
						switch u := spec.Type.(type) {
						case *ast.StructType:
							api[spec.Name.Name] = "struct"
							members(spec.Name.Name, u.Fields)
						case *ast.InterfaceType:
							api[spec.Name.Name] = "interface"
							members(spec.Name.Name, u.Methods)
						default:
							api[spec.Name.Name] = text(u)
						}
					}
				}
			}
		}
	}
	return api
}

// goBreaks lists what programs lose from prev to next, and the growing interfaces
// that they implement.
func goBreaks(prev, next map[string]string) (breaks, grows []string) {
	for _, name := range slices.Sorted(maps.Keys(prev)) {
		if is, ok := next[name]; !ok || is != prev[name] {
			breaks = append(breaks, fmt.Sprintf("%s: was %q, is %q", name, prev[name], is))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next)) {
		owner, _, method := strings.Cut(name, ".")
		if _, was := prev[name]; method && !was && prev[owner] == "interface" && next[owner] == "interface" {
			grows = append(grows, name)
		}
	}
	return breaks, grows
}

// agrees checks that the report says BREAK if a Go program stops compiling, IMPL
// if an interface that programs implement grows, and neither otherwise.
func agrees(t *testing.T, changes []compat.Change, prev, next map[string]string) {
	t.Helper()
	breaks, grows := goBreaks(prev, next)
	if reported := compat.Count(changes, compat.Break) > 0; reported != (len(breaks) > 0) {
		t.Errorf("the report is\n%v\nGo says\n%s", changes, strings.Join(breaks, "\n"))
	}
	if reported := compat.Count(changes, compat.Impl) > 0; reported != (len(grows) > 0) {
		t.Errorf("the report is\n%v\nthese grow: %v", changes, grows)
	}
}

func TestTheReportAgreesWithGo(t *testing.T) {
	t.Parallel()
	for name, c := range pairs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prev, next := lower(t, c.prev), lower(t, c.next)
			agrees(t, compat.Compare(prev, next), goAPI(t, prev), goAPI(t, next))
		})
	}
}

// The same for each pair of whole editions.
func TestTheReportOfEditionsAgreesWithGo(t *testing.T) {
	t.Parallel()
	specs, err := gen.Specs("../..")
	if err != nil {
		t.Fatal(err)
	}
	apis := map[schema.Edition]map[string]string{}
	for _, e := range schema.Editions {
		apis[e] = goAPI(t, specs[e])
	}
	for _, e := range schema.Editions {
		for _, f := range schema.Editions {
			agrees(t, compat.Compare(specs[e], specs[f]), apis[e], apis[f])
		}
	}
}
