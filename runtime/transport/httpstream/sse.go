package httpstream

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/hermes-nvim/hermes/runtime/transport"
)

const (
	readSize = 32 << 10
	headSize = 4 << 10
	giveUp   = 16 // times the limit: an event this long ends the stream
	maxRetry = time.Minute
)

// events reads an event stream. Lines end in LF, CR LF or CR; comments, fields
// other than data, id and retry, and an unfinished last event are skipped.
// Memory stays bounded by the message limit.
type events struct {
	r    io.Reader
	max  int
	each func(comment bool) // called whenever input arrives, and at a comment; may be nil

	buf      []byte
	pos, end int
	started  bool // the first line was looked at
	cr       bool // the last line ended in CR, a LF still belongs to it

	lastID string        // of the last event that was complete
	retry  time.Duration // the delay that the server asked for; 0: none
}

func newEvents(r io.Reader, limit int) *events {
	return &events{r: r, max: limit, buf: make([]byte, readSize)}
}

// next returns the data of the next event that has any, appended to dst[:0].
// An event above the limit is skipped and reported as *TooLargeError. The end
// of the stream is io.EOF.
func (s *events) next(dst []byte) ([]byte, error) {
	dst = dst[:0]
	var line, head []byte
	var id *string
	size, lines := 0, 0 // of the data
	for {
		var cut bool
		var err error
		line, cut, err = s.line(line[:0])
		if err != nil {
			return dst[:0], err
		}
		if len(line) == 0 && !cut {
			if id != nil {
				s.lastID = *id
			}
			switch {
			case size > s.max:
				return dst[:0], &transport.TooLargeError{Limit: s.max, Head: head}
			case lines > 0:
				return dst, nil
			}
			id = nil
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if len(name) == 0 {
			s.heard(true)
		}
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "data":
			if lines > 0 {
				size++
				dst = append(dst, '\n')
			}
			lines++
			size += len(value)
			if cut || size > s.max {
				if head == nil {
					head = bytes.Clone(append(dst, value...)[:min(len(dst)+len(value), headSize)])
				}
				size = max(size, s.max+1)
				if size/giveUp > s.max {
					return dst[:0], fmt.Errorf("event without end: %w", &transport.TooLargeError{Limit: s.max})
				}
				dst = dst[:0]
				continue
			}
			dst = append(dst, value...)
		case "id":
			if !cut && bytes.IndexByte(value, 0) < 0 && len(value) <= maxID {
				text := string(value)
				id = &text
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 32); err == nil {
				s.retry = min(time.Duration(ms)*time.Millisecond, maxRetry)
			}
		}
	}
}

func (s *events) heard(comment bool) {
	if s.each != nil {
		s.each(comment)
	}
}

// line reads one line without its end. cut says that it was longer than an
// event may be, and that the rest is missing.
func (s *events) line(dst []byte) (_ []byte, cut bool, err error) {
	limit := s.max + len("data: ")
	skipped := 0
	for {
		if s.cr && s.pos < s.end {
			s.cr = false
			if s.buf[s.pos] == '\n' {
				s.pos++
			}
		}
		rest := s.buf[s.pos:s.end]
		i := bytes.IndexAny(rest, "\r\n")
		piece := rest
		if i >= 0 {
			piece = rest[:i]
		}
		s.pos += len(piece)
		if room := limit - len(dst); len(piece) > room {
			skipped += len(piece) - room
			piece, cut = piece[:room], true
			if skipped/giveUp > s.max {
				return dst, cut, fmt.Errorf("event without end: %w", &transport.TooLargeError{Limit: s.max})
			}
		}
		dst = append(dst, piece...)
		if i >= 0 {
			s.cr = rest[i] == '\r'
			s.pos++
			if !s.started {
				s.started = true
				dst = bytes.TrimPrefix(dst, []byte("\xef\xbb\xbf"))
			}
			return dst, cut, nil
		}
		s.pos, s.end = 0, 0
		n, err := s.r.Read(s.buf)
		s.end = n
		s.heard(false)
		if n == 0 && err != nil {
			return dst, cut, err
		}
	}
}
