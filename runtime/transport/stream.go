package transport

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

const (
	readSize   = 64 << 10  // one pipe buffer
	writeSize  = 256 << 10 // written at once, so that progress shows
	headSize   = 4 << 10   // kept of a message above the limit
	keepSize   = 256 << 10 // of a buffer that is kept for the next message
	lineGiveUp = 16        // times the limit: a line this long ends the stream
)

// Stream is a Transport over a byte stream, one message per line.
//
// Lines may end in CR LF and start with a byte order mark; blank lines are
// skipped. Memory stays bounded whatever the peer sends: a line above
// the limit is skipped, not kept, and one without end is an error.
type Stream struct {
	r   io.Reader
	w   io.Writer
	max int

	buf      []byte // input not yet handed out is buf[pos:end]
	pos, end int
	skip     int // bytes dropped of the line being skipped; 0 when none is
	err      error

	received, sent atomic.Uint64
	inside         atomic.Bool

	out       []byte
	closeOnce sync.Once
	closed    atomic.Bool
	closeErr  error
}

// NewStream returns a Stream that reads lines from r and writes lines to w.
// Close closes r and w if they are io.Closers; Read and Write return ErrClosed
// after that, provided closing unblocks them, as it does for pipes and sockets.
func NewStream(r io.Reader, w io.Writer) *Stream {
	return &Stream{r: r, w: w, max: DefaultMaxMessage}
}

// SetMaxMessage implements Limiter.
func (s *Stream) SetMaxMessage(n int) { s.max = n }

// Received implements Progress.
func (s *Stream) Received() (uint64, bool) { return s.received.Load(), s.inside.Load() }

// Sent implements Progress.
func (s *Stream) Sent() uint64 { return s.sent.Load() }

// Read implements Transport.
func (s *Stream) Read(buf []byte) ([]byte, error) {
	dst := buf[:0]
	for {
		rest := s.buf[s.pos:s.end]
		i := bytes.IndexByte(rest, '\n')
		piece := rest
		if i >= 0 {
			piece = rest[:i]
		}
		s.pos += len(piece)
		switch {
		case s.skip > 0:
			s.skip += len(piece)
			if s.skip/lineGiveUp > s.max && i < 0 {
				s.err = fmt.Errorf("line without end: %w", &TooLargeError{Limit: s.max})
				return dst[:0], s.err
			}
		case len(dst)+len(piece) > s.max:
			head := append(append([]byte(nil), dst[:min(len(dst), headSize)]...), piece[:min(len(piece), headSize)]...)
			if i >= 0 {
				s.pos++
			} else {
				s.skip = len(dst) + len(piece)
			}
			return dst[:0], &TooLargeError{Limit: s.max, Head: head[:min(len(head), headSize)]}
		default:
			dst = append(grow(dst, len(piece), s.max), piece...)
		}
		if i >= 0 {
			s.pos++
			s.inside.Store(false)
			if s.skip > 0 {
				s.skip = 0
				continue
			}
			if dst = trim(dst); len(dst) > 0 {
				return dst, nil
			}
			continue
		}
		if s.err != nil {
			s.inside.Store(false)
			if s.skip > 0 {
				dst = dst[:0]
			}
			return trim(dst), s.err
		}
		s.inside.Store(len(dst) > 0 || s.skip > 0)
		s.fill()
	}
}

// grow makes room for n more bytes. It grows in large steps, where append would
// leave several times the size of a large buffer to be collected. Memory that
// is allocated but not written to costs nothing.
func grow(b []byte, n, limit int) []byte {
	if len(b)+n <= cap(b) {
		return b
	}
	c := max(min(4*cap(b), limit), len(b)+n)
	return append(make([]byte, 0, c), b...)
}

// fill reads once into the empty buffer.
func (s *Stream) fill() {
	if s.buf == nil {
		s.buf = make([]byte, readSize)
	}
	s.pos, s.end = 0, 0
	n, err := s.r.Read(s.buf)
	s.end = n
	s.received.Add(1)
	if err != nil {
		if s.closed.Load() {
			err = ErrClosed
		}
		s.err = err
	}
}

// trim drops the white space around a line and a leading byte order mark: a peer
// that opens its output again for each message starts each with one. It also drops escape
// sequences that a launcher has written for a terminal, such as a title, right before a
// message.
func trim(line []byte) []byte {
	line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	for rest := line; len(rest) > 0 && rest[0] == '\x1b'; {
		n := escape(rest)
		if rest = rest[n:]; n == 0 {
			break
		} else if len(rest) > 0 && rest[0] == '{' {
			line = rest
		}
	}
	if n := len(line); n > 0 && line[0] > ' ' && line[n-1] > ' ' {
		return line
	}
	return bytes.Trim(line, " \t\r\n")
}

// escape returns the length of the escape code at the beginning of a line, 0 if it is none that
// is known.
func escape(line []byte) int {
	if len(line) < 2 {
		return 0
	}
	for i, c := range line[2:] {
		switch {
		case line[1] == '[' && c >= '@' && c <= '~', line[1] == ']' && c == '\a':
			return i + 3
		case line[1] == ']' && c == '\x1b' && i+3 < len(line) && line[i+3] == '\\':
			return i + 4
		}
	}
	return 0
}

// Write implements Transport.
func (s *Stream) Write(msg []byte) error {
	s.out = appendLine(s.out[:0], msg)
	return s.flush()
}

// WriteBatch implements BatchWriter: one write to the stream.
func (s *Stream) WriteBatch(msgs [][]byte) error {
	s.out = s.out[:0]
	for _, m := range msgs {
		s.out = appendLine(s.out, m)
	}
	return s.flush()
}

func (s *Stream) flush() error {
	if s.closed.Load() {
		return ErrClosed
	}
	var err error
	for rest := s.out; err == nil && len(rest) > 0; {
		piece := rest[:min(len(rest), writeSize)]
		_, err = s.w.Write(piece)
		s.sent.Add(1)
		rest = rest[len(piece):]
	}
	if cap(s.out) > keepSize {
		s.out = nil
	}
	if err != nil && s.closed.Load() {
		return ErrClosed
	}
	return err
}

// appendLine appends msg as one line. A line break in JSON text can only be
// white space between tokens, so a blank takes its place.
func appendLine(dst, msg []byte) []byte {
	at := len(dst)
	dst = append(dst, msg...)
	for _, c := range []byte("\n\r") {
		for line := dst[at:]; ; {
			i := bytes.IndexByte(line, c)
			if i < 0 {
				break
			}
			line[i] = ' '
			line = line[i:]
		}
	}
	return append(dst, '\n')
}

// Close implements Transport.
func (s *Stream) Close() error {
	s.closeOnce.Do(func() {
		s.closed.Store(true)
		if c, ok := s.w.(io.Closer); ok {
			s.closeErr = c.Close()
		}
		if c, ok := s.r.(io.Closer); ok && any(s.r) != any(s.w) {
			if err := c.Close(); s.closeErr == nil {
				s.closeErr = err
			}
		}
	})
	return s.closeErr
}
