package project

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/review"
)

func (r *rig) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// contents lists everything below folders, with its bytes.
func contents(t *testing.T, folders ...string) string {
	t.Helper()
	var b strings.Builder
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			text, err := os.ReadFile(path)
			fmt.Fprintln(&b, path, info.Mode(), info.ModTime(), sha256.Sum256(text))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// A review works in a folder of git, whatever state it is in, and touches nothing of
// git: not the index, not HEAD, no object.
func TestAReviewLeavesGitAlone(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(r *rig) (git []string){
		"without git":  func(r *rig) []string { return nil },
		"without HEAD": func(r *rig) []string { r.git("init", "-q"); return []string{r.path(".git")} },
		"staged":       func(r *rig) []string { r.git("init", "-q"); r.git("add", "f"); return []string{r.path(".git")} },
		"detached HEAD": func(r *rig) []string {
			r.git("init", "-q")
			r.git("add", ".")
			r.git("commit", "-q", "-m", "x")
			r.git("checkout", "-q", "--detach")
			return []string{r.path(".git")}
		},
		"in the middle of a merge": func(r *rig) []string {
			r.git("init", "-q", "-b", "one")
			r.git("add", ".")
			r.git("commit", "-q", "-m", "x")
			r.git("checkout", "-q", "-b", "two")
			r.write("f", "two\n")
			r.git("commit", "-q", "-a", "-m", "two")
			r.git("checkout", "-q", "one")
			r.git("merge", "-q", "--no-commit", "--no-ff", "two")
			return []string{r.path(".git")}
		},
		"a work tree": func(r *rig) []string {
			main := filepath.Join(filepath.Dir(r.root), "main")
			r.git("init", "-q", main)
			r.git("-C", main, "commit", "-q", "--allow-empty", "-m", "x")
			r.must(os.RemoveAll(r.root))
			cmd := exec.Command("git", "-C", main, "worktree", "add", "-q", r.root)
			if out, err := cmd.CombinedOutput(); err != nil {
				r.t.Fatalf("%v\n%s", err, out)
			}
			r.write("f", "a\nb\nc\n", "user", "1\n")
			return []string{filepath.Join(main, ".git"), r.path(".git")}
		},
		"a submodule": func(r *rig) []string {
			other := filepath.Join(filepath.Dir(r.root), "other")
			r.git("init", "-q", other)
			r.git("-C", other, "commit", "-q", "--allow-empty", "-m", "x")
			r.git("init", "-q")
			r.git("submodule", "--quiet", "add", other, "sub")
			return []string{r.path(".git"), r.path("sub/.git")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "f", "a\nb\nc\n", "user", "1\n")
			r.must(r.Close())
			git := prepare(r)
			r.write("f", "a\nb\nc\n")
			before := contents(t, git...)
			r.open()
			a := r.turn("s")
			r.write("f", "A\nb\nC\n", "sub/new", "n\n")
			r.ends(a)
			hunks := r.Review().Hunks("f")
			if _, err := r.Review().Accept(review.Selection{Hunk: hunks[0].ID}); err != nil {
				t.Fatal(err)
			}
			plan := r.reject(review.Selection{}, nil)
			if got := r.disk("f").Text; got != "A\nb\nc\n" {
				t.Errorf("after reject %q", got)
			}
			again, err := r.Undo(plan.Decision)
			r.must(err)
			r.must(r.Apply(again, nil))
			for _, everything := range []bool{false, true} {
				r.ends(r.turn("s"))
				tree := contents(t, r.root)
				back, err := r.Restore(t.Context(), "1", RestoreOptions{Everything: everything})
				r.must(err)
				if now := contents(t, r.root); now != tree {
					t.Errorf("to plan a restore changes files:\n%s\n%s", now, tree)
				}
				r.must(r.Apply(back, nil))
				if got := r.disk("f").Text + r.disk("sub/new").Text; got != "a\nb\nc\n" {
					t.Errorf("after restore %q", got)
				}
				again, err := r.Undo(back.Decision)
				if everything { // bytes have no decision to undo, but a checkpoint
					points := r.Review().Checkpoints()
					again, err = r.Restore(t.Context(), points[len(points)-1].ID, RestoreOptions{Everything: true})
				}
				r.must(err)
				r.must(r.Apply(again, nil))
				if got := r.disk("f").Text + r.disk("sub/new").Text; got != "A\nb\nC\nn\n" {
					t.Errorf("and back %q", got)
				}
			}
			r.must(r.Close())
			if after := contents(t, git...); after != before {
				t.Errorf("git has\n%s\nand had\n%s", after, before)
			}
		})
	}
}

