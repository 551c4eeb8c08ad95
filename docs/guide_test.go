package docs

import (
	"go/format"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Go blocks that name a file are in that file word for word, where they are
// compiled, and the others are formatted as gofmt does.
func TestTheGuidesQuoteWhatIsCompiled(t *testing.T) {
	t.Parallel()
	var guide []byte
	for _, name := range []string{"go.md", "remote.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		guide = append(guide, text...)
	}
	block := regexp.MustCompile("(?s)(?:<!-- from (\\S+) -->\n)?```go\n(.*?)```")
	quotes := 0
	for _, m := range block.FindAllStringSubmatch(string(guide), -1) {
		from, code := m[1], m[2]
		if formatted, err := format.Source([]byte(code)); err != nil || string(formatted) != code {
			t.Errorf("not formatted (%v):\n%s", err, code)
		}
		if from == "" {
			continue
		}
		source, err := os.ReadFile(filepath.Join("..", from))
		if err != nil {
			t.Fatal(err)
		}
		text := string(source)
		for _, part := range strings.SplitAfter(code, "\n}\n") {
			part = strings.TrimSpace(part)
			_, rest, ok := strings.Cut(text, part)
			if !ok {
				t.Errorf("%s does not have, or not once more:\n%s", from, part)
				continue
			}
			text = rest
		}
		quotes++
	}
	if quotes < 10 {
		t.Errorf("found %d quotes, there must be more", quotes)
	}
}

// What the guide says about further modules, package by package.
func TestPackagesBringNoOtherModulesThanTheGuideSays(t *testing.T) {
	t.Parallel()
	const sys, pty, websocket, jsonschema = "golang.org/x/sys", "github.com/creack/pty", "github.com/coder/websocket", "github.com/santhosh-tekuri/jsonschema/v5"
	want := map[string][]string{ // packages that are not here bring none
		"acp/validate":                {jsonschema},
		"runtime/launch":              {sys},
		"runtime/services":            {pty, sys},
		"runtime/preset":              {sys},
		"runtime/serve":               {websocket, sys},
		"runtime/terminal":            {pty, sys},
		"runtime/transport/socket":    {sys},
		"runtime/transport/websocket": {websocket},
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

// What the migration table tells people to write exists.
func TestTheGoGuideNamesWhatExists(t *testing.T) {
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
