package files

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The name of a temporary file is tempPrefix, 16 hexadecimal digits, tempSuffix.
// Its writer holds a lock on it, so a temporary file that can be locked was left
// by a process that died.
const (
	tempPrefix = ".hermes-"
	tempSuffix = ".tmp"
	tempLen    = len(tempPrefix) + 16 + len(tempSuffix)
)

// WriteFile replaces a file of the program's own, such as its state, in the
// same atomic way; perm is the mode of the new file. The name is trusted.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	fail := func(err error) error { return &Error{Op: "write", Path: path, Err: reason(err)} }
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return fail(err)
	}
	defer dir.Close()
	sweep(dir)
	if err := replaceFile(dir, filepath.Base(path), string(data), nil, perm, nil); err != nil {
		return fail(err)
	}
	return nil
}

// replaceFile puts content in place of the file name in dir. old is the status
// of the file that is replaced, nil when there is none.
func replaceFile(dir *os.Root, name, content string, old fs.FileInfo, perm fs.FileMode, fault func(string) error) (err error) {
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
			err = fmt.Errorf("%s: %w", what, reason(err))
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
	step("write temporary file", func() error {
		_, err := f.WriteString(content)
		return err
	})
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
	// The file is in place: a directory that cannot be flushed costs durability
	// after a power cut, not the write.
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
		lock(f)
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

// sweep removes the temporaries of dead processes, once for each directory.
func (w *Workspace) sweep(dir *os.Root, path string) {
	w.mu.Lock()
	done := w.swept[path]
	w.swept[path] = true
	w.mu.Unlock()
	if !done {
		sweep(dir)
	}
}

func sweep(dir *os.Root) {
	d, err := dir.Open(".")
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if len(name) != tempLen || !strings.HasPrefix(name, tempPrefix) || !strings.HasSuffix(name, tempSuffix) {
			continue
		}
		if info, err := dir.Lstat(name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		f, err := dir.OpenFile(name, os.O_WRONLY|openFlags, 0)
		if err != nil {
			continue
		}
		if tryLock(f) {
			dir.Remove(name)
		}
		f.Close()
	}
}

// Update changes a file of the program's own that several processes share:
// change gets the content, nil when there is none, and returns the new one. It
// refuses the directories and files that OwnDir and ReadOwn refuse. A lock file
// beside the file keeps other updates away meanwhile.
func Update(path string, perm fs.FileMode, change func(old []byte) ([]byte, error)) error {
	if err := OwnDir(filepath.Dir(path)); err != nil {
		return err
	}
	l, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE|openFlags, 0o600)
	if err != nil {
		return &Error{Op: "lock", Path: path, Err: reason(err)}
	}
	defer l.Close()
	lock(l)
	old, err := ReadOwn(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err := change(old)
	if err != nil {
		return err
	}
	return WriteFile(path, data, perm)
}
