//go:build amd64 || arm64

package shim

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// stat returns what is at a place; false if nothing is.
func (p *place) stat() (s unix.Stat_t, ok bool) {
	if p.file >= 0 {
		return s, unix.Fstat(p.file, &s) == nil
	}
	return s, unix.Fstatat(p.dir, p.name, &s, unix.AT_SYMLINK_NOFOLLOW) == nil
}

func identityOf(s *unix.Stat_t) identity {
	return identity{uint64(s.Dev), s.Ino, s.Size, s.Mtim.Nano(), s.Ctim.Nano()}
}

// inode tells files apart, whatever their names are.
func (i identity) inode() [2]uint64 { return [2]uint64{i.dev, i.ino} }

// isFile reports whether two identities are of one file, changed or not.
func (i identity) isFile(j identity) bool { return i.inode() == j.inode() }

// see returns what is at a place, without its bytes.
func (p *place) see() *content {
	s, ok := p.stat()
	if !ok {
		return &content{absent: true}
	}
	c := &content{size: s.Size, id: identityOf(&s)}
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		c.dir, c.size = true, 0
	case unix.S_IFLNK:
		buf := make([]byte, unix.PathMax)
		if n, err := unix.Readlinkat(p.dir, p.name, buf); err == nil {
			c.link = string(buf[:n])
		}
	case unix.S_IFREG:
		c.regular = true
	}
	return c
}

// hold returns what was seen at a place, held open so that its bytes can be read
// later. If it is what was known of the file before, nothing has to be read again.
func (p *place) hold(seen, known *content, unchanged bool) *content {
	if unchanged {
		if known.read(); !known.hash.IsZero() {
			return known
		}
	}
	if !seen.regular {
		return seen
	}
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	fd, err := -1, error(nil)
	if p.file >= 0 {
		fd, err = unix.Open("/proc/self/fd/"+strconv.Itoa(p.file), flags&^unix.O_NOFOLLOW, 0)
	} else {
		fd, err = unix.Openat(p.dir, p.name, flags, 0)
	}
	if err == nil {
		seen.file = os.NewFile(uintptr(fd), p.name)
	}
	return seen
}

// look returns what is at a place. The bytes are read later.
func (p *place) look() *content { return p.hold(p.see(), nil, false) }

// lookAt returns what is at a path of this process.
func lookAt(path string) *content { return (&place{dir: unix.AT_FDCWD, name: path, file: -1}).look() }
