package main

import (
	"bytes"
	"flag"
	"go/importer"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// program is a small program that uses the SDK, a module of its own.
const program = "testdata/program"

// needSDK skips the test if the SDK cannot be loaded, and fails it in CI.
func needSDK(t *testing.T) []listed {
	t.Helper()
	all, err := goList(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.ImportPath == sdk && p.Export != "" {
			return all
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s cannot be loaded", sdk)
	}
	t.Skipf("%s cannot be loaded", sdk)
	return nil
}

func TestTheReportListsEachUseWithWhatReplacesIt(t *testing.T) {
	needSDK(t)
	var got bytes.Buffer
	if err := report(&got, program); err != nil {
		t.Fatal(err)
	}
	golden := filepath.FromSlash("testdata/report.txt")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := filepath.ToSlash(got.String()); got != string(want) {
		t.Errorf("the report changed; run go test ./tools/migrate -update and read the diff:\n%s", got)
	}
}

// The guide says something about everything that the SDK exports: no use is without
// an answer that is not on the page.
func TestTheGuideKnowsEveryNameOfTheSDK(t *testing.T) {
	all := needSDK(t)
	g, err := readGuide()
	if err != nil {
		t.Fatal(err)
	}
	export := map[string]string{}
	for _, p := range all {
		export[p.ImportPath] = p.Export
	}
	acp, err := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(export[path]) }).Import(sdk)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, name := range acp.Scope().Names() {
		if !token.IsExported(name) {
			continue
		}
		seen++
		if r, ok := g.replacement(use{member: name}); !ok && r.with != "nothing" {
			t.Errorf("docs/go.md does not say what replaces acp.%s", name)
		}
	}
	if seen < 400 {
		t.Errorf("the SDK has %d names, there must be more", seen)
	}
}

// Without the SDK's types the report still has what the syntax shows, and says so.
func TestAProgramThatDoesNotBuildIsReadByItsSyntax(t *testing.T) {
	dir := t.TempDir()
	src, err := os.ReadFile(filepath.Join(program, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"main.go": string(src), "go.mod": "module example.com/broken\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var got bytes.Buffer
	if err := report(&got, dir); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# example.com/broken: " + sdk + " has no types (",
		"acp.NewAgentSideConnection -> rpc.Serve(",
		"acp.NewSessionResponse.SessionId -> acp.NewSessionResponse.SessionID",
	} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("no %q in\n%s", want, &got)
		}
	}
}

func TestAFolderWithoutUsesIsAnError(t *testing.T) {
	for _, path := range []string{"../release", "testdata/nowhere", "main.go"} {
		if err := report(io.Discard, path); err == nil || !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