// No name of a file is a command, an option or a pattern.
func TestAnyNameIsAName(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("most of these are no names here")
	}
	names := []string{
		"a b", " begins", "ends ", "it's", `"quoted"`, "$HOME", "$(touch made)", "`touch made`", "a;touch made", "a|b", "a&b", "new\nline", "tab\there",
		"-rf", "--help", "*", "?", "[a]", "~", "!x", "#x", "%41", "%", "ünïcode 文", "e\u0301", "\u202eevil", "con", "...", "{a,b}", "a\\b",
	}
	var files []string
	for _, name := range names {
		files = append(files, name, "old\n", "in "+name+"/"+name, "old\n")
	}
	r := newRig(t, files...)
	a := r.turn("s")
	for i := 0; i < len(files); i += 2 {
		r.write(files[i], "new\n")
	}
	for i := 0; i < len(names); i += 2 {
		r.Look(tool(a, names[i]), Told{Path: r.path(names[i])})
	}
	r.ends(a)
	if n := len(r.Review().Files()); n != 2*len(names) {
		t.Errorf("%d files are under review, not %d", n, 2*len(names))
	}
	tree := func(want string) {
		t.Helper()
		for i := 0; i < len(files); i += 2 {
			if got := r.disk(files[i]).Text; got != want {
				t.Errorf("%q is %q, must be %q", files[i], got, want)
			}
		}
	}
	var decisions []uint32
	for _, f := range r.Review().Files() {
		decisions = append(decisions, r.reject(review.Selection{Path: f.Path}, nil).Decision)
	}
	tree("old\n")
	for _, d := range decisions {
		plan, err := r.Undo(d)
		r.must(err)
		r.must(r.Apply(plan, nil))
	}
	tree("new\n")
	r.reopen()
	plan, err := r.Restore(t.Context(), "1", RestoreOptions{Everything: true})
	r.must(err)
	r.must(r.Apply(plan, nil))
	tree("old\n")
	if s := r.disk("made"); s.Kind != review.Absent {
		t.Error("a name was run as a command")
	}
}

// Checkpoints, decisions and contents within one second stay apart.
func TestWhatHappensInTheSameSecondStaysApart(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "0\n")
	const turns = 12
	for i := range turns {
		a := r.turn("s")
		r.write("f", fmt.Sprintln(i+1))
		r.ends(a)
	}
	points := r.Review().Checkpoints()
	if len(points) != turns {
		t.Fatalf("%d checkpoints", len(points))
	}
	if points[turns-1].At.Sub(points[0].At) > 10_000_000_000 {
		t.Log("the machine is slow: this took more than a second")
	}
	seen := map[string]bool{}
	for i := turns - 1; i >= 0; i-- {
		if seen[points[i].ID] {
			t.Errorf("two checkpoints are %s", points[i].ID)
		}
		seen[points[i].ID] = true
		plan, err := r.Restore(t.Context(), points[i].ID, RestoreOptions{Everything: true})
		r.must(err)
		r.must(r.Apply(plan, nil))
		if got, want := r.disk("f").Text, fmt.Sprintln(i); got != want {
			t.Errorf("checkpoint %s has %q, not %q", points[i].ID, got, want)
		}
	}
	if n := len(r.Review().Checkpoints()); n != 2*turns {
		t.Errorf("%d checkpoints in the end", n)
	}
}
