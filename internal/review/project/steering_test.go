package project

import (
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// Files that git obeys are not under review, so a change of them by an agent is
// reported.
func TestAChangeOfWhatGitObeysIsNamed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ path, want string }{
		{".git/config", ".git/config"},
		{".git/hooks/pre-commit", ".git/hooks"},
		{".git/info/exclude", ".git/info"},
		{".git/commondir", ".git/commondir"},
		{".git", ".git"},
		{"sub/.git/hooks/x", "sub/.git/hooks"},
		{"sub/.GIT/config", "sub/.GIT/config"},
		{".git/modules/a/config", ".git/modules"},
		{".git/index", ""},
		{".git/index.lock", ""},
		{".git/HEAD", ""},
		{".git/refs/heads/main", ""},
		{".git/objects/aa/bb", ""},
		{".git/logs/HEAD", ""},
		{".gitignore", ""},
		{"a", ""},
	} {
		for _, how := range []string{"report", "rename", "pre", "write"} {
			t.Run(test.path+", "+how, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, "a", "a\n")
				var mu sync.Mutex
				var said []string
				r.opts.OnUnseen = func(a review.Author, u Unrecorded) {
					mu.Lock()
					defer mu.Unlock()
					said = append(said, a.Session+": "+u.Reason)
				}
				r.reopen()
				path := r.path(test.path)
				switch how {
				case "write":
					r.must(r.Write(review.Author{Session: "s"}, path, "x\n", func() error { return nil }))
				case "rename":
					r.tell()(feed.Report{Kind: feed.Rename, From: r.path("b"), Path: path, Author: review.Author{Session: "s"}})
				case "pre":
					r.tell()(feed.Report{Kind: feed.Write, Phase: feed.Pre, Path: path, Author: review.Author{Session: "s"}})
				default:
					r.tell()(feed.Report{Kind: feed.Write, Path: path, Author: review.Author{Session: "s"}})
				}
				mu.Lock()
				defer mu.Unlock()
				var want []string
				if test.want != "" && how != "pre" {
					want = []string{"s: what git obeys is not under review, and " + test.want + " was changed"}
				}
				if !slices.Equal(said, want) {
					t.Errorf("%q, want %q", said, want)
				}
				if _, err := os.Stat(path); test.path != "a" && err == nil {
					t.Error("the test changes files")
				}
			})
		}
	}
}

// Agents also change it where nothing reports: what a look finds is named, once.
func TestALookFindsWhatGitObeysNow(t *testing.T) {
	t.Parallel()
	git := []string{".git/HEAD", "ref: refs/heads/main\n", ".git/config", "[core]\n", ".git/hooks/old", "a\n", ".git/info/exclude", "a\n", "sub/a", "a\n"}
	for name, test := range map[string]struct {
		change func(r *rig)
		want   []string
	}{
		"a hook":                  {func(r *rig) { r.write(".git/hooks/pre-commit", "x") }, []string{".git/hooks"}},
		"a hook that was there":   {func(r *rig) { r.write(".git/hooks/old", "x") }, []string{".git/hooks"}},
		"a hook that can run now": {func(r *rig) { r.must(os.Chmod(r.path(".git/hooks/old"), 0o755)) }, []string{".git/hooks"}},
		"a hook that is gone":     {func(r *rig) { r.must(os.Remove(r.path(".git/hooks/old"))) }, []string{".git/hooks"}},
		"two hooks":               {func(r *rig) { r.write(".git/hooks/a", "x", ".git/hooks/b", "x") }, []string{".git/hooks"}},
		"a sample":                {func(r *rig) { r.write(".git/hooks/a.sample", "x") }, nil},
		"a setting":               {func(r *rig) { r.write(".git/config", "[core]\nfsmonitor = x\n") }, []string{".git/config"}},
		"the same setting":        {func(r *rig) { r.write(".git/config", "[core]\n") }, nil},
		"what is ignored":         {func(r *rig) { r.write(".git/info/exclude", "*\n") }, []string{".git/info"}},
		"another folder":          {func(r *rig) { r.write(".git/commondir", "../other\n") }, []string{".git/commondir", ".git/config", ".git/hooks", ".git/info"}},
		"another repository":      {func(r *rig) { r.must(os.Rename(r.path(".git"), r.path("x"))); r.write(".git", "gitdir: x\n") }, []string{".git"}},
		"no repository any more":  {func(r *rig) { r.must(os.RemoveAll(r.path(".git"))) }, []string{".git"}},
		"a repository of its own": {func(r *rig) { r.write("sub/.git/HEAD", "ref: refs/heads/main\n") }, nil},
		"an empty folder":         {func(r *rig) { r.must(os.Mkdir(r.path("sub/.git"), 0o755)) }, nil}, // of a sandbox
		"a commit": {func(r *rig) {
			r.write(".git/HEAD", "x\n", ".git/index", "x", ".git/COMMIT_EDITMSG", "x", ".git/refs/heads/b", "x")
		}, nil},
	} {
		for _, root := range []string{"the project", "above it"} {
			t.Run(name+", "+root, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, git...)
				r.must(r.Close())
				inside := &rig{t: t, root: r.root, state: r.state, opts: r.opts}
				if root == "above it" {
					inside.root, inside.state = r.path("sub"), r.state+"2"
				}
				var mu sync.Mutex
				var said []string
				inside.opts.OnUnseen = func(a review.Author, u Unrecorded) {
					mu.Lock()
					defer mu.Unlock()
					said = append(said, a.Session+": "+u.Reason)
				}
				inside.open()
				inside.must(inside.Prompt(t.Context(), "s", "1", ""))
				test.change(r)
				inside.Scan(review.Author{Session: "s"})
				inside.Scan(review.Author{Session: "s"})
				inside.TurnEnded(review.Author{Session: "s", Turn: "1"})
				inside.wait()
				if _, err := os.Stat(r.path(".git/hooks")); err == nil {
					r.write(".git/hooks/mine", "x") // the user's
				}
				inside.must(inside.Prompt(t.Context(), "s", "2", ""))
				inside.TurnEnded(review.Author{Session: "s", Turn: "2"})
				inside.wait()
				mu.Lock()
				defer mu.Unlock()
				whats := test.want
				if root == "above it" && name == "a repository of its own" {
					whats = []string{".git"}
				}
				var want []string
				for _, what := range whats {
					want = append(want, "s: what git obeys is not under review, and "+what+" was changed")
				}
				if !slices.Equal(said, want) {
					t.Errorf("%q, want %q", said, want)
				}
			})
		}
	}
}
