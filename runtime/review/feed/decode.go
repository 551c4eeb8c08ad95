package feed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/internal/review/store"
)

// The codes of JSON-RPC.
const (
	codeSyntax   = -32700
	codeInvalid  = -32600
	codeMethod   = -32601
	codeParams   = -32602
	codeInternal = -32603
)

// Error is the answer to a message that was not taken.
type Error struct {
	Code    int
	Message string
	Pointer string // JSON pointer of the member that is wrong
}

func (e *Error) Error() string { return e.Message }

// message is a line that was read.
type message struct {
	id      json.RawMessage // nil for a notification
	report  *Report         // nil for a question
	resume  string          // the producer that a question is about
	yield   *Program        // that asks for the review
	flushed *int64          // the number of the flush that has ended
}

// decode reads a line. Even with an error, the id is what could be read of it.
func decode(line []byte) (m message, err error) {
	if err := jx.Distinct(line); err != nil {
		return m, at(codeSyntax, "", err)
	}
	e, err := envelope.Parse(line)
	if err != nil {
		return m, &Error{Code: codeInvalid, Message: err.Error()}
	}
	if m.id = e.ID; m.id != nil && !validID(m.id) {
		m.id = nil
		return m, &Error{Code: codeInvalid, Message: "/id: want a string or a number", Pointer: "/id"}
	}
	switch {
	case !bytes.Equal(jx.Paired(line), line):
		return m, &Error{Code: codeInvalid, Message: "a string has half of a surrogate pair, which is not a character"}
	case !e.Version:
		return m, &Error{Code: codeInvalid, Message: `/jsonrpc: want "2.0"`, Pointer: "/jsonrpc"}
	case e.Method == nil:
		return m, &Error{Code: codeInvalid, Message: "/method: missing", Pointer: "/method"}
	}
	d := jx.New(e.Params)
	d.Limit(maxDepth)
	switch kind := Kind(e.Method); kind {
	case resume:
		m.resume = producerOf(d)
	case yield:
		m.yield = programOf(d)
	case flushed:
		m.flushed = flushOf(d)
	case Write, Remove, Rename, Read, Unseen, Scan, Connect, Accept:
		m.report = &Report{Kind: kind, Phase: Post}
		m.report.params(d)
	default:
		return m, &Error{Code: codeMethod, Message: fmt.Sprintf("/method: %.80q is not one of %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s", e.Method, Write, Remove, Rename, Read, Unseen, Scan, Connect, Accept, resume, yield, flushed), Pointer: "/method"}
	}
	if e.Params == nil {
		return m, &Error{Code: codeParams, Message: "/params: missing", Pointer: "/params"}
	}
	if err := d.Close(); err != nil {
		return m, at(codeParams, "/params", err)
	}
	if m.id == nil && (m.yield != nil || m.report != nil && m.report.Phase == Ask) {
		return m, &Error{Code: codeInvalid, Message: "/id: missing, so the question cannot be answered", Pointer: "/id"}
	}
	return m, nil
}

// validID reports whether an id may be repeated in an answer.
func validID(id json.RawMessage) bool {
	return len(id) <= maxName && (id[0] == '"' || id[0] == '-' || '0' <= id[0] && id[0] <= '9')
}

// at returns an *Error for one of jx, whose pointer is below another.
func at(code int, below string, err error) error {
	e := &Error{Code: code, Message: err.Error()}
	if j := (*jx.Error)(nil); errors.As(err, &j) && !j.Syntax {
		e.Pointer = below + j.Pointer
		e.Message = e.Pointer + ": " + j.Msg
	}
	return e
}

// producerOf reads the params of a question.
func producerOf(d *jx.Dec) (producer string) {
	m := d.Mark()
	d.Obj()
	for name, more := d.Next(); more; name, more = d.Next() {
		if string(name) == "producer" {
			producer = text(d, maxName)
		} else {
			d.Skip()
		}
	}
	if producer == "" {
		d.Reject(m, "producer is missing or empty")
	}
	return producer
}

