package docs

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/printer"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/rpc"
)

var goBlock = regexp.MustCompile("(?s)(?:<!-- from (\\S+) -->\n)?```go\n(.*?)```")

// Each Go block says where it is from. One that names a file is in that file word for
// word, where it is compiled. One that names a package quotes its declarations. All are
// formatted as gofmt does.
func TestTheGuidesQuoteCompiledCode(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	quotes := 0
	for _, page := range append(pages, "../README.md", "../CONTRIBUTING.md") {
		for _, m := range goBlock.FindAllStringSubmatch(read(t, page), -1) {
			from, code := m[1], m[2]
			if !isFormatted(code) {
				t.Errorf("%s: not formatted:\n%s", page, code)
			}
			quotes++
			switch {
			case from == "":
				t.Errorf("%s does not say where this is from, as <!-- from runtime/rpc/example_test.go --> above it:\n%s", page, code)
			case strings.HasSuffix(from, ".go"):
				sameText(t, page, from, code)
			default:
				sameDeclarations(t, page, from, code)
			}
		}
	}
	if quotes < 35 {
		t.Errorf("found %d quotes, there must be more", quotes)
	}
}

// isFormatted reports whether code is as gofmt writes it: declarations, statements, or
// elements of a list.
func isFormatted(code string) bool {
	const begin, end = "var _ = []any{\n", "}\n"
	for _, source := range []string{code, begin + indented(code, 1) + end} {
		if formatted, err := format.Source([]byte(source)); err == nil {
			return string(formatted) == source
		}
	}
	return false
}

// indented moves lines to the right, as far as they are inside of something.
func indented(code string, depth int) string {
	return regexp.MustCompile("(?m)^(.)").ReplaceAllString(code, strings.Repeat("\t", depth)+"$1")
}

// sameText looks for a quote in a file. What is inside of a function there may begin at the
// margin here.
func sameText(t *testing.T, page, from, code string) {
	text := read(t, filepath.Join("..", from))
	for _, part := range strings.SplitAfter(code, "\n}\n") {
		part = strings.TrimSpace(part)
		found := part == ""
		for depth := 0; depth < 3 && !found; depth++ {
			var rest string
			if _, rest, found = strings.Cut(text, "\n"+indented(part, depth)+"\n"); found {
				text = "\n" + rest
			}
		}
		if !found {
			t.Errorf("%s: %s does not have, or not in this order:\n%s", page, from, part)
		}
	}
}

// sameDeclarations compares a quote with the declarations of a package. Comments
// and bodies do not count. A struct may leave out fields, an interface may not
// leave out methods.
func sameDeclarations(t *testing.T, page, dir, code string) {
	declared := declarationsOf(t, dir)
	for name, quoted := range declarations(t, "package quoted\n"+code) {
		if got := declared[name]; got != quoted {
			t.Errorf("%s: %s declares %q, not %q", page, dir, got, quoted)
		}
	}
}

func declarationsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(dir), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]string{}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			maps.Copy(declared, declarations(t, read(t, file)))
		}
	}
	return declared
}

// declarations returns the functions, interfaces and fields of structs, by name.
func declarations(t *testing.T, source string) map[string]string {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	text := func(node any) string {
		var b strings.Builder
		if err := printer.Fprint(&b, set, node); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(b.String()), " ")
	}
	found := map[string]string{}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			name, receiver := d.Name.Name, ""
			if d.Recv != nil {
				receiver = text(d.Recv.List[0].Type)
				name = receiver + "." + name
			}
			found[name] = strings.TrimSpace(receiver + " " + d.Name.Name + text(d.Type))
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				typ, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				list, kind := &ast.FieldList{}, ""
				switch x := typ.Type.(type) {
				case *ast.StructType:
					list, kind = x.Fields, "struct"
				case *ast.InterfaceType:
					list, kind = x.Methods, "interface"
				}
				members := 0
				for _, field := range list.List {
					for _, name := range field.Names {
						members++
						found[typ.Name.Name+"."+name.Name] = name.Name + " " + text(field.Type)
					}
				}
				if kind == "interface" {
					kind = fmt.Sprint(kind, " of ", members)
				}
				found[typ.Name.Name] = typ.Name.Name + " " + kind
			}
		}
	}
	return found
}

