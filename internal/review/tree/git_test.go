package tree

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/review/store"
)

// filesOfGit lists what git would add to a repository, and what it has.
func filesOfGit(t *testing.T, dir string, config ...string) []string {
	t.Helper()
	out := git(t, dir, "", append(config, "ls-files", "-z", "--cached", "--others", "--exclude-standard")...)
	files := strings.FieldsFunc(out, func(r rune) bool { return r == 0 })
	slices.Sort(files)
	return slices.Compact(files)
}

// The judge is git itself.
func TestASnapshotHasWhatGitDoesNotIgnore(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	git(t, root, "", "init", "-q")
	files := map[string]string{
		".gitignore":           "*.o\n/build/\n!keep.o\ncache\n**/deep/**/x\ndoc/*.txt\n",
		"a/.gitignore":         "!*.o\nlocal\n/anchored\n",
		"a/b/.gitignore":       "*\n!c/\n!c/*\n!.gitignore",
		"linked/.gitignore":    "->rules", // git does not follow it
		"linked/rules":         "x*\n",
		".git/info/exclude":    "excluded\n!cache\n",
		"build/.gitignore":     "!*\n", // not even read
		"odd names/.gitignore": "\\ lead\ntrail\\ \n\\!bang\n\\#hash\nq\\\"\n",
	}
	for _, dir := range []string{"", "a/", "a/b/", "a/b/c/", "build/", "sub/build/", "deep/", "w/deep/y/", "doc/", "doc/more/", "linked/", "cache/", "odd names/"} {
		for _, name := range []string{"x", "x.o", "keep.o", "x.txt", "local", "anchored", "excluded", " lead", "trail ", "!bang", "#hash", "q\"", "sub/x.o", "sub/anchored"} {
			files[dir+name] = name
		}
	}
	makeFiles(t, root, files)
	st := openStore(t, t.TempDir(), store.Options{})
	check := func(what, root string, getenv func(string) string, want []string) {
		t.Helper()
		s := newProject(t, root, st, Options{Getenv: getenv}).scan(t)
		if got := paths(s); !slices.Equal(got, want) {
			only := func(a, b []string) []string {
				return slices.DeleteFunc(slices.Clone(a), func(p string) bool { return slices.Contains(b, p) })
			}
			t.Errorf("%s: only here %q, only in git %q", what, only(got, want), only(want, got))
		}
	}
	want := filesOfGit(t, root)
	if len(want) < 60 || len(want) > len(files)-40 {
		t.Fatalf("%d of %d files", len(want), len(files))
	}
	check("a repository", root, nowhere, want)

	// A root inside a repository, by a link too.
	for _, dir := range []string{"a", "a/b", "a/b/c", "doc", "sub/build", "odd names"} {
		check(dir, filepath.Join(root, dir), nowhere, filesOfGit(t, filepath.Join(root, dir)))
	}

	// The excludes of the user, in each place where git looks.
	home, config := t.TempDir(), t.TempDir()
	makeFiles(t, home, map[string]string{
		".gitconfig": "[user]\n\tname = x\n[include]\n\tpath = more\n", "more": "[core] # comment\n\tExcludesFile = \"~/my\\\\ ex\\\"cludes\" ; here\n",
		`my\ ex"cludes`:      "x.txt\n!*.o\n",
		".config/git/ignore": "*.txt\n",
	})
	makeFiles(t, config, map[string]string{"git/ignore": "x\n", "git/config": "[CORE]\nexcludesfile = " + home + "/.config/git/ignore\n"})
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return nowhere(name)
		}
	}
	check("excludes of the configuration", root, env("HOME", home), filesOfGit(t, root, "-c", "core.excludesFile="+filepath.Join(home, `my\ ex"cludes`)))
	check("default excludes", root, env("XDG_CONFIG_HOME", filepath.Join(home, ".config")), filesOfGit(t, root, "-c", "core.excludesFile="+home+"/.config/git/ignore"))
	check("excludes of XDG", root, env("XDG_CONFIG_HOME", config), filesOfGit(t, root, "-c", "core.excludesFile="+home+"/.config/git/ignore"))
	check("GIT_CONFIG_GLOBAL", root, env("HOME", home, "GIT_CONFIG_GLOBAL", filepath.Join(config, "git/config")), filesOfGit(t, root, "-c", "core.excludesFile="+home+"/.config/git/ignore"))
	git(t, root, "", "config", "core.excludesFile", filepath.Join(config, "git/ignore"))
	check("excludes of the repository", root, env("HOME", home), filesOfGit(t, root))
	git(t, root, "", "config", "core.ignorecase", "true")
	makeFiles(t, root, map[string]string{"UPPER.O": "", "Cache/x": ""})
	check("without case", root, nowhere, filesOfGit(t, root))
	git(t, root, "", "config", "--unset", "core.ignorecase")
	git(t, root, "", "config", "--unset", "core.excludesFile")

	// Another work tree has the excludes of the first.
	git(t, root, "", "add", ".gitignore", "a/x")
	git(t, root, "", "commit", "-q", "-m", "x")
	tree := filepath.Join(t.TempDir(), "tree")
	git(t, root, "", "worktree", "add", "-q", tree)
	makeFiles(t, tree, map[string]string{"excluded": "", "x.o": "", "keep.o": "", "new": ""})
	check("a work tree", tree, nowhere, filesOfGit(t, tree))
}

