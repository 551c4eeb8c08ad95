//go:build !darwin

package store

import "os"

func flushBlob(f *os.File) error { return f.Sync() }
