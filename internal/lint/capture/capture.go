// Package capture reads captures of traffic for the linter, in the formats that
// recorders write. Each line is looked at on its own, so a file needs no header;
// document.go has the formats that are not made of lines.
//
//	{"seq":1,"time":"…","direction":"client->agent","message":{…}}   hermes record (package trace)
//	{"dir":"c2a","t":12,"msg":{…}}                                   t in milliseconds, or ts in seconds
//	{"jsonrpc":"2.0",…}                                              messages alone; the linter finds out who sent them
//
// In the second format, "raw" has the text of a line that is not JSON, and "base64" one
// that is not UTF-8; "end":true says that the side in dir closed the connection. Both
// formats may have "transport", and "http" with the members of lint.HTTP; then the
// message may be missing. "beyond":true says that the line is from between a proxy and
// its agent, in a capture of both sides of the proxy.
package capture

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

// MaxLine bounds one line of a capture in bytes: the largest message that is read, in
// base64, plus the rest of the record. Only the beginning of a longer line is read.
const MaxLine = lint.MaxMessage/3*4 + 1<<20

// beginning is how much is read of a line that is too long, in bytes.
const beginning = 4 << 10

// Errors of captures, wrapped by *Error.
var (
	ErrUnknown = errors.New("not a line of a capture")
	ErrFormat  = errors.New("not a format that this version knows")
)

