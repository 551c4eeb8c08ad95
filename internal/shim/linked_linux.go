//go:build amd64 || arm64

package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// A file of the project may have had another name, outside of it, before the program started, and
// its folder may be in a mount that has no place. Changes there are not followed, because nothing
// there is watched. So they are counted and named.

// maxLinked is how many files of the project are looked at to find one.
const maxLinked = 100_000

var errMany = errors.New("too many files")

// noticeOtherName names a file of the project that an operation changes by a name outside of it.
func (s *supervisor) noticeOtherName(o *operation) {
	places := []*place{&o.target}
	if o.verb == rename {
		places = append(places, o.other)
	}
	for _, p := range places {
		by := "by another name, " + p.path + ", which is outside of the project"
		if p.path == "" {
			by = "in a mount that cannot be reached from here"
		}
		switch name, err := s.nameOf(o, p); {
		case err != nil:
			s.unseen(int(o.tid), "a file may be changed "+by+"; the project has more than "+strconv.Itoa(maxLinked)+" files, so it is not known whether it is one of them")
			return
		case name != "":
			s.unseen(int(o.tid), name+" may be changed "+by)
			return
		}
	}
}

// byItsName makes an operation that changes a file of the project by a name outside of it one of
// the file by its name in the project, so that it is asked about and followed.
func (s *supervisor) byItsName(o *operation) error {
	p := &o.target
	if p.path == "" || s.inside(p.path) {
		return nil
	}
	name, err := s.nameOf(o, p)
	if err != nil {
		return fmt.Errorf("it may be a file of the project by another name: %w", err)
	}
	if name == "" {
		return nil
	}
	dir, err := unix.Open(s.resolver.reach(filepath.Dir(name)), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	here := place{dir: dir, name: filepath.Base(name), file: -1, path: name}
	if found, ok := here.stat(); !ok || !found.isFile(p.found.identity) {
		unix.Close(dir)
		return errors.New("a file of the project has another name now: " + name)
	}
	p.close()
	o.target = here
	return nil
}

// nameOf returns the path in the project of what an operation changes at a place that is outside,
// or "".
func (s *supervisor) nameOf(o *operation, p *place) (string, error) {
	unreachable := p.path == ""
	if unreachable && p.file < 0 {
		folder, err := stat(p.dir, "", 0)
		if err != nil {
			return "", nil
		}
		name, err := s.projectName(folder.inode(), false)
		if name = filepath.Join(name, p.name); err != nil || !s.inside(name) {
			return "", err
		}
		return name, nil
	}
	inPlace := o.writes() || o.opens() && o.flags&unix.O_TRUNC != 0 || o.verb == truncate || o.verb == chmod
	file, exists := p.stat()
	if !inPlace || !exists || file.kind() != unix.S_IFREG || file.links < 2 && !(unreachable && file.links == 1) {
		return "", nil // a name of its own is removed, or there is no other one
	}
	return s.projectName(file.inode(), file.links > 1)
}

// projectName returns the path in the project of a file or a folder, or "". listed says that it is
// a file with several names: those are listed once, until one gets a name in the project.
func (s *supervisor) projectName(inode [2]uint64, listed bool) (name string, err error) {
	root, err := stat(unix.AT_FDCWD, s.config.Root, 0)
	if err != nil || root.dev != inode[0] {
		return "", nil // no file has names on two devices
	}
	if s.many {
		return "", errMany
	}
	if listed && s.linked != nil {
		name, known := s.linked[inode]
		if st, err := stat(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW); !known || err == nil && st.inode() == inode {
			return name, nil
		}
	}
	n, linked := 0, make(map[[2]uint64]string)
	err = filepath.WalkDir(s.config.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if n++; n > maxLinked {
			return errMany
		}
		if path != s.config.Root && !s.inside(path) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		st, err := stat(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW)
		if err != nil {
			return nil
		}
		if st.inode() == inode {
			name = path
		}
		if st.kind() == unix.S_IFREG && st.links > 1 {
			linked[st.inode()] = path
		}
		return nil
	})
	if err != nil {
		s.many = true
		return "", err
	}
	s.linked = linked
	return name, nil
}
