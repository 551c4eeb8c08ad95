// Package trace records the messages between a client and an agent, reads
// recordings, and plays either side of one.
//
// A recording is a text file with one JSON object a line. The first describes
// the connection, the others are in the order in which this program saw the
// messages:
//
//	{"seq":0,"time":"2026-11-21T05:00:00.000000001Z","direction":"meta","meta":{"format":1,"program":"hermes","redacted":true,...}}
//	{"seq":1,"time":"...","direction":"client->agent","transport":"stdio","message":{"jsonrpc":"2.0","id":0,"method":"initialize",...}}
//	{"seq":2,"time":"...","direction":"agent->client","transport":"stdio","text":"Loading ..."}
//	{"seq":3,"time":"...","direction":"stderr","text":"listening"}
//	{"seq":4,"time":"...","direction":"note","end":"client->agent","text":"the client closed its side"}
//
// A message is kept byte for byte: as JSON if it is JSON, as a string if it is
// other text, as base64 if it is not UTF-8.
package trace

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/internal/jx"
)

// Direction says what a record holds.
type Direction string

// The directions.
const (
	ToAgent  Direction = "client->agent"
	ToClient Direction = "agent->client"
	Stderr   Direction = "stderr" // a line of the agent's standard error
	Note     Direction = "note"   // a remark of the recorder, such as the agent's exit status
	About    Direction = "meta"   // the first record
)

// Format is the version of the format that this package writes.
const Format = 1

// Meta describes a recording. Members are empty when they are not known.
type Meta struct {
	Format   int      `json:"format"`
	Program  string   `json:"program"` // the recorder, with its version
	Version  string   `json:"version,omitempty"`
	Agent    string   `json:"agent,omitempty"`    // its name in the configuration
	Command  []string `json:"command,omitempty"`  // that started it
	Cwd      string   `json:"cwd,omitempty"`      // of the agent process
	Protocol int      `json:"protocol,omitempty"` // version of the protocol to ask for, if it is known in advance
	Redacted bool     `json:"redacted"`           // secrets were replaced, see Redact
}

// Record is one line of a recording.
type Record struct {
	Seq       uint64
	Time      time.Time
	Direction Direction
	Transport string    // of the message: stdio, websocket, http, memory; may be empty
	Redacted  bool      // something in it was replaced
	Cut       bool      // the line has no end: the sender stopped inside it
	End       Direction // of a note that this way was closed by the side that sends there; else empty
	Bytes     []byte    // message or line, without line end
	Meta      *Meta     // of the record whose direction is About

	Line int // in the file it was read from, from 1
}

// wire is a Record as a JSON object.
type wire struct {
	Seq       uint64          `json:"seq"`
	Time      time.Time       `json:"time"`
	Direction Direction       `json:"direction"`
	Transport string          `json:"transport"`
	Redacted  bool            `json:"redacted"`
	Cut       bool            `json:"cut"`
	End       Direction       `json:"end"`
	Message   json.RawMessage `json:"message"`
	Text      *string         `json:"text"`
	Base64    *[]byte         `json:"base64"`
	Meta      *Meta           `json:"meta"`
}

// IsJSON reports whether the record holds a message that is JSON, an object or
// a list.
func (r *Record) IsJSON() bool { return isMessage(r.Bytes) }

// Append appends the record as one line, line end included.
func (r *Record) Append(dst []byte) []byte {
	dst = append(dst, `{"seq":`...)
	dst = strconv.AppendUint(dst, r.Seq, 10)
	dst = append(dst, `,"time":"`...)
	dst = r.Time.UTC().AppendFormat(dst, "2006-01-02T15:04:05.000000000Z07:00")
	dst = append(dst, `","direction":`...)
	dst = appendText(dst, string(r.Direction))
	if r.Transport != "" {
		dst = appendText(append(dst, `,"transport":`...), r.Transport)
	}
	if r.Redacted {
		dst = append(dst, `,"redacted":true`...)
	}
	if r.Cut {
		dst = append(dst, `,"cut":true`...)
	}
	if r.End != "" {
		dst = appendText(append(dst, `,"end":`...), string(r.End))
	}
	switch {
	case r.Meta != nil:
		meta, _ := json.Marshal(r.Meta) // strings and numbers always encode
		dst = append(append(dst, `,"meta":`...), meta...)
	case (r.Direction == ToAgent || r.Direction == ToClient) && isMessage(r.Bytes):
		dst = append(append(dst, `,"message":`...), r.Bytes...)
	case utf8.Valid(r.Bytes):
		dst = appendText(append(dst, `,"text":`...), string(r.Bytes))
	default:
		dst = append(dst, `,"base64":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, r.Bytes)
		dst = append(dst, '"')
	}
	return append(dst, "}\n"...)
}

// appendText appends a JSON string in which < and > stay readable.
func appendText(dst []byte, s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // strings always encode
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// isMessage reports whether b can be written into a record as it is and read back
// unchanged.
func isMessage(b []byte) bool {
	if len(b) < 2 || b[0] != '{' && b[0] != '[' || b[len(b)-1] != '}' && b[len(b)-1] != ']' || bytes.IndexByte(b, '\n') >= 0 {
		return false
	}
	var d jx.Dec
	d.Reset(b)
	d.Skip()
	return d.Close() == nil
}

// decode reads a line. The record does not alias it.
func decode(line []byte) (Record, error) {
	var w wire
	if err := json.Unmarshal(line, &w); err != nil {
		return Record{}, fmt.Errorf("not a record: %w", err)
	}
	r := Record{Seq: w.Seq, Time: w.Time, Direction: w.Direction, Transport: w.Transport, Redacted: w.Redacted, Cut: w.Cut, End: w.End, Meta: w.Meta}
	switch w.Direction {
	case ToAgent, ToClient, Stderr, Note:
	case About:
		if w.Meta == nil {
			return r, errors.New(`not a record: direction "meta" without the member "meta"`)
		}
		return r, nil
	default:
		return r, fmt.Errorf("not a record: direction %q is none of %q, %q, %q, %q and %q", w.Direction, ToAgent, ToClient, Stderr, Note, About)
	}
	r.Meta = nil
	switch {
	case w.Message != nil:
		r.Bytes = w.Message
	case w.Text != nil:
		r.Bytes = []byte(*w.Text)
	case w.Base64 != nil:
		r.Bytes = *w.Base64
	default:
		return r, errors.New(`not a record: one of "message", "text" and "base64" is missing`)
	}
	return r, nil
}
