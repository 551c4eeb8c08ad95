package store

import (
	"errors"
	"io/fs"
	"os"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// disk is every change that a store makes to the file system, one step at a
// time.
type disk struct {
	// fault makes steps fail in tests. It is called before each step. If it
	// returns a *shortWrite, a write first writes some of its bytes.
	fault func(op, path string) error
}

type shortWrite struct {
	n   int
	err error
}

func (e *shortWrite) Error() string { return e.err.Error() }
func (e *shortWrite) Unwrap() error { return e.err }

func (d disk) before(op, path string) error {
	if d.fault == nil {
		return nil
	}
	return d.fault(op, path)
}

func (d disk) create(path string, flag int) (*os.File, error) {
	if err := d.before("create", path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|flag, fileMode)
}

func (d disk) mkdir(path string) error {
	if err := d.before("make directory", path); err != nil {
		return err
	}
	return os.Mkdir(path, dirMode)
}

func (d disk) writeAt(f *os.File, data []byte, at int64) error {
	err := d.before("write", f.Name())
	var short *shortWrite
	if errors.As(err, &short) {
		data = data[:min(short.n, len(data))]
	} else if err != nil {
		return err
	}
	if _, wrote := f.WriteAt(data, at); wrote != nil {
		return wrote
	}
	return err
}

func (d disk) truncate(f *os.File, size int64) error {
	if err := d.before("truncate", f.Name()); err != nil {
		return err
	}
	return f.Truncate(size)
}

func (d disk) close(f *os.File) error {
	return errors.Join(d.before("close", f.Name()), f.Close())
}

func (d disk) rename(old, new string) error {
	if err := d.before("rename", new); err != nil {
		return err
	}
	return os.Rename(old, new)
}

func (d disk) remove(path string) error {
	if err := d.before("remove", path); err != nil {
		return err
	}
	return os.Remove(path)
}

// flush waits until a file is on the disk.
func (d disk) flush(f *os.File) error {
	if err := d.before("flush", f.Name()); err != nil {
		return err
	}
	return f.Sync()
}

// flushDir waits until the names in a directory are on the disk, on systems
// that can.
func (d disk) flushDir(path string) error {
	if err := d.before("flush", path); err != nil {
		return err
	}
	return syncDir(path)
}

// flushFiles waits until files are on the disk, and the names in directories. Files
// that are gone do not matter.
func (d disk) flushFiles(paths, dirs []string) error {
	for _, path := range paths {
		if err := d.before("flush", path); err != nil {
			return err
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue // pruned
		}
		if err != nil {
			return err
		}
		if err := errors.Join(flushBlob(f), f.Close()); err != nil {
			return err
		}
	}
	for _, dir := range dirs {
		if err := d.flushDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// put writes a whole file under a temporary name and renames it: the file has
// the old content or the new one. Unless it is flushed, a power cut can leave
// less than that.
func (d disk) put(temp, path string, data []byte, flush bool) (err error) {
	f, err := d.create(temp, os.O_TRUNC)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			d.remove(temp)
		}
	}()
	err = d.writeAt(f, data, 0)
	if err == nil && flush {
		err = d.flush(f)
	}
	if err = errors.Join(err, d.close(f)); err == nil {
		err = d.rename(temp, path)
	}
	return err
}