// Error says what is wrong with a capture, and where.
type Error struct {
	File string
	Line int // from 1
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// Reader reads a capture record by record. It is not safe for concurrent use.
type Reader struct {
	name  string
	in    *bufio.Reader
	close func()
	line  int
	limit int // of a line
	buf   []byte
	left  int // bytes of the line that were not read
	err   error
	dec   jx.Dec
	whole *document // if the file is not a file of lines
	plain bool      // lines are messages alone, or nothing is known yet
	known bool      // a line of a capture has been seen
	noise error     // about the first line, if it is not one
	// tree is asked for a tree that a message in a line of a size is parsed into; nil, or
	// a nil tree: nobody wants one.
	tree func(size int) *jtree.Tree
}

// bufferSize is how much is read at once.
const bufferSize = 256 << 10

// NewReader returns a Reader of in, which may be compressed by gzip or zstd; name is
// for messages.
func NewReader(name string, in io.Reader) (*Reader, error) {
	r := &Reader{name: name, in: bufio.NewReaderSize(in, bufferSize), close: func() {}, limit: MaxLine, plain: true}
	magic, _ := r.in.Peek(4)
	switch {
	case len(magic) >= 2 && magic[0] == 0x1f && magic[1] == 0x8b:
		z, err := gzip.NewReader(r.in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.in = bufio.NewReaderSize(z, bufferSize)
	case string(magic) == "\x28\xb5\x2f\xfd":
		z, err := zstd.NewReader(r.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.in, r.close = bufio.NewReaderSize(z, bufferSize), z.Close
	}
	first, _ := r.in.Peek(peek)
	r.whole = newDocument(first, r.in)
	return r, nil
}

// Close frees what decompression holds. It does not close the input.
func (r *Reader) Close() { r.close() }

// Next returns the next record, whose bytes are valid until the next call. The error is
// io.EOF at the end, otherwise an *Error. A last line that was never finished, because
// the recorder was killed, ends the capture without an error.
func (r *Reader) Next() (lint.Record, error) {
	for {
		if r.err != nil {
			return lint.Record{}, r.err
		}
		if r.whole != nil {
			r.line++ // of messages
			rec, err := r.whole.next()
			if err == nil {
				return rec, nil
			}
			r.fail(err)
			continue
		}
		line, whole, err := r.read()
		if err != nil {
			r.fail(err)
			continue
		}
		rec, ok, err := r.decode(line, whole)
		switch {
		case err != nil && !whole && r.known:
			r.err = io.EOF // cut by the end of the recorder
		case err != nil && r.plain && r.known:
			// Noise between messages. Who wrote it is not known.
			return lint.Record{Bytes: line, Line: r.line}, nil
		case err != nil && r.plain:
			if r.noise == nil { // the reason, if there is no message at all
				r.noise = &Error{r.name, r.line, err}
			}
		case err != nil:
			r.fail(err)
		case ok:
			r.known = true
			rec.Line = r.line
			return rec, nil
		default:
			r.known = true
		}
	}
}

// fail ends the capture.
func (r *Reader) fail(err error) {
	switch {
	case err == io.EOF && !r.known && r.noise != nil:
		err = r.noise
	case err != io.EOF:
		err = &Error{r.name, r.line, err}
	}
	r.err = err
}

// read returns the next line that is not blank, and whether it has an end. If a line
// is too long, it returns the beginning and counts the rest.
func (r *Reader) read() (line []byte, whole bool, err error) {
	for {
		r.line++
		r.buf, r.left = r.buf[:0], 0
		for line == nil {
			piece, err := r.in.ReadSlice('\n')
			switch {
			case err == nil && len(r.buf) == 0 && len(piece) <= r.limit:
				line, whole = piece, true // without a copy
				continue
			case err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull):
				return nil, false, err
			case r.left > 0:
				r.left += len(piece)
			case len(r.buf)+len(piece) > r.limit:
				r.buf = append(r.buf, piece...)
				r.left = len(r.buf) - beginning
				r.buf = append([]byte(nil), r.buf[:beginning]...)
			default:
				r.buf = append(r.buf, piece...)
			}
			if err == nil || err == io.EOF {
				if err == io.EOF && len(r.buf) == 0 {
					return nil, false, io.EOF
				}
				line, whole = r.buf, err == nil
			}
		}
		if r.left == 0 {
			line = bytes.TrimSuffix(line, []byte{'\n'})
		}
		if len(bytes.TrimLeft(line, " \t\r")) > 0 {
			return line, whole, nil
		}
		if line = nil; !whole {
			return nil, false, io.EOF
		}
	}
}

// fields are the members of a line that say what it is.
type fields struct {
	line              []byte
	tree              *jtree.Tree // for the message; nil if nobody wants one
	parsed            []byte      // the message that is in it
	direction, dir    []byte
	message, msg      []byte // raw JSON
	text, raw, base64 []byte
	hasText, hasRaw   bool
	time, transport   []byte
	t                 float64 // in milliseconds
	hasT              bool
	cut, end, meta    bool
	beyond            bool
	ended             []byte // the direction that was closed
	format            int64
	http              []byte // raw JSON
	rpc               bool   // the line is a message itself
}

func (r *Reader) decode(line []byte, whole bool) (rec lint.Record, ok bool, err error) {
	d := &r.dec
	d.Reset(line)
	switch d.Peek() {
	case '{':
	case '[':
		return lint.Record{Bytes: line}, true, nil // a batch
	default:
		return rec, false, ErrUnknown
	}
	f := fields{line: line}
	if r.tree != nil && r.left == 0 {
		f.tree = r.tree(len(line))
	}
	start := d.Pos()
	d.Obj()
	for name, more := d.Next(); more; name, more = d.Next() {
		f.member(d, name)
		if f.rpc && whole && r.left == 0 {
			return lint.Record{Bytes: line[start:]}, true, nil // the linter reads it
		}
	}
	if r.left > 0 {
		return f.long(r.left)
	}
	if err := d.Close(); err != nil {
		return rec, false, err
	}
	switch {
	case f.rpc:
		return lint.Record{Bytes: line[start:]}, true, nil
	case f.direction != nil:
		r.plain = false
		return f.recorded()
	case f.dir != nil:
		r.plain = false
		return f.transcribed()
	}
	return rec, false, ErrUnknown
}

// member reads the member of a line whose name was read last.
func (f *fields) member(d *jx.Dec, name []byte) {
	str := func() []byte {
		if d.Peek() == '"' {
			return d.StrBytes()
		}
		d.Skip()
		return nil
	}
	switch string(name) {
	case "jsonrpc", "method", "id", "params", "result", "error":
		f.rpc = f.direction == nil && f.dir == nil
		d.Skip()
	case "direction":
		f.direction = str()
	case "dir":
		f.dir = str()
	case "transport":
		f.transport = str()
	case "time":
		f.time = str()
	case "message":
		f.message = f.parse(d)
	case "msg":
		f.msg = f.parse(d)
	case "text":
		f.text, f.hasText = str(), true
	case "raw":
		f.raw, f.hasRaw = str(), true
	case "base64":
		f.base64 = str()
	case "t", "ts":
		switch c := d.Peek(); {
		case (c < '0' || c > '9') && c != '-':
			d.Skip()
		case len(name) == 1:
			f.t, f.hasT = d.Float(), true
		default:
			f.t, f.hasT = d.Float()*1000, true
		}
	case "http":
		f.http = d.Token()
	case "cut":
		f.cut = flag(d)
	case "beyond":
		f.beyond = flag(d)
	case "end":
		if d.Peek() == '"' {
			f.ended = str()
		} else {
			f.end = flag(d)
		}
	case "meta":
		f.metadata(d)
	default:
		d.Skip()
	}
}

// parse reads a message, into the tree if there is one.
func (f *fields) parse(d *jx.Dec) []byte {
	f.parsed = nil
	d.Peek()
	start := d.Pos()
	if f.tree == nil || !f.tree.Read(d, f.line) {
		return d.Token()
	}
	f.parsed = d.Since(start)
	return f.parsed
}

func flag(d *jx.Dec) bool {
	if c := d.Peek(); c == 't' || c == 'f' {
		return d.Bool()
	}
	d.Skip()
	return false
}

func (f *fields) metadata(d *jx.Dec) {
	f.meta = true
	if d.Peek() != '{' {
		d.Skip()
		return
	}
	d.Obj()
	for name, more := d.Next(); more; name, more = d.Next() {
		if string(name) == "format" && d.IsInt() {
			f.format = d.Int(-1<<31, 1<<31)
		} else {
			d.Skip()
		}
	}
}

// recorded is a line of package trace.
func (f *fields) recorded() (rec lint.Record, ok bool, err error) {
	if f.time != nil {
		if rec.Time, err = time.Parse(time.RFC3339Nano, string(f.time)); err != nil {
			return rec, false, err
		}
	}
	switch trace.Direction(f.direction) {
	case trace.ToAgent:
		rec.From = lint.Client
	case trace.ToClient:
		rec.From = lint.Agent
	case trace.Stderr:
		rec.Source, rec.From = lint.Stderr, lint.Agent
	case trace.About:
		if f.meta && f.format != trace.Format {
			return rec, false, ErrFormat
		}
		rec.Source = lint.Beginning
		return rec, true, nil
	case trace.Note:
		switch trace.Direction(f.ended) {
		case trace.ToAgent:
			rec.Source, rec.From = lint.End, lint.Client
		case trace.ToClient:
			rec.Source, rec.From = lint.End, lint.Agent
		}
		return rec, rec.Source == lint.End, nil
	default:
		return rec, false, fmt.Errorf("direction %q: %w", f.direction, ErrUnknown)
	}
	rec.Cut = f.cut
	return rec, true, f.content(&rec, f.message, f.text, f.hasText)
}

// transcribed is a line with dir and msg.
func (f *fields) transcribed() (rec lint.Record, ok bool, err error) {
	switch string(f.dir) {
	case "c2a":
		rec.From = lint.Client
	case "a2c":
		rec.From = lint.Agent
	case "err":
		rec.Source, rec.From = lint.Stderr, lint.Agent
	default:
		return rec, false, fmt.Errorf("dir %q: %w", f.dir, ErrUnknown)
	}
	if f.hasT {
		rec.Time = epoch.Add(time.Duration(f.t * float64(time.Millisecond)))
	}
	if f.end {
		rec.Source, rec.Beyond = lint.End, f.beyond
		return rec, true, nil
	}
	rec.Cut = f.cut
	if n := len(f.raw); n > 0 && f.raw[n-1] == '\n' {
		f.raw = f.raw[:n-1]
	}
	return rec, true, f.content(&rec, f.msg, f.raw, f.hasRaw)
}

// long is a line that is too long: only who sent it and when is known.
func (f *fields) long(left int) (rec lint.Record, ok bool, err error) {
	switch {
	case f.direction != nil:
		rec, _, err = f.recorded()
	case f.dir != nil:
		rec, _, err = f.transcribed()
	}
	if errors.Is(err, errNoMessage) {
		err = nil // it is in the part that was not read
	}
	rec.Bytes, rec.Left = nil, left
	return rec, true, err
}

var errNoMessage = errors.New("no message")

// epoch is the time 0 of captures that count from their beginning.
var epoch = time.Unix(0, 0).UTC()

func (f *fields) content(rec *lint.Record, message, text []byte, hasText bool) (err error) {
	rec.Transport, rec.Beyond = transportName(f.transport), f.beyond
	if f.http != nil {
		if rec.HTTP, err = decodeHTTP(f.http); err != nil {
			return err
		}
	}
	switch {
	case message != nil:
		rec.Bytes = message
		if len(f.parsed) > 0 && &f.parsed[0] == &message[0] {
			rec.Tree = f.tree
		}
	case hasText:
		rec.Bytes = text
	case f.base64 != nil:
		rec.Bytes, err = base64.StdEncoding.AppendDecode(nil, f.base64)
	case rec.HTTP == nil:
		return errNoMessage
	}
	return err
}

func decodeHTTP(text []byte) (*lint.HTTP, error) {
	var h lint.HTTP
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	header := make(http.Header, len(h.Header))
	for name, values := range h.Header {
		for _, v := range values {
			header.Add(name, v)
		}
	}
	h.Header = header
	return &h, nil
}

// transportName returns the name of a transport. Known ones allocate nothing.
func transportName(b []byte) string {
	for _, name := range []string{"stdio", "websocket", "http", "memory"} {
		if name == string(b) {
			return name
		}
	}
	return string(b)
}