// flushOf reads the params of the end of a flush.
func flushOf(d *jx.Dec) *int64 {
	m, n := d.Mark(), int64(-1)
	d.Obj()
	for name, more := d.Next(); more; name, more = d.Next() {
		if string(name) == "flush" {
			n = d.Int(0, 1<<53)
		} else {
			d.Skip()
		}
	}
	if n < 0 {
		d.Reject(m, "flush is missing")
	}
	return &n
}

// programOf reads the params of a program that asks for the review.
func programOf(d *jx.Dec) *Program {
	m, p := d.Mark(), new(Program)
	d.Obj()
	for name, more := d.Next(); more; name, more = d.Next() {
		switch string(name) {
		case "program":
			p.Name = text(d, maxName)
		case "pid":
			p.PID = int(d.Int(1, 1<<31-1))
		default:
			d.Skip()
		}
	}
	if p.Name == "" || p.PID == 0 {
		d.Reject(m, "program or pid is missing")
	}
	return p
}

func (r *Report) params(d *jx.Dec) {
	start := d.Mark()
	r.Author.Source = "socket"
	var content *string
	session := ""
	d.Obj()
	for name, more := d.Next(); more; name, more = d.Next() {
		switch key := string(name); {
		case r.Kind != Scan && key == "reason":
			r.Reason = text(d, maxName)
		case r.Kind == Unseen && key == "whole":
			r.Whole = d.Bool()
		case r.reaches() && key == "host":
			r.Host = text(d, maxName)
		case key == "path" && r.Kind != Rename && !r.pathless(), key == "newPath" && r.Kind == Rename:
			r.Path = path(d)
		case key == "oldPath" && r.Kind == Rename:
			r.From = path(d)
		case key == "content" && r.Kind == Write:
			s := d.Str()
			content = &s
		case key == "sessionId":
			session = text(d, maxName)
		case key == "_meta":
			r.meta(d)
		default:
			d.Skip()
		}
	}
	if r.Author.Session == "" {
		r.Author.Session = session
	}
	switch {
	case r.Kind != Unseen && r.Phase != Ask && r.Reason != "":
		d.Reject(start, "only what was not seen, and a question, has a reason")
	case r.Kind == Unseen && r.Reason == "":
		d.Reject(start, "reason is missing or empty")
	case r.pathless() && r.Phase != Post:
		d.Reject(start, "what has no path has the phase post")
	case r.pathless():
	case r.reaches() && r.Phase != Ask:
		d.Reject(start, "a connection is always a question, with the phase ask")
	case r.Kind == Accept && (r.Host == "" || r.Path != ""):
		d.Reject(start, "want host and no path")
	case r.Kind == Accept:
	case r.Kind == Connect && (r.Host == "") == (r.Path == ""):
		d.Reject(start, "want host or path")
	case r.Kind == Connect:
	case r.Kind == Rename && r.From == "":
		d.Reject(start, "oldPath is missing")
	case r.Kind == Rename && r.Path == "":
		d.Reject(start, "newPath is missing")
	case r.Path == "":
		d.Reject(start, "path is missing")
	}
	if content == nil {
		return
	}
	if r.After == nil {
		r.After = &Version{Size: -1}
	}
	r.After.Text = content
	r.After.check(d, start, "content")
}

// reaches reports whether it is about a connection.
func (r *Report) reaches() bool { return r.Kind == Connect || r.Kind == Accept }

// pathless reports whether it is about no file.
func (r *Report) pathless() bool { return r.Kind == Unseen || r.Kind == Scan }

func (r *Report) meta(d *jx.Dec) {
	d.Obj()
	for name, more := d.Next(); more; name, more = d.Next() {
		if string(name) == "hermes" {
			r.hermes(d)
		} else {
			d.Skip()
		}
	}
}

