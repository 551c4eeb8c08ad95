package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/gobuild"
)

// project makes a folder with what searches stumble over.
func project(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.go":              "package a\n\nfunc Find() {}\n",
		"b/b.go":            "package b\r\n\r\nfunc find() {}\r\n",
		"b/c.txt":           "no end: Find",
		".hidden/h.txt":     "Find\n",
		".gitignore":        "*.log\nout/\n!keep.log\n",
		"x.log":             "Find\n",
		"keep.log":          "Find\n",
		"out/o.txt":         "Find\n",
		"b/.gitignore":      "ignored.txt\n",
		"b/ignored.txt":     "Find\n",
		"binary":            "Find\x00\n",
		"latin":             "Find caf\xe9\n",
		"long":              "Find" + strings.Repeat("ä", 1000) + "\n",
		"name with: colon":  "Find\n",
		".git/config":       "Find\n",
		"b/deep/er/e.ts":    "Find\nFind\n",
		"b/deep/er/e.tsx":   "Find\n",
		"b/deep/readme.md":  "find\n",
		".ignore":           "a.go\n",
		"empty":             "",
		"node_modules/m.js": "Find\n",
		"words":             "größe\nano\nC:\\bin\n",
	} {
		at := filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	outside := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(outside, "o"), []byte("Find\n"), 0o644), os.Symlink(outside, filepath.Join(root, "link"))); err != nil {
		t.Log(err) // Windows
	}
	return root
}

// ripgrep is the program of the npm packages, or the one that is installed. Outside CI it may
// be missing.
func ripgrep(t *testing.T) string {
	t.Helper()
	programs, err := filepath.Glob(filepath.Join(os.Getenv("HERMES_AGENTS"), "node_modules/@vscode/ripgrep-*/bin/rg"))
	if err != nil {
		t.Fatal(err)
	}
	if len(programs) > 0 {
		return programs[0]
	}
	program, err := exec.LookPath("rg")
	if err != nil && os.Getenv("CI") != "" {
		t.Fatal("no ripgrep: nothing is skipped in CI, run 'make test'")
	}
	return program
}

// engines are the ways to search, which have to find the same.
func engines(t *testing.T) map[string]func(Query, *regexp.Regexp) []Match {
	ways := map[string]func(Query, *regexp.Regexp) []Match{
		"plain": func(q Query, p *regexp.Regexp) (found []Match) {
			q.plain(t.Context(), p, func(m Match, err error) bool {
				if err != nil {
					t.Error(err)
				}
				found = append(found, m)
				return true
			})
			return found
		},
	}
	program := ripgrep(t)
	if program == "" {
		t.Log("ripgrep is not compared: make test installs it")
		return ways
	}
	ways["ripgrep"] = func(q Query, p *regexp.Regexp) (found []Match) {
		if !q.ripgrep(t.Context(), program, p, func(m Match, _ error) bool { found = append(found, m); return true }) {
			t.Errorf("ripgrep did not search for %s", p)
		}
		return found
	}
	return ways
}

// The tests do not use the settings of the user, who may have git ignore anything.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		panic(err)
	}
	os.Setenv("HOME", home)
	os.Unsetenv("XDG_CONFIG_HOME")
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