// The tables of the design notes have every package, and the text has every
// error of the connection.
func TestTheDesignNotesNameEveryPackageAndError(t *testing.T) {
	t.Parallel()
	notes := read(t, "design.md")
	names := []string{}
	for _, parent := range []string{"acp", "runtime", "runtime/review", "runtime/transport", "internal/lint", "internal/review", "tools", "plugin"} {
		entries, err := os.ReadDir(filepath.Join("..", filepath.FromSlash(parent)))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			name := parent + "/" + entry.Name()
			switch source, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(name), "*.go")); {
			case err != nil:
				t.Fatal(err)
			case len(source) == 0 || entry.Name() == "internal" || entry.Name() == "testdata":
			case parent == "tools":
				names = append(names, entry.Name())
			case parent == "runtime/transport":
				names = append(names, strings.TrimPrefix(name, "runtime/"))
			default:
				names = append(names, name)
			}
		}
	}
	if len(names) < 20 {
		t.Errorf("found %d packages, there must be more", len(names))
	}
	for name := range declarationsOf(t, "runtime/rpc") {
		if strings.HasSuffix(name, "Error") && !strings.Contains(name, ".") && ast.IsExported(name) {
			names = append(names, "*"+name)
		}
	}
	for _, name := range names {
		if !strings.Contains(notes, "`"+name+"`") {
			t.Errorf("design.md does not name %s", name)
		}
	}
}

// The guide names the further modules that each package brings.
func TestPackagesImportOnlyTheModulesInTheGuide(t *testing.T) {
	t.Parallel()
	const sys, pty, websocket, udiff = "golang.org/x/sys", "github.com/creack/pty", "github.com/coder/websocket", "github.com/aymanbagabas/go-udiff"
	want := map[string][]string{ // packages that are not here bring none
		"runtime/agentv2":             {udiff},
		"runtime/codex":               {sys},
		"runtime/codex/codexagent":    {sys},
		"runtime/launch":              {sys},
		"runtime/services":            {udiff, pty, sys},
		"runtime/servicesv2":          {udiff, pty, sys},
		"runtime/review":              {udiff},
		"runtime/review/feed":         {udiff, sys},
		"runtime/serve":               {websocket, sys},
		"runtime/terminal":            {pty, sys},
		"runtime/transport/socket":    {sys},
		"runtime/transport/websocket": {websocket, sys},
	}
	list := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}} {{.Module.Path}} {{join .Deps \" \"}}{{end}}", "./acp/...", "./runtime/...")
	list.Dir, list.Env = "..", append(os.Environ(), "GOOS=linux")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/hermes-nvim/hermes"
	owner, deps := map[string]string{}, map[string][]string{} // by package
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) > 1 {
			owner[words[0]], deps[words[0]] = words[1], words[2:]
		}
	}
	for pkg, on := range deps {
		name := strings.TrimPrefix(pkg, module+"/")
		if !strings.HasPrefix(name, "acp") && !strings.HasPrefix(name, "runtime") || strings.Contains(name, "internal/") {
			continue
		}
		var got []string
		for _, dep := range on {
			if m := owner[dep]; m != "" && m != module && !slices.Contains(got, m) {
				got = append(got, m)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want[name]) {
			t.Errorf("%s brings %v, the guide says %v", name, got, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("there is no %v", want)
	}
}

// section returns the part of the Go guide below a heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	guide, err := os.ReadFile("go.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(guide), "\n"+heading+"\n")
	if !ok {
		t.Fatalf("go.md has no %q", heading)
	}
	marks, _, _ := strings.Cut(heading, " ")
	text, _, _ := strings.Cut(rest, "\n"+marks+" ")
	return text
}

// firstColumn returns the names in backquotes of the first column of a table.
func firstColumn(text string) (names []string) {
	name := regexp.MustCompile("`[^`]*`")
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, " | "); len(cells) > 1 && strings.HasPrefix(line, "| `") {
			for _, n := range name.FindAllString(cells[0], -1) {
				names = append(names, strings.Trim(n, "`"))
			}
		}
	}
	return names
}