// A repository in another one has its own rules, as a submodule does.
func TestANestedRepositoryHasItsOwnRules(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, dir := range []string{"", "mod", "mod/inner", "ignored"} {
		must(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
		git(t, filepath.Join(root, dir), "", "init", "-q")
	}
	files := map[string]string{
		".gitignore": "*.o\nignored/\n", ".git/info/exclude": "top\n", "mod/.gitignore": "*.a\n", "mod/.git/info/exclude": "/mod\n", "mod/inner/.git/info/exclude": "inner\n",
		"none/.git/info/exclude": "f\n", // git takes it for no repository
	}
	for _, dir := range []string{"", "mod/", "mod/inner/", "mod/sub/", "mod/inner/sub/", "ignored/", "none/"} {
		for _, name := range []string{"x.o", "x.a", "top", "mod/x", "inner/y", "f"} {
			if name != "mod/x" || dir != "" {
				files[dir+name] = ""
			}
		}
	}
	makeFiles(t, root, files)
	var want []string
	for _, dir := range []string{"", "mod/", "mod/inner/"} {
		for _, name := range filesOfGit(t, filepath.Join(root, dir)) {
			if !strings.HasSuffix(name, "/") { // git lists the nested ones so
				want = append(want, dir+name)
			}
		}
	}
	slices.Sort(want)
	s := newProject(t, root, openStore(t, t.TempDir(), store.Options{}), Options{}).scan(t)
	if got := paths(s); !slices.Equal(got, want) || len(want) < 20 {
		t.Errorf("have %q\nwant %q", got, want)
	}
}

// Somebody's home may be a repository that ignores everything.
func TestARepositoryThatIgnoresTheRootSaysNothing(t *testing.T) {
	t.Parallel()
	for ignore, want := range map[string][]string{
		"*\n":               {"a.o", "b", "c/a.o"},
		"/code/\n*.o\n":     {"a.o", "b", "c/a.o"},
		"project/\n":        {"a.o", "b", "c/a.o"},
		"project/c\n*.o\n":  {"b"},
		"/code/project/b\n": {"a.o", "c/a.o"},
		"/*\n!/code\n*.o\n": {"b"},
	} {
		home := t.TempDir()
		git(t, home, "", "init", "-q")
		makeFiles(t, home, map[string]string{".gitignore": ignore, "code/project/a.o": "", "code/project/b": "", "code/project/c/a.o": ""})
		s := newProject(t, filepath.Join(home, "code/project"), openStore(t, t.TempDir(), store.Options{}), Options{}).scan(t)
		if got := paths(s); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", ignore, got, want)
		}
	}
}

// An agent can write the configuration of a repository.
func TestAHostileConfigurationTakesNoTime(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	makeFiles(t, root, map[string]string{
		"a": "1", "b/c": "2", ".git/HEAD": "",
		".git/config": strings.Repeat("[include]\npath = config\npath = other\n", 1000), ".git/other": "[include]\npath = config\npath = /dev/zero\npath = .\n[core]\nexcludesFile = /dev/zero\n",
		"b/.git": "gitdir: ../b/.git", "d/.git": "gitdir: ../d", "d/commondir": ".", "d/config": "[core\nexcludesFile", "d/info/exclude": "x\n", "d/x": "",
	})
	p := newProject(t, root, openStore(t, t.TempDir(), store.Options{}), Options{})
	s := patience.Ends(t, "the scan", func() *Snapshot { return p.scan(t) })
	expect(t, "entries", paths(s), "a", "b/c", "d/commondir", "d/config", "d/info/exclude")
}

// Git's own files stay as they are, to the byte and the time.
func TestAScanDoesNotTouchGit(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	git(t, root, "", "init", "-q")
	makeFiles(t, root, map[string]string{"a": "1", "b": "2"})
	git(t, root, "", "add", "a")
	git(t, root, "", "commit", "-q", "-m", "x")
	look := func() string {
		var all strings.Builder
		must(t, filepath.Walk(filepath.Join(root, ".git"), func(path string, info os.FileInfo, err error) error {
			must(t, err)
			fmt.Fprintln(&all, path, info.Size(), info.Mode(), info.ModTime())
			return nil
		}))
		return all.String()
	}
	before := look()
	p := newProject(t, root, openStore(t, t.TempDir(), store.Options{}), Options{})
	for range 2 {
		for _, path := range paths(p.scan(t)) {
			if strings.HasPrefix(path, ".git") {
				t.Error(path)
			}
		}
		makeFiles(t, root, map[string]string{"b": "3"})
	}
	if after := look(); after != before {
		t.Errorf("%s\n%s", before, after)
	}
}
