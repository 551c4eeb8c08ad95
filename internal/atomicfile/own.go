package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// maxOwn is the largest of the program's own files that is read, in bytes.
const maxOwn = 64 << 20

// The reasons why one of the program's own files is refused.
var (
	ErrNotOwn     = errors.New("other users can change it") // or the folder it is in
	ErrNotRegular = errors.New("not a regular file")
)

// ErrLocked is the error of TryLock when the lock is taken.
var ErrLocked = errors.New("the lock is taken")

// OwnDir creates a directory for the program's own files that only the user can
// access. It refuses one that another user owns or may write, with advice for
// the user.
func OwnDir(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = checkOwnDir(dir)
	}
	if err != nil {
		return &fs.PathError{Op: "use directory", Path: dir, Err: Reason(err)}
	}
	return nil
}

func checkOwnDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	switch why := foreign(info); {
	case !info.IsDir():
		return errors.New("not a directory")
	case why != "":
		return fmt.Errorf("%w: %s; make it yours and run chmod go-w on it", ErrNotOwn, why)
	}
	return nil
}

// ReadOwn reads a file of the program's own. It must be a regular file that only
// the user may write. A link may lead to one, in such a directory.
func ReadOwn(path string) ([]byte, error) {
	data, err := readOwn(path)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: Reason(err)}
	}
	return data, nil
}

func readOwn(path string) ([]byte, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if err := checkOwnDir(filepath.Dir(real)); err != nil {
		return nil, fmt.Errorf("in %s: %w", filepath.Dir(real), err)
	}
	f, info, err := Open(real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if why := foreign(info); why != "" {
		return nil, fmt.Errorf("%w: %s", ErrNotOwn, why)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxOwn+1))
	if err == nil && len(data) > maxOwn {
		err = fmt.Errorf("the file is too large: the limit is %d bytes", maxOwn)
	}
	return data, err
}

// Open opens a regular file to read it. Anything else is ErrNotRegular: a named pipe or a device
// keeps whoever opens or reads it waiting.
func Open(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|OpenFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: it is a %s", ErrNotRegular, Kind(info.Mode()))
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// foreign says who besides the user may change a file, or nothing if nobody
// may.
func foreign(info fs.FileInfo) string {
	switch {
	case !owned(info):
		return "another user owns it"
	case shared(info.Mode()):
		return fmt.Sprintf("its mode is %v", info.Mode())
	}
	return ""
}

// Update changes a file of the program's own that several processes share.
// change gets the content, nil if there is none, and returns the new one; perm
// is the mode of the file. Update refuses the files and directories that OwnDir
// and ReadOwn refuse. A lock file next to the file keeps other updates out
// meanwhile; Update waits for it until ctx ends.
func Update(ctx context.Context, path string, perm fs.FileMode, change func(old []byte) ([]byte, error)) error {
	if err := OwnDir(filepath.Dir(path)); err != nil {
		return err
	}
	l, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE|OpenFlags, 0o600)
	if err == nil {
		defer l.Close()
		err = lock(ctx, l)
	}
	if err != nil {
		return &fs.PathError{Op: "lock", Path: path, Err: Reason(err)}
	}
	old, err := ReadOwn(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err := change(old)
	if err != nil {
		return err
	}
	return Write(path, string(data), nil, perm)
}

// pollLock is the longest pause between two attempts to take a lock.
const pollLock = 50 * time.Millisecond

func lock(ctx context.Context, f *os.File) error {
	for pause := time.Millisecond; held(f); pause = min(2*pause, pollLock) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("another process holds it: %w", context.Cause(ctx))
		case <-time.After(pause):
		}
	}
	return nil
}

// Kind names the kind of a file that is not a regular one.
func Kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	}
	return "special file"
}
