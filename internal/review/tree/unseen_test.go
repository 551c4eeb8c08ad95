package tree

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/hermes-nvim/hermes/internal/review/store"
)

func unseen(old, new *Snapshot) []string { return leftOut(&Snapshot{Left: Unseen(old, new)}) }

// A folder above the limit keeps what was last known of it, and is named.
func TestWhatASnapshotLeavesOutIsUnseen(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	makeFiles(t, root, map[string]string{"a": "1", "d/b": "2", "d/c": "3"})
	p := newProject(t, root, openStore(t, t.TempDir(), store.Options{}), Options{Limits: Limits{Files: 6, Depth: 2}})
	first := p.scan(t)
	expect(t, "nothing is hidden", unseen(first, p.scan(t)))

	for i := range 6 {
		makeFiles(t, root, map[string]string{"d/x" + strconv.Itoa(i): "x"})
	}
	makeFiles(t, root, map[string]string{"d/b": "changed"})
	crowded := p.scan(t)
	expect(t, "hidden", unseen(first, crowded), "d: too many files")
	expect(t, "hidden again", unseen(crowded, p.scan(t)), "d: too many files")
	kept := crowded.After(first)
	expect(t, "kept", paths(kept), "a", "d/b", "d/c")
	expect(t, "left out still", leftOut(kept), "d: too many files")

	for i := range 6 {
		must(t, os.Remove(filepath.Join(root, "d/x"+strconv.Itoa(i))))
	}
	must(t, os.Remove(filepath.Join(root, "d/c")))
	makeFiles(t, root, map[string]string{"d/new": "n"})
	again := p.scan(t)
	expect(t, "changes meanwhile", changes(kept, again), "d/b: content", "d/c: deleted")
	expect(t, "nobody knows since when", unseen(kept, again), "d: too many files")

	makeFiles(t, root, map[string]string{"d/e/f/g": "deep"})
	expect(t, "too deep", unseen(again, p.scan(t)), "d/e/f: too deep")
}
