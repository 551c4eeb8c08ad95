// Package atomicfile replaces files in one step, so that a reader sees the old
// content or the new one, and keeps files of the program's own that several
// processes change.
package atomicfile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The name of a temporary file is tempPrefix, 16 hexadecimal digits,
// tempSuffix. Its writer holds a lock on it, so a temporary file that can be
// locked belongs to a dead process.
const (
	tempPrefix = ".hermes-"
	tempSuffix = ".tmp"
	tempLen    = len(tempPrefix) + 16 + len(tempSuffix)
)

// Write is Replace for the file at a path, whose folder it opens. The folder also loses
// the temporary files of dead processes. A link is replaced, not followed.
func Write(path, content string, old fs.FileInfo, perm fs.FileMode) error {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err == nil {
		defer dir.Close()
		Sweep(dir)
		err = Replace(dir, filepath.Base(path), content, old, perm, nil)
	}
	if err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: Reason(err)}
	}
	return nil
}

// Replace puts content in place of the file name in dir. old is the status of
// the replaced file, whose mode is kept, nil if there is none; perm is the mode
// of a new file. fault makes a step fail in tests.
func Replace(dir *os.Root, name, content string, old fs.FileInfo, perm fs.FileMode, fault func(string) error) error {
	return replace(dir, name, old, perm, fault, func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	})
}

// File puts what fill writes in place of a file of the program's own. perm is its mode. A
// link stays one. Readers see all of it or nothing, also after a power cut.
func File(path string, perm fs.FileMode, fill func(io.Writer) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := replace(dir, filepath.Base(path), nil, perm, nil, fill); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

func replace(dir *os.Root, name string, old fs.FileInfo, perm fs.FileMode, fault func(string) error, fill func(io.Writer) error) (err error) {
	step := func(what string, do func() error) {
		if err != nil {
			return
		}
		if fault != nil {
			err = fault(what)
		}
		if err == nil {
			err = do()
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", what, Reason(err))
		}
	}
	if old != nil {
		perm = 0o600
	}
	var f *os.File
	var temp string
	step("make temporary file", func() (err error) {
		f, temp, err = newTemp(dir, perm)
		return err
	})
	if f == nil {
		return err
	}
	defer func() {
		if err != nil {
			dir.Remove(temp)
		}
		f.Close() // releases the lock, so only after the name is gone
	}()
	step("write temporary file", func() error { return fill(f) })
	if old != nil {
		step("keep the mode", func() error {
			keepOwner(f, old)
			return f.Chmod(old.Mode().Perm())
		})
	}
	step("flush temporary file", f.Sync)
	step("rename temporary file", func() error { return dir.Rename(temp, name) })
	if err != nil {
		return err
	}
	// The file is in place. A directory that cannot be flushed costs durability
	// after a power cut, but not the write.
	if d, err := dir.Open("."); err == nil {
		d.Sync()
		d.Close()
	}
	return nil
}

func newTemp(dir *os.Root, perm fs.FileMode) (*os.File, string, error) {
	for {
		var b [8]byte
		rand.Read(b[:])
		name := tempPrefix + hex.EncodeToString(b[:]) + tempSuffix
		f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		if held(f) { // by a sweep, which removes the file
			f.Close()
			continue
		}
		// Another process may have swept the file before it was locked.
		if _, err = dir.Lstat(name); err == nil {
			return f, name, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			dir.Remove(name)
			f.Close()
			return nil, "", err
		}
		f.Close()
	}
}

// IsTemp reports whether a temporary file of this package has such a name.
func IsTemp(name string) bool {
	return len(name) == tempLen && strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// Sweep removes the temporary files of dead processes from dir.
func Sweep(dir *os.Root) {
	d, err := dir.Open(".")
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if !IsTemp(name) {
			continue
		}
		if info, err := dir.Lstat(name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		f, err := dir.OpenFile(name, os.O_WRONLY|OpenFlags, 0)
		if err != nil {
			continue
		}
		if abandoned(f) {
			dir.Remove(name)
		}
		f.Close()
	}
}

// Reason strips the name from an operating system error: it may name a
// temporary file, and the caller names the file anyway.
func Reason(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe) && error(pe) == err:
		return pe.Err
	case errors.As(err, &le) && error(le) == err:
		return le.Err
	}
	return err
}