func (r *Report) hermes(d *jx.Dec) {
	start := d.Mark()
	d.Obj()
	for name, more := d.Next(); more; name, more = d.Next() {
		m := d.Mark()
		switch string(name) {
		case "phase":
			switch r.Phase = Phase(d.Str()); r.Phase {
			case Pre, Post, Failed, Ask:
			default:
				d.Reject(m, `want "pre", "post", "failed" or "ask"`)
			}
		case "fidelity":
			switch d.Str() {
			case "exact":
			case "inferred":
				r.Author.Inferred = true
			default:
				d.Reject(m, `want "exact" or "inferred"`)
			}
		case "source":
			if r.Author.Source = text(d, maxName); r.Author.Source == "" {
				d.Reject(m, "is empty")
			}
		case "agent":
			r.Agent = text(d, maxName)
		case "sessionId":
			r.Author.Session = text(d, maxName)
		case "turnId":
			r.Author.Turn = text(d, maxName)
		case "toolCallId":
			r.Author.ToolCall = text(d, maxName)
		case "pid":
			r.PID = int(d.Int(0, 1<<31-1))
		case "user":
			r.User = d.Bool()
		case "before":
			r.Before = version(d)
		case "after":
			r.After = version(d)
		case "at":
			r.At = time.UnixMilli(d.Int(1, 1<<53))
		case "producer":
			r.Producer = text(d, maxName)
		case "seq":
			r.Seq = uint64(d.Int(1, 1<<53))
		default:
			d.Skip()
		}
	}
	switch {
	case (r.Seq == 0) != (r.Producer == ""):
		d.Reject(start, "producer and seq go together")
	case r.Phase == Ask && r.Seq > 0:
		d.Reject(start, "a question has no number")
	}
}

func version(d *jx.Dec) *Version {
	start := d.Mark()
	v := &Version{Size: -1}
	d.Obj()
	for name, more := d.Next(); more; name, more = d.Next() {
		m := d.Mark()
		switch string(name) {
		case "exists":
			v.Absent = !d.Bool()
		case "hash":
			h, err := store.ParseHash(text(d, maxName))
			if err != nil {
				d.Reject(m, "want a SHA-256 as 64 hexadecimal digits")
			}
			v.Hash = h
		case "size":
			v.Size = d.Int(0, 1<<53)
		case "content":
			s := d.Str()
			v.Text = &s
		case "mode":
			mode, err := strconv.ParseUint(text(d, maxName), 8, 32)
			if err != nil || mode > 0o777 {
				d.Reject(m, "want permissions in octal, such as 644")
			}
			perm := fs.FileMode(mode)
			v.Mode = &perm
		default:
			d.Skip()
		}
	}
	if v.Absent && (v.Text != nil || v.Mode != nil || !v.Hash.IsZero() || v.Size > 0) {
		d.Reject(start, "says that the file does not exist, and what is in it")
	}
	v.check(d, start, "content")
	return v
}

// check refuses a version whose text contradicts its hash or size, and computes
// them if they are missing.
func (v *Version) check(d *jx.Dec, m jx.Mark, name string) {
	if v.Text == nil || d.Failed() {
		return
	}
	hash, size := store.HashOf([]byte(*v.Text)), int64(len(*v.Text))
	switch {
	case v.Absent:
		d.Reject(m, "says that the file does not exist, and what is in it")
	case v.Size >= 0 && v.Size != size:
		d.Reject(m, fmt.Sprintf("%s has %d bytes, and size says %d", name, size, v.Size))
	case !v.Hash.IsZero() && v.Hash != hash:
		d.Reject(m, name+" does not have the hash that hash says")
	}
	v.Hash, v.Size = hash, size
}

func path(d *jx.Dec) string {
	m := d.Mark()
	s := text(d, maxPath)
	switch {
	case d.Failed():
	case strings.IndexByte(s, 0) >= 0:
		d.Reject(m, "has a NUL, which no path has")
	case !filepath.IsAbs(s):
		d.Reject(m, "is not an absolute path")
	}
	return filepath.Clean(s)
}

// text reads a string of at most some bytes.
func text(d *jx.Dec, most int) string {
	m := d.Mark()
	s := d.Str()
	if len(s) > most {
		d.Reject(m, fmt.Sprintf("has %d bytes, and %d are allowed", len(s), most))
		return ""
	}
	return s
}
