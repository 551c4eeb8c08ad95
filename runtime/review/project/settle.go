package project

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"
)

const (
	// settleTime is how long a file must have been left alone until it counts:
	// programs write in pieces.
	settleTime = 40 * time.Millisecond
	// settleGone is the same of a file that is empty or gone: programs empty a
	// file before they write it, and remove it before they replace it.
	settleGone = 300 * time.Millisecond
	// settleLimit bounds how long one look waits for files that are written all
	// the time.
	settleLimit = 600 * time.Millisecond
)

// settle waits until a file has been left alone for a while. It reports whether
// it has waited; then the file may be another one.
func (p *Project) settle(ctx context.Context, j *job, name string) bool {
	wait := p.unsettled(j, name)
	if wait <= 0 {
		return false
	}
	j.waited += wait
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// unsettled returns how long to wait until a file has been left alone for a while.
func (p *Project) unsettled(j *job, name string) time.Duration {
	if j.waited >= settleLimit {
		return 0
	}
	dir, base, err := p.open(name)
	if err != nil {
		return 0
	}
	defer dir.Close()
	quiet := settleTime
	info, err := dir.Lstat(base)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = dir.Lstat(filepath.Dir(base)) // which has lost it
	}
	if err != nil {
		return 0
	}
	if info.IsDir() || info.Size() == 0 {
		quiet = settleGone
	}
	age := time.Since(info.ModTime())
	if age < 0 { // the clock of another machine
		return 0
	}
	return quiet - age
}
