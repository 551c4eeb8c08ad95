package patch

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/runtime/review"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T) *review.Review {
	t.Helper()
	s, err := store.Open(t.TempDir(), store.Options{Limits: store.Limits{Blob: 64 << 20}})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	r, err := review.Open(s, review.Options{})
	must(t, err)
	return r
}

func file(text string) review.State {
	return review.State{Kind: review.Regular, Text: text, Mode: 0o644}
}

func program(text string) review.State {
	return review.State{Kind: review.Regular, Text: text, Mode: 0o755}
}

func link(to string) review.State { return review.State{Kind: review.Link, Target: to} }

var absent review.State

func patchOf(t *testing.T, r *review.Review, paths ...string) string {
	t.Helper()
	var out bytes.Buffer
	must(t, Write(&out, r, paths...))
	return out.String()
}

// write makes files on the disk what states say.
func write(t *testing.T, dir string, files map[string]review.State) {
	t.Helper()
	for name, s := range files {
		path := filepath.Join(dir, name)
		if s.Kind == review.Absent {
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if s.Kind == review.Link {
			must(t, os.Symlink(s.Target, path))
		} else {
			must(t, os.WriteFile(path, []byte(s.Text), 0o600), os.Chmod(path, s.Mode))
		}
	}
}

// read returns what the files on the disk are, with the modes that git knows.
func read(t *testing.T, dir string) map[string]review.State {
	t.Helper()
	out := make(map[string]review.State)
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if d.Type() == os.ModeSymlink {
			to, err := os.Readlink(path)
			out[name] = link(to)
			return err
		}
		info, err1 := d.Info()
		text, err2 := os.ReadFile(path)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		out[name] = file(string(text))
		if info.Mode()&0o100 != 0 {
			out[name] = program(string(text))
		}
		return nil
	}))
	return out
}

func git(t *testing.T, dir, stdin string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s\n%s", strings.Join(args, " "), err, out, stdin)
	}
}

// applies checks with git that a patch makes one tree of another, and back.
func applies(t *testing.T, patch string, before, after map[string]review.State) {
	t.Helper()
	dir, wanted := t.TempDir(), t.TempDir()
	write(t, dir, before)
	write(t, wanted, after)
	old, want := read(t, dir), read(t, wanted)
	git(t, dir, patch, "apply", "--whitespace=nowarn", "-")
	same(t, patch, read(t, dir), want)
	git(t, dir, patch, "apply", "--whitespace=nowarn", "-R", "-")
	same(t, patch, read(t, dir), old)
}

func same(t *testing.T, patch string, got, want map[string]review.State) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Fatalf("%q is %.200q, want %.200q\n%s", name, fmt.Sprint(got[name]), fmt.Sprint(want[name]), patch)
		}
	}
	for name := range got {
		if want[name].Kind == review.Absent {
			t.Fatalf("%q is there\n%s", name, patch)
		}
	}
}

func numbers(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "%d\n", i)
	}
	return b.String()
}

func TestGitMakesTheTreeThatTheAgentMade(t *testing.T) {
	t.Parallel()
	large := strings.Repeat(strings.Repeat("x", 1000)+"\n", 5000)
	before, after := map[string]review.State{}, map[string]review.State{}
	for i, c := range []struct{ before, after review.State }{
		{file("one\ntwo\nthree\n"), file("one\n2\nthree\nfour\n")},
		{file(numbers(0, 100)), file("new\n" + numbers(0, 10) + "x\n" + numbers(12, 17) + "y\n" + numbers(17, 60) + numbers(61, 100) + "end")},
		{file("one"), file("one\n")},
		{file("one\n"), file("one")},
		{file("one\r\ntwo\r\n"), file("one\r\n2\r\nlast")},
		{file("\ufeffone\n"), file("one\n")},
		{file("\xff\xfe\x80\n\n"), file("\xff\xfe\x81\n \n")},
		{absent, file("new\n")},
		{absent, file("")},
		{absent, program("#!/bin/sh\n")},
		{absent, link("0")},
		{absent, file("\x00binary")},
		{file("gone\nfile"), absent},
		{file(""), absent},
		{program("gone"), absent},
		{link("away"), absent},
		{file("\x00\x01\x02"), absent},
		{file(""), file("text\n")},
		{file("text\n"), file("")},
		{file("text\n"), program("text\n")},
		{program("text\n"), file("other\n")},
		{link("a"), link("b/c")},
		{file("text\n"), link("target")},
		{link("target"), program("text\n")},
		{file("\x00binary"), file("text now\n")},
		{file("text\n"), file("\x00" + strings.Repeat("binary", 5000))},
		{file("\x00\x01"), program("\x00\x02")},
		{file(large + "old\n" + large), file(large + "new\n" + large)}, // the review has no lines of it
		{file("a b\n"), file("--- a/x\n+++ b/x\n@@ -1 +1 @@\n\\ No newline\ndiff --git a/y b/y\n")},
	} {
		name := fmt.Sprintf("d/%02d", i)
		before[name], after[name] = c.before, c.after
	}
	for i, name := range []string{"a b", "tab\there", "line\nfeed", `quote"and\slash`, "ünïcode", "\u202ertl\u200b", "--- a", "a/b/ c /d", " ", "\x1b]0;evil\a", "-"} {
		before[name], after[name] = file(numbers(0, i+1)), file(numbers(1, i+3))
	}
	r := open(t)
	for name, s := range before {
		must(t, r.Changed(review.Author{Session: "s", Source: "write"}, name, &s, after[name]))
	}
	patch := patchOf(t, r)
	if len(patch) > 100_000 {
		t.Errorf("%d bytes", len(patch))
	}
	applies(t, patch, before, after)
	for _, c := range patch {
		if unicode.IsControl(c) && !strings.ContainsRune("\n\r\t", c) || unicode.In(c, unicode.Bidi_Control) {
			t.Errorf("%U is not escaped", c)
		}
	}
}