func TestTheGoGuideListsEveryLimit(t *testing.T) {
	t.Parallel()
	var want []string
	for f := range reflect.TypeFor[rpc.Limits]().Fields() {
		want = append(want, f.Name)
	}
	if got := firstColumn(section(t, "### Limits")); !slices.Equal(got, want) {
		t.Errorf("the guide lists\n%v, rpc.Limits has\n%v", got, want)
	}
}

// The table has the errors of calls and of starts. The errors of handlers and of
// messages of the peer are in the text below it.
func TestTheGoGuideNamesEveryErrorOfConnectionsAndProcesses(t *testing.T) {
	t.Parallel()
	text := section(t, "## Errors")
	declared := regexp.MustCompile(`(?m)^type ([A-Z]\w*Error)\b`)
	seen := 0
	for _, pkg := range []string{"rpc", "launch"} {
		files, err := filepath.Glob(filepath.Join("..", "runtime", pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range declared.FindAllStringSubmatch(string(source), -1) {
				if seen++; !strings.Contains(text, "`*"+pkg+"."+m[1]+"`") {
					t.Errorf("the guide does not name *%s.%s", pkg, m[1])
				}
			}
		}
	}
	if seen < 12 {
		t.Errorf("found %d errors, there must be more", seen)
	}
}

// Only programs that speak version 2 pay for its messages.
func TestProgramsOfVersion1DoNotLinkVersion2(t *testing.T) {
	t.Parallel()
	list := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}:{{join .Deps \" \"}} {{end}}", "./runtime/...", "./plugin/...", "./examples/...", "./tools/...")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/hermes-nvim/hermes/"
	two := map[string]bool{}
	seen := 0
	for line := range strings.Lines(string(out)) {
		pkg, deps, _ := strings.Cut(strings.TrimSpace(line), ":")
		pkg = strings.TrimPrefix(pkg, module)
		if !strings.HasPrefix(pkg, "acp") && strings.Contains(deps+" ", module+"acp/v2 ") {
			two[pkg] = true
		}
		seen++
	}
	want := map[string]bool{"runtime/agentv2": true, "runtime/servicesv2": true}
	if !maps.Equal(two, want) || seen < 20 {
		t.Errorf("of %d packages %v need version 2, want %v", seen, two, want)
	}
}

// Every name that the migration table recommends exists.
func TestTheGoGuideNamesOnlyExistingThings(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, dir := range []string{"acp", "acp/unstable", "runtime/rpc", "runtime/services", "runtime/transport"} {
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(dir), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				identifiers(t, file, names)
			}
		}
	}
	guide, err := os.ReadFile("go.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(guide), "\n## Coming from")
	if !ok {
		t.Fatal("go.md has no migration table")
	}
	code, name := regexp.MustCompile("`[^`]*`"), regexp.MustCompile(`\b[A-Z]\w*`)
	seen := 0
	for line := range strings.Lines(table) {
		columns := strings.Split(line, " | ")
		if len(columns) < 3 {
			continue
		}
		for _, part := range code.FindAllString(columns[1], -1) {
			for _, n := range name.FindAllString(part, -1) {
				if seen++; !names[n] {
					t.Errorf("there is no %s:\n%s", n, line)
				}
			}
		}
	}
	if seen < 200 {
		t.Errorf("found %d names, there must be more", seen)
	}
}

// identifiers adds those of a file that are not in comments or strings.
func identifiers(t *testing.T, path string, names map[string]bool) {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile(path, -1, len(src)), src, nil, 0)
	for {
		_, tok, text := s.Scan()
		if tok == token.EOF {
			return
		}
		if tok == token.IDENT {
			names[text] = true
		}
	}
}
