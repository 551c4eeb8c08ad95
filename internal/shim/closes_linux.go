//go:build amd64 || arm64

package shim

import (
	"bytes"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/pathname"
)

// closes learns when files that were open for writing are closed, however that
// happens. Folders are watched from the first open in them on.
type closes struct {
	fd   int
	dirs map[int32]string
	ids  map[string]int32
	buf  [1 << 16]byte
}

func newCloses() (*closes, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	return &closes{fd: fd, dirs: make(map[int32]string), ids: make(map[string]int32)}, err
}

// watch watches a folder, which is at a path.
func (c *closes) watch(dir, at string) error {
	if _, ok := c.ids[dir]; ok {
		return nil
	}
	id, err := unix.InotifyAddWatch(c.fd, at, unix.IN_CLOSE_WRITE|unix.IN_ONLYDIR)
	if err != nil {
		return err
	}
	if old, ok := c.dirs[int32(id)]; ok {
		delete(c.ids, old) // it was moved
	}
	c.dirs[int32(id)], c.ids[dir] = dir, int32(id)
	return nil
}

// moved follows a folder, with those in it, to its new name.
func (c *closes) moved(from, to string) {
	for id, dir := range c.dirs {
		if pathname.Within(from, dir) {
			delete(c.ids, dir)
			dir = to + strings.TrimPrefix(dir, from)
			c.dirs[id], c.ids[dir] = dir, id
		}
	}
}

// drain calls closed for each file that was closed until now. It reports whether
// some of them are not known.
func (c *closes) drain(closed func(path string)) (lost bool) {
	for {
		n, err := unix.Read(c.fd, c.buf[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return lost
		}
		for at := 0; at+unix.SizeofInotifyEvent <= n; {
			e := (*unix.InotifyEvent)(unsafe.Pointer(&c.buf[at]))
			at += unix.SizeofInotifyEvent
			name := string(bytes.TrimRight(c.buf[at:at+int(e.Len)], "\x00"))
			at += int(e.Len)
			dir, ok := c.dirs[e.Wd]
			switch {
			case e.Mask&unix.IN_Q_OVERFLOW != 0:
				lost = true
			case !ok:
			case e.Mask&unix.IN_IGNORED != 0:
				delete(c.dirs, e.Wd)
				if c.ids[dir] == e.Wd {
					delete(c.ids, dir)
				}
			case e.Mask&unix.IN_CLOSE_WRITE != 0:
				closed(filepath.Join(dir, name))
			}
		}
		if n < len(c.buf)-unix.SizeofInotifyEvent-unix.NAME_MAX-1 {
			return lost // one more would have had room
		}
	}
}