// Two sessions and the user change files in turns, and the user decides some hunks.
func TestGitMakesTheCurrentTreeOfTheBaseWhateverHappened(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		text := func() string {
			var b strings.Builder
			for range rng.IntN(30) {
				b.WriteString([]string{"a", "b", "", "c\r", "\xff", "long line", "x"}[rng.IntN(7)] + "\n")
			}
			if rng.IntN(4) == 0 {
				b.WriteString("ragged")
			}
			return b.String()
		}
		r := open(t)
		names := []string{"a", "b/c", "d e"}
		for _, name := range names {
			must(t, r.Track(name, file(text())))
		}
		for range 12 {
			name := names[rng.IntN(len(names))]
			_, now, _ := r.Known(name)
			lines := split(now.Text)
			start := rng.IntN(len(lines) + 1)
			end := start + rng.IntN(min(4, len(lines)-start+1))
			edited := file(strings.Join(lines[:start], "") + strings.TrimSuffix(text(), "ragged") + strings.Join(lines[end:], ""))
			switch rng.IntN(8) {
			case 0:
				must(t, r.Wrote(name, edited, false))
			case 1:
				must(t, r.Changed(review.Author{Session: "one", Source: "write"}, name, nil, absent))
			case 2:
				if hunks := r.Hunks(name); len(hunks) > 0 {
					_, err := r.Accept(review.Selection{Hunk: hunks[rng.IntN(len(hunks))].ID})
					must(t, err)
				}
			default:
				author := review.Author{Session: []string{"one", "two"}[rng.IntN(2)], Source: "write"}
				must(t, r.Changed(author, name, nil, edited))
			}
		}
		before, after := map[string]review.State{}, map[string]review.State{}
		for _, name := range names {
			before[name], after[name], _ = r.Known(name)
			if len(r.Hunks(name)) == 0 && before[name] != after[name] {
				t.Fatalf("seed %d: %s has no hunks", seed, name)
			}
		}
		if patch := patchOf(t, r); strings.Contains(patch, "diff") {
			applies(t, patch, before, after)
		}
		// A plan shows what it would do.
		plan, err := r.Reject(review.Selection{}, true)
		if errors.Is(err, review.ErrNothing) {
			continue
		}
		must(t, err)
		var b strings.Builder
		for _, c := range plan.Changes {
			must(t, Change(&b, c))
			before[c.Path] = c.After
		}
		if b.Len() > 0 {
			applies(t, b.String(), after, before)
		}
	}
}

func TestAuthorsAreNamedBeforeTheFileAndNumberedAtTheHunks(t *testing.T) {
	t.Parallel()
	r := open(t)
	base := file(numbers(0, 40))
	first := review.Author{Session: "s1", Turn: "1", ToolCall: "call", Source: "tool"}
	must(t, r.Changed(first, "list", &base, file("top\n"+numbers(0, 40))))
	evil := review.Author{Session: "two\ndiff --git a/x b/x\x1b", Source: "disk", Inferred: true}
	must(t, r.Changed(evil, "list", nil, file("top\n"+numbers(0, 39)+"last\n")))
	outside := file("")
	must(t, r.Changed(first, "/etc/hosts", &outside, file("x\n")))
	secret := review.State{Kind: review.Regular, Text: "k\n", Mode: 0o600}
	must(t, r.Changed(first, "mode", &secret, file("k\n")))
	const want = `# /etc/hosts: changed, +1 -0
# [1] session s1, turn 1, tool call call, source tool, exact
# not in this patch: the file is outside of the project
# list: changed, +2 -1
# [1] session s1, turn 1, tool call call, source tool, exact
# [2] session "two\ndiff --git a/x b/x\x1b", source disk, inferred
diff --git a/list b/list
index d190e77d4cdb1b9fdef4cba9e54c57c75d7aaccc..NEW 100644
--- a/list
+++ b/list
@@ -1,3 +1,4 @@ [1]
+top
 0
 1
 2
@@ -37,4 +38,4 @@ [2]
 36
 37
 38
-39
+last
# mode: changed
# [1] session s1, turn 1, tool call call, source tool, exact
# not in this patch: its permissions, which were 0600 and are 0644
`
	got := patchOf(t, r)
	_, current, _ := r.Known("list")
	base, _, _ = r.Known("list")
	expected := strings.NewReplacer("NEW", blob(current), "d190e77d4cdb1b9fdef4cba9e54c57c75d7aaccc", blob(base)).Replace(want)
	if got != expected {
		t.Errorf("%s\nwant\n%s", got, expected)
	}
	if only := patchOf(t, r, "mode"); !strings.HasPrefix(got[len(got)-len(only):], "# mode") || strings.Contains(only, "list") {
		t.Error(only)
	}
	must(t, func() error { _, err := r.Accept(review.Selection{}); return err }())
	if rest := patchOf(t, r); rest != "" {
		t.Error(rest)
	}
}

func TestANameIsThatOfGit(t *testing.T) {
	t.Parallel()
	if s := blob(file("hello\n")); s != "ce013625030ba8dba906f756967f9e9ca394464a" {
		t.Error(s)
	}
}
