package tree

import (
	"cmp"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// git runs git without anybody's settings.
func git(t testing.TB, dir, input string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	home := t.TempDir()
	c := exec.Command(path, args...)
	c.Dir, c.Stdin = dir, strings.NewReader(input)
	c.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+os.TempDir(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 1 && slices.Contains(args, "check-ignore") {
		err = nil // nothing is ignored
	}
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, stderr.String())
	}
	return string(out)
}

// world is a repository with real files, which git looks at.
type world struct {
	dir   string
	paths []string
	dirs  map[string]bool
}

// makeWorld makes the files that it can: no directory is also a file, and not
// every system takes every name.
func makeWorld(t testing.TB, paths ...string) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), dirs: make(map[string]bool)}
	git(t, w.dir, "", "init", "-q")
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for _, p := range paths {
		full := filepath.Join(w.dir, p)
		if _, err := os.Lstat(full); err == nil || os.MkdirAll(filepath.Dir(full), 0o700) != nil || os.WriteFile(full, nil, 0o600) != nil {
			continue
		}
		w.paths = append(w.paths, p)
		for dir := path.Dir(p); dir != "." && !w.dirs[dir]; dir = path.Dir(dir) {
			w.dirs[dir] = true
			w.paths = append(w.paths, dir)
		}
	}
	return w
}

// ignored asks git which paths a file of patterns ignores.
func (w *world) ignored(t testing.TB, patterns string, config ...string) map[string]bool {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(w.dir, ".gitignore"), []byte(patterns), 0o600))
	ignored := make(map[string]bool)
	out := git(t, w.dir, strings.Join(w.paths, "\x00")+"\x00", append(config, "check-ignore", "--no-index", "--stdin", "-z")...)
	for p := range strings.SplitSeq(out, "\x00") {
		ignored[p] = true
	}
	return ignored
}

// ignoredHere is what a scan does: nothing below an ignored directory is looked
// at.
func ignoredHere(r *rules, path string, dir bool) bool {
	for i, c := range path {
		if c == '/' && r.ignore(path[:i], true) {
			return true
		}
	}
	return r.ignore(path, dir)
}

