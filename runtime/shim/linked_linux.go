//go:build amd64 || arm64

package shim

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// A file of the project may have had another name, outside of it, before the program started. What
// changes it by that name is not followed, because the folder there is not watched. So it is
// counted and named.

// maxLinked is how many files of the project are looked at to find one.
const maxLinked = 100_000

var errMany = errors.New("too many files")

// noticeOtherName names a file of the project that an operation changes by a name outside of it.
func (s *supervisor) noticeOtherName(o *operation) {
	if !o.writes() && !(o.opens() && o.flags&unix.O_TRUNC != 0) && o.verb != truncate && o.verb != chmod {
		return
	}
	file, exists := o.target.stat()
	if !exists || file.kind() != unix.S_IFREG || file.links < 2 {
		return
	}
	name, err := s.projectName(file.inode())
	switch {
	case err != nil:
		s.unseen(int(o.tid), o.target.path+" may be another name of a file of the project, which has more than "+strconv.Itoa(maxLinked)+" files")
	case name != "":
		s.unseen(int(o.tid), name+" may be changed by another name, "+o.target.path+", which is outside of the project")
	}
}

// projectName returns a path in the project of a file, or "".
func (s *supervisor) projectName(inode [2]uint64) (name string, err error) {
	root, err := stat(unix.AT_FDCWD, s.config.Root, 0)
	if err != nil || root.dev != inode[0] {
		return "", nil // no file has names on two devices
	}
	if name, known := s.linked[inode]; known {
		return name, nil
	}
	n := 0
	err = filepath.WalkDir(s.config.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if n++; n > maxLinked {
			return errMany
		}
		if d.IsDir() && path != s.config.Root && !s.inside(path+"/") {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		if st, err := stat(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW); err == nil && st.links > 1 && st.inode() == inode && s.inside(path) {
			name = path
			return fs.SkipAll
		}
		return nil
	})
	if len(s.linked) >= maxHeld {
		clear(s.linked)
	}
	if err == nil {
		s.linked[inode] = name
	}
	return name, err
}
