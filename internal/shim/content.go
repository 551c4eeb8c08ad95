package shim

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
)

// maxContent is the largest content that is kept, in bytes.
const maxContent = 16 << 20

// content is what a file is at a moment. The file is held open, so that its bytes
// can be read later: until somebody changes them in place.
type content struct {
	absent, dir, regular bool
	link                 string
	size                 int64
	mode                 uint32 // the permissions
	id                   identity

	once sync.Once
	file io.ReadCloser // nil once it is read, or if there is nothing to read
	data []byte        // until it is in the store
	hash store.Hash

	fault error // of this process, which kept the bytes from being read
}

// identity is what stays the same as long as a file is not touched.
type identity struct {
	dev, ino     uint64
	size         int64
	mtime, ctime int64 // ns
}

// read reads the bytes, unless they have been. It may be called by any goroutine.
func (c *content) read() {
	if c == nil {
		return
	}
	c.once.Do(func() {
		if c.file == nil {
			return
		}
		defer func() {
			c.file.Close()
			c.file = nil
		}()
		if c.size > maxContent {
			return
		}
		data := bytes.NewBuffer(make([]byte, 0, c.size+bytes.MinRead))
		if _, err := data.ReadFrom(io.LimitReader(c.file, maxContent+1)); err != nil || data.Len() > maxContent {
			c.fault = err
			return
		}
		c.data, c.size, c.hash = data.Bytes(), int64(data.Len()), store.HashOf(data.Bytes())
	})
}

// keep puts the bytes into a store and returns what an event says of them.
func (c *content) keep(st *store.Store) (*journal.Version, error) {
	if c == nil {
		return nil, nil
	}
	c.read()
	v := &journal.Version{Absent: c.absent, Dir: c.dir, Link: c.link, Size: c.size, Hash: c.hash}
	if c.regular {
		v.Mode = strconv.FormatUint(uint64(c.mode), 8)
	}
	if c.data == nil {
		return v, nil
	}
	_, err := st.Put(c.data)
	if err == nil {
		c.data = nil
	}
	return v, err
}

// unread returns an error if something of this process kept the bytes from being read.
func (c *content) unread() error {
	if c == nil || c.fault == nil {
		return nil
	}
	return fmt.Errorf("a file could not be read: %w", c.fault)
}

// sameBytes returns two contents that differ in their permissions, one of which may
// keep the bytes from being read.
func (c *content) sameBytes(d *content) (*content, *content) {
	c.read()
	d.read()
	with := func(c, other *content) *content {
		if !c.hash.IsZero() || other.hash.IsZero() || c.size > maxContent {
			return c
		}
		return &content{regular: c.regular, size: c.size, mode: c.mode, id: c.id, hash: other.hash}
	}
	return with(c, d), with(d, c)
}

// same reports whether two contents are known to be equal.
func (c *content) same(d *content) bool {
	if c == nil || d == nil {
		return false
	}
	c.read()
	d.read()
	return c.absent == d.absent && c.dir == d.dir && c.link == d.link && c.mode == d.mode && c.size == d.size && c.hash == d.hash && (c.absent || c.link != "" || !c.hash.IsZero())
}
