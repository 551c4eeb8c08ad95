//go:build unix

package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// cache is what a disk has on its platters while a program writes: the bytes of
// a file that were there at its last flush, and the names of a directory that
// were there at its own.
type cache struct {
	gone  uint64                        // the inode that the step before removed
	files map[uint64]*file              // by inode
	names map[string]map[string]*target // of directories that were flushed, by path
}

type file struct{ bytes []byte }

// target is a file, or a directory if it has none.
type target struct{ file *file }

func inode(t *testing.T, path string) (uint64, bool) {
	t.Helper()
	info, err := os.Lstat(path)
	if os.IsNotExist(err) {
		return 0, false
	}
	must(t, err)
	return uint64(info.Sys().(*syscall.Stat_t).Ino), true
}

func (c *cache) file(t *testing.T, path string) *file {
	n, _ := inode(t, path)
	if c.files[n] == nil {
		c.files[n] = &file{}
	}
	return c.files[n]
}

// before follows a step of a store.
func (c *cache) before(t *testing.T, op, path string) {
	delete(c.files, c.gone) // its number is used again
	c.gone = 0
	switch op {
	case "flush":
		info, err := os.Stat(path)
		must(t, err)
		if !info.IsDir() {
			c.file(t, path).bytes, err = os.ReadFile(path)
			must(t, err)
			return
		}
		entries, err := os.ReadDir(path)
		must(t, err)
		names := make(map[string]*target)
		for _, e := range entries {
			names[e.Name()] = &target{}
			if !e.IsDir() {
				names[e.Name()].file = c.file(t, filepath.Join(path, e.Name()))
			}
		}
		c.names[path] = names
	case "rename", "remove":
		c.gone, _ = inode(t, path)
	}
}

// after makes the directory as it is after a power cut. With all, the names that
// were not flushed are there too, as file systems may write them first.
func (c *cache) after(t *testing.T, dir, to string, all bool) {
	names := c.names[dir]
	if all {
		entries, err := os.ReadDir(dir)
		must(t, err)
		names = make(map[string]*target)
		for _, e := range entries {
			names[e.Name()] = &target{}
			if !e.IsDir() {
				names[e.Name()].file = c.file(t, filepath.Join(dir, e.Name()))
			}
		}
	}
	must(t, os.MkdirAll(to, 0o700))
	for name, at := range names {
		if at.file == nil {
			c.after(t, filepath.Join(dir, name), filepath.Join(to, name), all)
			continue
		}
		must(t, os.WriteFile(filepath.Join(to, name), at.file.bytes, 0o600))
	}
}

// A real power cut cannot be had, so the test keeps what a disk must have at
// each step, and nothing else.
func TestAPowerCutLosesNothingThatWasSynced(t *testing.T) {
	t.Parallel()
	bothWays(t, aPowerCut)
}

func aPowerCut(t *testing.T, alone bool) {
	state := t.TempDir() // is there already
	dir := filepath.Join(state, "review", "x")
	disk := &cache{files: make(map[uint64]*file), names: make(map[string]map[string]*target)}
	c := script{opts: Options{alone: alone}}
	steps, blobs := 0, 0
	states := [][]string{nil} // that the journal had
	synced := 0               // the last one that must be there
	certain := map[string]bool{}
	check := func(all bool) {
		image := filepath.Join(t.TempDir(), "image")
		disk.after(t, state, image, all)
		what := fmt.Sprintf("step %d, all names: %v", steps, all)
		s, err := Open(filepath.Join(image, "review", "x"), Options{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		defer s.Close()
		if r := s.Recovered(); r != nil {
			t.Errorf("%s: %+v", what, r)
		}
		got := records(t, s)
		may := append(slices.Clone(states[synced:]), c.next)
		if !slices.ContainsFunc(may, func(want []string) bool { return slices.Equal(got, want) }) {
			t.Errorf("%s: records %q, want one of %q", what, got, may)
		}
		for text := range certain {
			if data, err := s.Get(HashOf([]byte(text))); err != nil || string(data) != text {
				t.Errorf("%s: blob %q: %v", what, text, err)
			}
			blobs++
		}
		for _, text := range []string{"first", dropped, "second", "third"} {
			if data, err := s.Get(HashOf([]byte(text))); err == nil && string(data) != text {
				t.Errorf("%s: blob %q is %q", what, text, data)
			}
		}
		if index := s.Cache("index"); index != nil && string(index) != "an index" {
			t.Errorf("%s: index %q", what, index)
		}
	}
	c.dir = dir
	c.opts.fault = func(op, path string) error {
		disk.before(t, op, path)
		if steps++; steps > 3 { // before that there is no directory
			check(false)
			check(true)
		}
		return nil
	}
	c.onDid = func(op string) {
		if !slices.Equal(states[len(states)-1], c.records) {
			states = append(states, slices.Clone(c.records))
		}
		c.next = c.records
		if op == "sync" || op == "compact" {
			synced = len(states) - 1
			for text := range c.blobs {
				certain[text] = true
			}
		}
		for text := range certain {
			if !c.blobs[text] { // pruned
				delete(certain, text)
			}
		}
	}
	must(t, c.run().Close())
	if len(c.errs) > 0 || steps < 50 || blobs < 50 || len(states) < 6 || synced < 5 {
		t.Errorf("%d steps, %d blobs, %d states, %d synced: %v", steps, blobs, len(states), synced, c.errs)
	}
}