// The judge is git itself.
func TestPatternsIgnoreWhatGitIgnores(t *testing.T) {
	t.Parallel()
	lines := []string{
		"a", "/a", "a/", "/a/", "a/b", "a/b/", "a//", "//a", "/", "!", "!/", "", " ", "a ", `a\ `, `a\  `, "a\t", "#a", `\#a`, "!a", `\!a`, `a\`, `\a`, `a\/b`,
		"*", "**", "***", "*.o", "a*", "*a*", "a*b", "?", "??", "/*", "/**", "*/", "**/", "*/b", "a/*", "a/**", "a/***", "**/b", "**/b/", "a/**/b", "a/**/", "**/a/**", "/**/b", "a/**/**/b", "**/**", "a/*/b", "a/*b", "a/**b", "a/b**",
		"[ab]", "[a-c]", "[!a]", "[^a]", "[]a]", "[!]a]", "[a", "[a-", "[-a]", "[a-]", "[a-c-e]", `[\]]`, `[\a-c]`, `[a-\c]`, "[[:alpha:]]", "[[:alpha:]1]", "[![:digit:]]", "[[:bad:]]", "[[:alpha]", "[[:alpha", "[[:]", "[[:]a]", "[a/b]", "[[:punct:]]", "[[:space:]]", "[z-a]", "[a-a]", "[", "[]", "[!", `[\`, "a[b/c]d",
		"A", "[A-C]", "\xff", "?\xff", "*\xff", "ä", "?ä", "a\x00b", "a\r", "\ufeffa", "a\n!a", "*\n!a", "*\n!*/\n!*.o", "/*\n!/a\n/a/*\n!/a/b", "a\n!a/b", "a/*\n!a/b", "!a\na", "*.o\n!b.o", "\ufeffa\nb", "a\r\nb\r\n", "b\n\n\n#\n",
	}
	names := []string{
		"a", "b", "c", "z", "A", "B", "1", "-", "]", "[", "!", "^", "#a", "!a", "a ", "a  ", "a\t", `a\`, `\a`, ".o", "a.o", "b.o", "ab", "abc", "aXb", "a\xff", "\xff", "ä", "aä", "a\r", "\ufeffa", "a\nb", "l", "d", "abd", "acd", " ",
	}
	deep := []string{
		"a/b/c", "a/x/b", "a/x/y/b", "a/ab", "a/b.o", "b/a/b", "x/a/b", "x/b", "x/y/b", "x/y/z", "a/b/a/b", "aa/b", "ab/c", "a/ b", "a/a", "b/b", "A/B", "c/a ", "a /b", "#a/b", "l/a.o", ".o/x", "1/a/1",
	}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string, n int) string {
		var b strings.Builder
		for range 1 + random.IntN(n) {
			b.WriteString(from[random.IntN(len(from))])
		}
		return b.String()
	}
	var others []string
	for range 150 {
		p := strings.Trim(path.Clean("/"+pick([]string{"a", "b", "ab", "/", "/", "x.", " "}, 9)), "/")
		if p != "" {
			others = append(others, p)
		}
	}
	worlds := []*world{makeWorld(t, names...), makeWorld(t, deep...), makeWorld(t, others...)}
	n, ignored := 0, 0
	check := func(patterns string, fold bool) {
		var config []string
		if fold {
			config = []string{"-c", "core.ignorecase=true"}
		}
		r := &rules{patterns: parsePatterns(patterns, fold)}
		for _, w := range worlds {
			want := w.ignored(t, patterns, config...)
			for _, p := range w.paths {
				if n++; want[p] {
					ignored++
				}
				if got := ignoredHere(r, p, w.dirs[p]); got != want[p] {
					t.Errorf("patterns %q, path %q, directory %v, fold %v: %v, git says %v", patterns, p, w.dirs[p], fold, got, want[p])
				}
			}
		}
	}
	for _, l := range lines {
		check(l, false)
	}
	for _, l := range []string{"A", "a", "[A-C]", "[[:upper:]]", "*.O", "X/**/B", "[!a]", "Ä", "[Z-a]", "[!A]", "[![:upper:]]", `\A`, "[[:lower:]]"} {
		check(l, true)
	}
	// Versions of git disagree about stars in a row beside a name, and "**" before
	// an escaped slash means something else than before a plain one.
	odd := regexp.MustCompile(`[^/]\*\*|\*\*[^/]|\\/`)
	for range 100 {
		var text []string
		for range 1 + random.IntN(4) {
			line := pick([]string{"a", "b", "/", "/", "*", "?", "[ab]", "[!a]", "**/", "/**", "/**/", `\`, "!", ".", " "}, 6)
			if !odd.MatchString(line) {
				text = append(text, line)
			}
		}
		check(strings.Join(text, "\n"), false)
	}
	if ignored < n/10 || ignored > n*9/10 {
		t.Errorf("%d of %d paths are ignored: the cases say too little", ignored, n)
	}
	t.Logf("%d paths, %d ignored", n, ignored)
}

// An agent can write ignore files.
func TestNoPatternTakesLong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 16_000)
	for _, line := range []string{
		strings.Repeat("*a", 8000) + "b", strings.Repeat("a*", 8000) + "b", strings.Repeat("**/a/", 4000) + "b", strings.Repeat("**/*a*/", 2000) + "b", strings.Repeat("[a-z]*", 3200) + "b", strings.Repeat("*", 16_000) + "b",
	} {
		patterns := parsePatterns(line, false)
		if len(patterns) != 1 {
			t.Fatalf("%.20q: %v", line, patterns)
		}
		for _, path := range []string{long, strings.Repeat("a/", 8000) + "a"} {
			if patience.Ends(t, line[:20], func() bool { return patterns[0].matches(path, path, false) }) {
				t.Errorf("%.20q matches", line)
			}
		}
	}
	if n := len(parsePatterns(strings.Repeat("a\n", maxPatterns+10), false)); n != maxPatterns {
		t.Error(n)
	}
}

func FuzzPatterns(f *testing.F) {
	for _, s := range []string{"a", "*.o\n!b.o", "[a-z]/**/b", "[[:alpha:]]", `\#`, "/a/\r\n"} {
		f.Add(s, "a/b.o", true)
	}
	f.Fuzz(func(t *testing.T, text, path string, fold bool) {
		if len(text)+len(path) > 1<<12 {
			return
		}
		r := &rules{patterns: parsePatterns(text, fold)}
		if got := r.ignore(path, false); got && len(r.patterns) == 0 {
			t.Fatal("ignored by nothing")
		}
		// A name is always ignored when it is written as a pattern, escaped.
		name := path[strings.LastIndexByte(path, '/')+1:]
		if name == "" || strings.ContainsAny(name, "\n\r\x00") || fold && lower(name) != name {
			return
		}
		var raw []byte
		for _, c := range []byte(name) {
			raw = append(raw, '\\', c)
		}
		r = &rules{patterns: parsePatterns(string(raw), fold)}
		if !r.ignore(path, false) {
			t.Fatalf("%q does not match %q", raw, path)
		}
	})
}
