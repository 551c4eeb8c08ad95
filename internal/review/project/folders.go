package project

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/hermes-nvim/hermes/internal/review/tree"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// A folder that an agent has made for a file goes with the file, if nothing else
// is in it. A review knows no folders, so that is noted here.

const foldersCache = "folders"

func (p *Project) loadFolders() {
	var list []string
	json.Unmarshal(p.store.Cache(foldersCache), &list) // without it, empty folders stay
	p.made = make(map[string]bool, len(list))
	for _, dir := range list {
		p.made[dir] = true
	}
}

// foldersMade notes the folders that have come between two snapshots, because of
// an agent.
func (p *Project) foldersMade(last, now *tree.Snapshot) {
	if last == nil {
		return
	}
	p.noteFolders(func(made map[string]bool) {
		maps.DeleteFunc(made, func(dir string, _ bool) bool { return !hasDir(now, dir) })
		for _, dir := range now.Dirs {
			if _, left := last.LeftOut(dir); !left && !hasDir(last, dir) {
				made[dir] = true
			}
		}
	})
}

// noteFolders changes and stores what is known of folders.
func (p *Project) noteFolders(change func(made map[string]bool)) {
	p.mu.Lock()
	made := maps.Clone(p.made)
	change(made)
	same := maps.Equal(made, p.made)
	p.made = made
	p.mu.Unlock()
	if same {
		return
	}
	data, err := json.Marshal(slices.Sorted(maps.Keys(made)))
	if err == nil {
		err = p.store.Save(foldersCache, data)
	}
	p.failed("store which folders agents made", "", err)
}

func hasDir(s *tree.Snapshot, dir string) bool {
	_, ok := slices.BinarySearch(s.Dirs, dir)
	return ok
}

// isMade reports whether an agent has made a folder, as far as that is known: in a
// turn, whatever was not there when it began.
func (p *Project) isMade(dir string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.made[dir] || len(p.started) > 0 && p.coveredLocked(dir) && !hasDir(p.last, dir)
}

// makeFolders makes the folders of a file that comes back. They go again if it
// does.
func (p *Project) makeFolders(top *os.Root, name string) error {
	var missing []string
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, err := top.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, dir)
	}
	if len(missing) == 0 {
		return nil
	}
	if err := top.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	p.noteFolders(func(made map[string]bool) {
		for _, dir := range missing {
			made[dir] = true
		}
	})
	return nil
}

// removeFolders removes the folders that an agent made for a file which is gone,
// as far as they are empty.
func (p *Project) removeFolders(name string) {
	if isAbs(name) {
		return
	}
	top, err := os.OpenRoot(p.root)
	if err != nil {
		return
	}
	defer top.Close()
	isFile := func(name string) bool {
		_, current, known := p.review.Known(name)
		return known && current.Kind != review.Absent
	}
	for dir := path.Dir(name); dir != "." && p.isMade(dir) && !isFile(dir); dir = path.Dir(dir) {
		if info, err := top.Lstat(dir); err != nil || !info.IsDir() || top.Remove(dir) != nil {
			return
		}
	}
}

// reportedFolder notes a folder that an agent has made, if a journal says so.
func (p *Project) reportedFolder(r feed.Report) {
	if r.Phase == feed.Failed || p.vouch(r) == nil || p.vouchers[r.Producer].last.Op != journal.Mkdir {
		return
	}
	if name := p.Name(r.Path); !isAbs(name) {
		p.noteFolders(func(made map[string]bool) { made[name] = true })
	}
}
