package project

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/review"
)

// folders lists the folders below the root.
func (r *rig) folders() string {
	r.t.Helper()
	var list []string
	r.must(filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != r.root {
			name, _ := filepath.Rel(r.root, path)
			list = append(list, filepath.ToSlash(name))
		}
		return err
	}))
	return strings.Join(list, " ")
}

func (r *rig) reject(s review.Selection, editor func(review.Change) error) *review.Plan {
	r.t.Helper()
	plan, err := r.Reject(s, false)
	r.must(err)
	r.must(r.Apply(plan, editor))
	return plan
}

func TestAFolderThatAnAgentMadeForAFileGoesWithIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(r *rig) // the user
		agent  func(r *rig)
		inTurn bool // the user decides before the turn ends
		later  func(r *rig)
		want   string // folders after everything was rejected
	}{
		"made for it":         {agent: func(r *rig) { r.write("a/b/f", "x\n") }},
		"made in the turn":    {agent: func(r *rig) { r.write("a/b/f", "x\n") }, inTurn: true},
		"made for two":        {agent: func(r *rig) { r.write("a/f", "x\n", "a/b/g", "x\n") }},
		"of the user":         {before: func(r *rig) { r.write("a/u", "mine\n") }, agent: func(r *rig) { r.write("a/b/f", "x\n") }, want: "a"},
		"empty, of the user":  {before: func(r *rig) { r.must(os.MkdirAll(r.path("a/b"), 0o755)) }, agent: func(r *rig) { r.write("a/b/c/f", "x\n") }, want: "a a/b"},
		"the same in a turn":  {before: func(r *rig) { r.must(os.MkdirAll(r.path("a/b"), 0o755)) }, agent: func(r *rig) { r.write("a/b/c/f", "x\n") }, inTurn: true, want: "a a/b"},
		"with a user's file":  {agent: func(r *rig) { r.write("a/b/f", "x\n") }, later: func(r *rig) { r.write("a/u", "mine\n") }, want: "a"},
		"with an empty one":   {agent: func(r *rig) { r.write("a/f", "x\n") }, later: func(r *rig) { r.must(os.Mkdir(r.path("a/mine"), 0o755)) }, want: "a a/mine"},
		"of a deleted file":   {before: func(r *rig) { r.write("a/f", "x\n") }, agent: func(r *rig) { r.must(os.RemoveAll(r.path("a"))) }, want: "a"},
		"ignored by git":      {before: func(r *rig) { r.write(".gitignore", "out/\n") }, agent: func(r *rig) { r.Expect(r.path("out/f")); r.write("out/f", "x\n") }, want: "out"},
		"after the next turn": {agent: func(r *rig) { r.write("a/b/f", "x\n") }, later: func(r *rig) { r.ends(r.turn("s")) }},
		"after the program":   {agent: func(r *rig) { r.write("a/b/f", "x\n") }, later: func(r *rig) { r.reopen() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if c.before != nil {
				c.before(r)
			}
			a := r.turn("s")
			c.agent(r)
			if c.inTurn {
				r.look(tool(a, "1"), "a/b/f", "a/b/c/f")
			} else {
				r.look(tool(a, "1"), "out/f")
				r.ends(a)
			}
			if c.later != nil {
				c.later(r)
			}
			plan := r.reject(review.Selection{}, nil)
			if got := r.folders(); got != c.want {
				t.Fatalf("folders %q, must be %q", got, c.want)
			}
			again, err := r.Undo(plan.Decision)
			r.must(err)
			r.must(r.Apply(again, nil))
			if !c.inTurn {
				r.ends(r.turn("s"))
			}
			r.reject(review.Selection{}, nil)
			if got := r.folders(); got != c.want {
				t.Errorf("after undo and reject folders %q, must be %q", got, c.want)
			}
		})
	}
}

func TestAFolderGoesWithTheFileOfABuffer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.turn("s")
	r.write("a/b/f", "x\n")
	r.ends(a)
	r.must(r.Hold(r.path("a/b/f"), Text{Text: "x\n"}))
	r.reject(review.Selection{}, func(c review.Change) error { return os.Remove(r.path(c.Path)) })
	if got := r.folders(); got != "" {
		t.Errorf("folders %q", got)
	}
}

func TestAFileIsUnderOneReview(t *testing.T) {
	t.Parallel()
	r := newRig(t, "sub/f", "a\n", "f", "a\n", ".gitignore", "out/\n", "out/f", "a\n")
	for folder, want := range map[string]bool{"sub": true, "out": false, "gone": true, "../elsewhere": false, ".git": false} {
		if got := r.Covers(r.path(folder)); got != want {
			t.Errorf("covers %s: %t", folder, got)
		}
	}
	r.opts.Apart = []string{r.Path("sub"), r.Path("../elsewhere")}
	r.reopen()
	if r.Covers(r.Path("sub")) || r.Covers(r.Path("sub/below")) {
		t.Error("it covers a folder that is apart")
	}
	a := r.turn("s")
	r.write("sub/f", "b\n", "f", "b\n", "sub/new", "x\n")
	r.look(tool(a, "1"), "sub/f")
	r.must(r.Write(a, r.path("sub/f"), "c\n", func() error { return os.WriteFile(r.path("sub/f"), []byte("c\n"), 0o644) }))
	r.ends(a)
	r.is("f s disk? a>b")
	if got := r.Review().Paths(); slices.ContainsFunc(got, func(name string) bool { return strings.HasPrefix(name, "sub/") }) {
		t.Errorf("it knows %q", got)
	}
}
