package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxOwn is the largest file of the program's own that is read, in bytes.
const maxOwn = 64 << 20

// ErrNotOwn refuses a file or a directory of the program's own that another user
// may have written.
var ErrNotOwn = errors.New("other users can change it")

// OwnDir makes a directory for files of the program's own, for the user alone.
// It refuses one that another user owns or may write, with advice for the user.
func OwnDir(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = checkOwnDir(dir)
	}
	if err != nil {
		return &Error{Op: "use directory", Path: dir, Err: reason(err)}
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
		return ErrNotDir
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
		return nil, &Error{Op: "read", Path: path, Err: reason(err)}
	}
	return data, nil
}

func readOwn(path string) ([]byte, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if err := checkOwnDir(filepath.Dir(real)); err != nil {
		return nil, fmt.Errorf("in %s: %w", printable(filepath.Dir(real)), err)
	}
	f, err := os.OpenFile(real, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch why := foreign(info); {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: it is a %s", ErrNotRegular, kind(info.Mode()))
	case why != "":
		return nil, fmt.Errorf("%w: %s", ErrNotOwn, why)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxOwn+1))
	if err == nil && len(data) > maxOwn {
		err = fmt.Errorf("%w: the limit is %d bytes", ErrTooLarge, maxOwn)
	}
	return data, err
}

// foreign says who besides the user may change a file, nothing when nobody.
func foreign(info fs.FileInfo) string {
	switch {
	case !owned(info):
		return "another user owns it"
	case shared(info.Mode()):
		return fmt.Sprintf("its mode is %v", info.Mode())
	}
	return ""
}
