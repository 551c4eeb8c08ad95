package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hermes-nvim/hermes/runtime/transport"
)

// MaxLine bounds one line of a recording in bytes: the largest message that a
// connection accepts, in base64, plus the rest of the record.
const MaxLine = transport.DefaultMaxMessage/3*4 + 1<<20

// Error says what is wrong with a recording, and where.
type Error struct {
	File string
	Line int // from 1
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// Errors in recordings, wrapped by *Error.
var (
	ErrLine   = fmt.Errorf("line of more than %d bytes", MaxLine)
	ErrFormat = errors.New("not a format this version knows")
)

// Reader reads a recording record by record. It is not safe for concurrent use.
type Reader struct {
	r    *bufio.Reader
	name string
	line int
	buf  []byte
	cut  bool
	err  error
}

// NewReader returns a Reader of r; name is for messages.
func NewReader(name string, r io.Reader) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 64<<10), name: name}
}

// Next returns the next record. The error is io.EOF at the end, otherwise an
// *Error. Blank lines are skipped. A last line that was never finished, because
// the recorder was killed, ends the recording without an error; see Cut.
func (r *Reader) Next() (Record, error) {
	for r.err == nil {
		rec, ok, err := r.next()
		if err != nil {
			r.err = err
		} else if ok {
			return rec, nil
		}
	}
	return Record{}, r.err
}

// Cut reports whether the recording ended inside a line.
func (r *Reader) Cut() bool { return r.cut }

func (r *Reader) next() (rec Record, ok bool, err error) {
	r.line++
	complete := false
	for r.buf = r.buf[:0]; !complete; {
		piece, err := r.r.ReadSlice('\n')
		if len(r.buf)+len(piece) > MaxLine {
			return rec, false, r.fail(ErrLine)
		}
		r.buf = append(r.buf, piece...)
		switch {
		case err == nil:
			r.buf = r.buf[:len(r.buf)-1]
			complete = true
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && len(r.buf) == 0:
			return rec, false, io.EOF
		case err == io.EOF:
			if rec, err := decode(r.buf); err == nil {
				return r.finish(rec)
			}
			r.cut = true
			return rec, false, io.EOF
		default:
			return rec, false, r.fail(err)
		}
	}
	if blank(r.buf) {
		return rec, false, nil
	}
	if rec, err = decode(r.buf); err != nil {
		return rec, false, r.fail(err)
	}
	return r.finish(rec)
}

func (r *Reader) finish(rec Record) (Record, bool, error) {
	rec.Line = r.line
	if rec.Meta != nil && rec.Meta.Format != Format {
		return rec, false, r.fail(fmt.Errorf("format %d: %w (%d)", rec.Meta.Format, ErrFormat, Format))
	}
	return rec, true, nil
}

func (r *Reader) fail(err error) error { return &Error{File: r.name, Line: r.line, Err: err} }

func blank(b []byte) bool {
	for _, c := range b {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// Recording is a whole recording.
type Recording struct {
	Name    string // of the file
	Meta    Meta   // zero when the recording does not say
	Records []Record
	Cut     bool // it ends inside a line
}

// MaxFile bounds what ReadFile reads into memory, in bytes.
const MaxFile = 1 << 30

// ReadFile reads a whole recording.
func ReadFile(path string) (*Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if info.Size() > MaxFile {
		return nil, fmt.Errorf("%s: %d bytes are above the limit of %d", path, info.Size(), MaxFile)
	}
	return ReadAll(path, io.LimitReader(f, MaxFile))
}

// ReadAll reads a whole recording from r; name is for messages.
func ReadAll(name string, r io.Reader) (*Recording, error) {
	in := NewReader(name, r)
	rec := &Recording{Name: name}
	for {
		one, err := in.Next()
		switch {
		case err == io.EOF:
			rec.Cut = in.Cut()
			return rec, nil
		case err != nil:
			return nil, err
		case one.Meta == nil:
			rec.Records = append(rec.Records, one)
		case one.Line == 1:
			rec.Meta = *one.Meta
		}
	}
}
