package transport

import "os"

// Stdio returns the Transport over the standard input and output of this
// process, which is how an agent talks to the client that started it. Nothing
// else may be written to standard output afterwards; log to standard error.
func Stdio() *Stream {
	return NewStream(pollable(os.Stdin), os.Stdout)
}
