//go:build !unix

package transport

import "os"

func pollable(f *os.File) *os.File { return f }
