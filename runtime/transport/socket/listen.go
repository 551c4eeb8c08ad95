package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hermes-nvim/hermes/runtime/transport/access"
)

// MaxPath is the longest path of a Unix socket that every system takes, in bytes.
const MaxPath = 100

// Folder returns the folder name in the first of the given folders in which the path of a
// socket fits into MaxPath. If there is none, it is in /tmp. longest is the name of a
// socket in it.
func Folder(name, longest string, in ...string) string {
	for _, parent := range in {
		if folder := filepath.Join(parent, name); filepath.IsAbs(parent) && len(filepath.Join(folder, longest)) <= MaxPath {
			return folder
		}
	}
	return filepath.Join("/tmp", name)
}

// ListenUnix makes a Unix socket at path. A missing folder is made with mode
// 0700; an existing one must belong to this user and be closed to others. A
// socket that a dead server left behind is replaced. Closing the listener
// removes the socket.
func ListenUnix(path string) (net.Listener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := PrivateFolder(dir); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, tooLong(path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// tooLong explains err, of which the system says "invalid argument" only.
func tooLong(path string, err error) error {
	if len(path) > MaxPath && errors.Is(err, syscall.EINVAL) {
		return fmt.Errorf("%w: the path of a socket may have about %d bytes, and this one has %d", err, MaxPath, len(path))
	}
	return err
}

// ListenTCP listens on addr, "host:port". An address that other machines can
// reach is refused unless the caller says that the listener will be encrypted.
func ListenTCP(addr string, encrypted bool) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if !encrypted && !access.Loopback(host) {
		return nil, fmt.Errorf("%s: refusing to listen without TLS where other machines can connect (use 127.0.0.1, or give a certificate)", addr)
	}
	return net.Listen("tcp", addr)
}

// removeStale removes a socket nobody listens on.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s: exists and is not a socket", path)
	}
	if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
		c.Close()
		return fmt.Errorf("%s: another server listens there", path)
	}
	return os.Remove(path)
}
