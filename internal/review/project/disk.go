package project

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/review/tree"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// maxText is the largest file that is under review, in bytes. The store has the
// same limit.
const maxText = 16 << 20

var (
	errTooLarge = fmt.Errorf("it is larger than %d MiB", maxText>>20)
	errUnkept   = errors.New("the store does not have its content")
	errMoving   = errors.New("it changes all the time")
)

func isAbs(name string) bool { return filepath.IsAbs(name) }

// open opens the folder of a name. No name leads out of it.
func (p *Project) open(name string) (*os.Root, string, error) {
	if isAbs(name) {
		dir, err := os.OpenRoot(filepath.Dir(name))
		return dir, filepath.Base(name), err
	}
	dir, err := os.OpenRoot(p.root)
	return dir, filepath.FromSlash(name), err
}

// read returns what the disk has at a name.
func (p *Project) read(name string) (review.State, error) {
	dir, base, err := p.open(name)
	if err == nil {
		defer dir.Close()
		var s review.State
		if s, err = readIn(dir, base); err == nil {
			return s, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // or what it was in is a file
		return review.State{}, nil
	}
	if errors.As(err, new(*otherError)) {
		return review.State{}, fmt.Errorf("read %s: %w", name, err)
	}
	return review.State{}, fmt.Errorf("read %s: %w", name, atomicfile.Reason(err))
}

// otherError says that there is something without a text that could be reviewed.
type otherError struct {
	state review.State
	err   error
}

func (e *otherError) Error() string { return e.err.Error() }
func (e *otherError) Unwrap() error { return e.err }

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// TextBelow returns the text that a regular file below a folder has now, for a program that does not
// review the folder itself. exists is false if there is nothing.
func TextBelow(folder, path string) (text string, exists bool, err error) {
	name, in := pathname.Below(folder, path)
	if !in {
		return "", false, fmt.Errorf("read %s: it is not below %s", path, folder)
	}
	s, err := (&Project{root: folder}).read(name)
	if err == nil && s.Kind == review.Link {
		err = fmt.Errorf("read %s: %w", path, atomicfile.ErrNotRegular)
	}
	return s.Text, s.Kind == review.Regular, err
}

// readAny is read of what was a file: it may have become something else.
func (p *Project) readAny(name string) (review.State, error) {
	s, err := p.read(name)
	var other *otherError
	if errors.As(err, &other) {
		return other.state, nil
	}
	return s, err
}

func readIn(dir *os.Root, name string) (review.State, error) {
	for range 5 {
		info, err := dir.Lstat(name)
		if err != nil {
			return review.State{}, err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			to, err := dir.Readlink(name)
			return review.State{Kind: review.Link, Target: to}, err
		}
		if !info.Mode().IsRegular() {
			return review.State{}, &otherError{review.State{Kind: review.Other, Target: kindOf(info.Mode())}, atomicfile.ErrNotRegular}
		}
		if info.Size() > maxText {
			return review.State{}, &otherError{review.TooLarge(info.Size()), errTooLarge}
		}
		text, err := readText(dir, name, info)
		if !errors.Is(err, errMoving) {
			return review.State{Kind: review.Regular, Text: text, Mode: info.Mode().Perm()}, err
		}
	}
	return review.State{}, errMoving
}

// readText reads the file of info, whole.
func readText(dir *os.Root, name string, info fs.FileInfo) (string, error) {
	f, err := dir.OpenFile(name, os.O_RDONLY|atomicfile.OpenFlags, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	same := func() bool {
		now, err := f.Stat()
		return err == nil && os.SameFile(now, info) && now.Size() == info.Size() && now.ModTime().Equal(info.ModTime())
	}
	if !same() {
		return "", errMoving
	}
	text, err := io.ReadAll(io.LimitReader(f, info.Size()+1))
	if err == nil && (int64(len(text)) != info.Size() || !same()) {
		err = errMoving
	}
	return string(text), err
}

// stateNow is stateIn for the newest snapshot, which does not have everything.
func (p *Project) stateNow(now *tree.Snapshot, name string) (review.State, error) {
	s, err := p.stateIn(now, name)
	_, special := now.LeftOut(name)
	if special || hasDir(now, name) || errors.Is(err, errUnkept) {
		return p.readAny(name)
	}
	return s, err
}

// stateIn returns what a file is in a snapshot.
func (p *Project) stateIn(s *tree.Snapshot, name string) (review.State, error) {
	e, ok := s.Entry(name)
	switch {
	case !ok:
		return review.State{}, nil
	case e.IsLink():
		return review.State{Kind: review.Link, Target: e.Link}, nil
	case !e.Kept:
		return review.State{}, fmt.Errorf("%s: %w", name, errUnkept)
	}
	text, err := p.store.Get(e.Hash)
	if err != nil {
		return review.State{}, fmt.Errorf("%s: %w", name, err)
	}
	return review.State{Kind: review.Regular, Text: string(text), Mode: e.Mode.Perm()}, nil
}
