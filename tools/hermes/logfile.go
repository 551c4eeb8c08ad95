package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// logFile is a log that only its owner can read. At max bytes the file is set
// aside: path becomes path.1, path.1 becomes path.2, up to path.keep. Several
// processes may write to one log. It is safe for concurrent use.
type logFile struct {
	path string
	max  int64 // 0: no limit
	keep int64

	mu   sync.Mutex
	file *os.File
}

// open opens the log for appending.
func (l *logFile) open() error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	l.file = f
	return nil
}

// Write appends one record, in one piece.
func (l *logFile) Write(record []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if info, err := l.file.Stat(); err == nil && l.max > 0 && info.Size() >= l.max {
		// A log that cannot be set aside goes on growing: a record says more
		// than its place.
		l.rotate(info)
	}
	return l.file.Write(record)
}

// rotate sets the file aside, unless another process has done so or does so now.
func (l *logFile) rotate(mine fs.FileInfo) error {
	lock := l.path + ".lock"
	held, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		if info, e := os.Stat(lock); e == nil && time.Since(info.ModTime()) > time.Minute {
			os.Remove(lock) // left by a process that died
		}
		return err
	}
	defer os.Remove(lock)
	defer held.Close()
	at, err := os.Stat(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && os.SameFile(mine, at) {
		for i := l.keep - 1; i > 0; i-- {
			os.Rename(l.aside(i), l.aside(i+1)) // there may be fewer
		}
		if l.keep == 0 {
			err = os.Remove(l.path)
		} else {
			err = os.Rename(l.path, l.aside(1))
		}
		if err != nil {
			return err
		}
	}
	old := l.file
	if err := l.open(); err != nil {
		return err
	}
	return old.Close()
}

func (l *logFile) aside(i int64) string { return fmt.Sprintf("%s.%d", l.path, i) }

// Close closes the file.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}