func TestBothEnginesFindTheSameLines(t *testing.T) {
	t.Parallel()
	root, ways := project(t), engines(t)
	everywhere := []string{".hidden/h.txt:1", "a.go:3", "b/c.txt:1", "b/deep/er/e.ts:1", "b/deep/er/e.ts:2", "b/deep/er/e.tsx:1", "keep.log:1", "latin:1", "long:1", "name with: colon:1", "node_modules/m.js:1"}
	for _, test := range []struct {
		pattern, below, glob string
		want                 []string
	}{
		{"Find", "", "", everywhere},
		{"(?i)FUNC FIND", "", "", []string{"a.go:3", "b/b.go:3"}},
		{`\{\}$`, "", "", []string{"a.go:3", "b/b.go:3"}},
		{`^$`, "", "*.go", []string{"a.go:2", "b/b.go:2"}},
		{"Find", "", "*.{ts,tsx}", []string{"b/deep/er/e.ts:1", "b/deep/er/e.ts:2", "b/deep/er/e.tsx:1"}},
		{"Find", "", "b/**/*.ts", []string{"b/deep/er/e.ts:1", "b/deep/er/e.ts:2"}},
		{"Find", "b", "", []string{"c.txt:1", "deep/er/e.ts:1", "deep/er/e.ts:2", "deep/er/e.tsx:1"}},
		{"Find", "b/c.txt", "", []string{":1"}},
		{"Find", "out", "", []string{"o.txt:1"}},
		{"Find", "x.log", "", []string{":1"}},
		{`gr\W\Wße|^\w+$`, "", "words", []string{"words:2"}},
		{`\bße|\Bno`, "", "words", []string{"words:2"}},
		{`\Bße|gr\b|C:\\bin`, "", "words", []string{"words:1", "words:3"}},
		{`\QC:\bin\E`, "", "", []string{"words:3"}},
		{"-e", "", "", nil},
		{"Find$|--files", "", "*.txt", []string{".hidden/h.txt:1", "b/c.txt:1"}},
	} {
		name, err := NewGlob(test.glob)
		if err != nil {
			t.Fatal(err)
		}
		for engine, lines := range ways {
			var got []string
			for _, m := range lines(Query{Root: filepath.Join(root, test.below), Name: name}, regexp.MustCompile(test.pattern)) {
				got = append(got, fmt.Sprintf("%s:%d", m.Path, m.Line))
				if len(m.Text) > maxLine+3 || m.Text != strings.ToValidUTF8(m.Text, "") || strings.ContainsAny(m.Text, "\r\n") {
					t.Errorf("%s, %s: the text is %q", engine, m.Path, m.Text)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: %q in %q, %q: got %q, want %q", engine, test.pattern, test.below, test.glob, got, test.want)
			}
		}
	}
}

func TestTheLinesOfSomeFilesAreLeftOut(t *testing.T) {
	t.Parallel()
	root := project(t)
	for engine, lines := range engines(t) {
		asked := map[string]int{}
		var got []string
		hides := func(path string) bool {
			asked[path]++
			return path == "b/deep/er/e.ts" || path == "a.go"
		}
		for _, m := range lines(Query{Root: root, Hides: hides}, regexp.MustCompile("Find")) {
			got = append(got, m.Path)
		}
		if want := []string{".hidden/h.txt", "b/c.txt", "b/deep/er/e.tsx", "keep.log", "latin", "long", "name with: colon", "node_modules/m.js"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q", engine, got)
		}
		if asked["b/deep/er/e.ts"] != 1 || asked["b/b.go"] != 0 {
			t.Errorf("%s: asked %v", engine, asked)
		}
	}
}

func TestARipgrepThatFailsLeavesTheSearchToGo(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "rg")
	if err := gobuild.Write(program, "#!/bin/sh\nexit 2\n"); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{program, filepath.Join(t.TempDir(), "none")} {
		over := Query{Root: project(t)}.ripgrep(t.Context(), program, regexp.MustCompile("Find"), func(m Match, err error) bool {
			t.Errorf("%+v, %v", m, err)
			return true
		})
		if over {
			t.Errorf("%s: nothing is left to do", program)
		}
	}
}

func TestFilesAreListedWithoutWhatGitIgnores(t *testing.T) {
	t.Parallel()
	root := project(t)
	list := func(q Query) (names []string) {
		for name, err := range q.Files(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		return names
	}
	for _, name := range list(Query{Root: root}) {
		if strings.HasPrefix(name, ".git/") || strings.HasPrefix(name, "out/") || strings.HasPrefix(name, "link") || name == "x.log" {
			t.Errorf("%s is listed", name)
		}
	}
	for glob, want := range map[string]string{
		"*.go":                   "a.go b/b.go",
		"/*.go":                  "a.go",
		"./b/*.go":               "b/b.go",
		".hidden/*":              ".hidden/h.txt",
		"?.go":                   "a.go b/b.go",
		"[!a].go":                "b/b.go",
		"**/er/*":                "b/deep/er/e.ts b/deep/er/e.tsx",
		"b/**":                   "b/.gitignore b/b.go b/c.txt b/deep/er/e.ts b/deep/er/e.tsx b/deep/readme.md",
		"{a,b}.go":               "a.go b/b.go",
		"a,b":                    "",
		"*.GO":                   "",
		"b/**/{readme,other}.md": "b/deep/readme.md",
	} {
		name, err := NewGlob(glob)
		if got := strings.Join(list(Query{Root: root, Name: name}), " "); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", glob, got, err, want)
		}
	}
	if _, err := NewGlob("{a"); err == nil {
		t.Error("half a glob is accepted")
	}
}

func TestASearchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancelCause(t.Context())
	over := errors.New("over")
	stop(over)
	root := project(t)
	for _, err := range (Query{Root: root}).Lines(ctx, regexp.MustCompile("Find")) {
		if !errors.Is(err, over) {
			t.Errorf("got %v", err)
		}
	}
	for _, err := range (Query{Root: filepath.Join(root, "nowhere")}).Files(t.Context()) {
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	}
}
