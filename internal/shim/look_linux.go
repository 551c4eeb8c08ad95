//go:build amd64 || arm64

package shim

import (
	"errors"
	"io"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// status is what the system says of a file.
type status struct {
	identity
	mode  uint32
	links uint32
	mount uint64 // through which it was reached
}

func (s *status) kind() uint32 { return s.mode & unix.S_IFMT }

func (s *status) fileID() fileID { return fileID{s.dev, s.ino, s.mount} }

// stat returns the status of a name in a folder, or of a descriptor if name is "".
func stat(dir int, name string, flags int) (status, error) {
	var s unix.Statx_t
	err := unix.Statx(dir, name, flags|unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS|unix.STATX_MNT_ID, &s)
	ns := func(t unix.StatxTimestamp) int64 { return t.Sec*1e9 + int64(t.Nsec) }
	return status{identity{unix.Mkdev(s.Dev_major, s.Dev_minor), s.Ino, int64(s.Size), ns(s.Mtime), ns(s.Ctime)}, uint32(s.Mode), s.Nlink, s.Mnt_id}, err
}

// stat returns what is at a place; false if nothing is.
func (p *place) stat() (status, bool) {
	dir, name := p.dir, p.name
	if p.file >= 0 {
		dir, name = p.file, ""
	}
	s, err := stat(dir, name, unix.AT_SYMLINK_NOFOLLOW)
	return s, err == nil
}

// inode identifies a file, whatever its name is.
func (i identity) inode() [2]uint64 { return [2]uint64{i.dev, i.ino} }

// isFile reports whether two identities are of one file, changed or not.
func (i identity) isFile(j identity) bool { return i.inode() == j.inode() }

// see returns what is at a place, without its bytes.
func (p *place) see() *content {
	s, ok := p.stat()
	if !ok {
		return &content{absent: true}
	}
	return p.show(&s)
}

// first returns the content of a place when it was found. If it is called again, it
// returns the content of now, because the first may be old.
func (p *place) first() *content {
	if !p.fresh {
		return p.see()
	}
	p.fresh = false
	if p.found.mode == 0 {
		return &content{absent: true}
	}
	return p.show(&p.found)
}

// again finds what is at a place anew.
func (p *place) again() { p.found, _ = p.stat() }

// permissions are the bits of a mode that chmod changes.
const permissions = 0o7777

// show makes a content of a status that was found at a place.
func (p *place) show(s *status) *content {
	c := &content{size: s.size, mode: s.mode & permissions, id: s.identity}
	switch s.kind() {
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
		file := &heldFile{fd: fd}
		file.lost = runtime.AddCleanup(file, func(fd int) { unix.Close(fd) }, fd)
		seen.file = file
	} else if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM) {
		seen.fault = err
	}
	return seen
}

// heldFile is an open file that is read once. An os.File would ask the system twice
// whether it can be waited for.
type heldFile struct {
	fd   int
	lost runtime.Cleanup // nobody has read it
}

func (f *heldFile) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(f.fd, p)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (f *heldFile) Close() error {
	f.lost.Stop()
	return unix.Close(f.fd)
}

// look returns what is at a place. The bytes are read later.
func (p *place) look() *content { return p.hold(p.see(), nil, false) }

// lookAt returns what is at a path of this process.
func lookAt(path string) *content { return (&place{dir: unix.AT_FDCWD, name: path, file: -1}).look() }
