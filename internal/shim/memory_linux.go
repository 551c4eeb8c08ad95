//go:build amd64 || arm64

package shim

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// readMemory reads the memory of a thread, up to where it ends.
func readMemory(tid uint32, at uint64, buf []byte) (int, error) {
	local := []unix.Iovec{{Base: &buf[0]}}
	local[0].SetLen(len(buf))
	remote := []unix.RemoteIovec{{Base: uintptr(at), Len: len(buf)}}
	return unix.ProcessVMReadv(int(tid), local, remote, 0)
}

// readPath reads a string that ends with a zero.
func readPath(tid uint32, at uint64) (string, error) {
	const page = 4096
	var path []byte
	for len(path) < unix.PathMax {
		// The next page may not be there, and need not be.
		buf := make([]byte, min(page-at%page, 512))
		n, err := readMemory(tid, at, buf)
		if err != nil {
			return "", err
		}
		if i := bytes.IndexByte(buf[:n], 0); i >= 0 {
			return string(append(path, buf[:i]...)), nil
		}
		if n < len(buf) {
			return "", unix.EFAULT
		}
		path, at = append(path, buf...), at+uint64(n)
	}
	return "", unix.ENAMETOOLONG
}

// readHow reads struct open_how.
func readHow(tid uint32, at uint64) (how unix.OpenHow, err error) {
	var b [unix.SizeofOpenHow]byte
	n, err := readMemory(tid, at, b[:])
	if err == nil && n < len(b) {
		err = unix.EFAULT
	}
	how.Flags, how.Mode, how.Resolve = binary.NativeEndian.Uint64(b[:]), binary.NativeEndian.Uint64(b[8:]), binary.NativeEndian.Uint64(b[16:])
	return how, err
}
