package project

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/tree"
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
	if errors.Is(err, fs.ErrNotExist) {
		return review.State{}, nil
	}
	return review.State{}, fmt.Errorf("read %s: %w", name, atomicfile.Reason(err))
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
			return review.State{}, atomicfile.ErrNotRegular
		}
		if info.Size() > maxText {
			return review.State{}, errTooLarge
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
