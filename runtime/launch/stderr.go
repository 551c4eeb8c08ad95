package launch

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// How much of an agent's standard error is kept, in bytes.
const (
	StderrTail = 256 << 10 // in total; older lines are dropped first
	StderrLine = 8 << 10   // of one line; the rest of it is dropped
)

// tail keeps the last lines written to it.
type tail struct {
	mu    sync.Mutex
	lines []string
	size  int
	part  []byte // line without end yet, cut
	limit int
	each  func(line string)
}

// drain reads r to its end.
func (t *tail) drain(r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		t.write(buf[:n])
		if err != nil {
			t.end()
			return
		}
	}
}

func (t *tail) write(b []byte) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		piece := b
		if i >= 0 {
			piece = b[:i]
		}
		t.mu.Lock()
		t.part = append(t.part, piece[:min(len(piece), StderrLine-len(t.part))]...)
		t.mu.Unlock()
		if i < 0 {
			return
		}
		t.line()
		b = b[i+1:]
	}
}

// line ends the current line.
func (t *tail) line() {
	t.mu.Lock()
	s := clean(t.part)
	t.part = t.part[:0]
	t.add(s)
	t.mu.Unlock()
	if t.each != nil {
		t.each(s)
	}
}

// add keeps a line. The lock is held.
func (t *tail) add(s string) {
	t.lines = append(t.lines, s)
	t.size += len(s) + 1
	for t.size > t.limit && len(t.lines) > 1 {
		t.size -= len(t.lines[0]) + 1
		t.lines[0] = ""
		t.lines = t.lines[1:]
	}
}

// end ends a last line that has no line end.
func (t *tail) end() {
	t.mu.Lock()
	open := len(t.part) > 0
	t.mu.Unlock()
	if open {
		t.line()
	}
}

// String returns the lines, and the beginning of the next.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := strings.Join(t.lines, "\n")
	if len(t.part) > 0 {
		if s != "" {
			s += "\n"
		}
		s += clean(t.part)
	}
	return s
}

func clean(line []byte) string {
	return strings.ToValidUTF8(strings.TrimSuffix(string(line), "\r"), "\ufffd")
}
