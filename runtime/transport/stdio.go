package transport

import "os"

// Stdio returns the Transport over the standard input and output of this
// process, which is how an agent talks to the client that started it. Call it
// once, before anything else: from then on standard output belongs to the
// protocol, and os.Stdout becomes os.Stderr so that a stray print does no harm.
func Stdio() *Stream {
	out := os.Stdout
	os.Stdout = os.Stderr
	return NewStream(pollable(os.Stdin), out)
}
