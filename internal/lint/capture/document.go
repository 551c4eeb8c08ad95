package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// Some programs export a conversation as one JSON document:
//
//	acp-devtools  {"version":1,…,"tool":{"name":"acp-devtools",…},"messages":[{"timestamp":…,"direction":"editor-to-agent","raw":"…"},…]}
//	Zed           [{"_direction":"outgoing","_type":"request","id":…,"method":"…","params":…},…]
//
// Zed's does not have the bytes of the messages, but what they say.

// MaxDocument bounds such a document in bytes.
const MaxDocument = 256 << 20

var errDocument = fmt.Errorf("document of more than %d bytes", MaxDocument)

// peek is how much of a file shows what it is.
const peek = 1 << 10

// document reads the elements of a list in a document.
type document struct {
	json   *json.Decoder
	left   *io.LimitedReader
	decode func(element) (lint.Record, error)
	open   bool // the list has begun
}

// element is a message in a document, of either program.
type element struct {
	Timestamp *float64
	Direction string
	Raw       *string

	ZedDirection string `json:"_direction"`
	Type         string `json:"_type"`
	ID           json.RawMessage
	Method       json.RawMessage
	Params       json.RawMessage
}

// newDocument returns nil if a file with this beginning is not a document.
func newDocument(first []byte, in io.Reader) *document {
	first = bytes.TrimSpace(first)
	d := &document{left: &io.LimitedReader{R: in, N: MaxDocument + 1}}
	switch {
	case bytes.HasPrefix(first, []byte("{")) && bytes.Contains(first, []byte(`"exportedAt"`)) && bytes.Contains(first, []byte(`"acp-devtools"`)):
		d.decode = devtools
	case bytes.HasPrefix(first, []byte("[")) && bytes.Contains(first, []byte(`"_direction"`)):
		d.decode = zed
	default:
		return nil
	}
	d.json = json.NewDecoder(d.left)
	return d
}

func (d *document) next() (lint.Record, error) {
	if !d.open {
		if err := d.begin(); err != nil {
			return lint.Record{}, d.explain(err)
		}
		d.open = true
	}
	if !d.json.More() {
		if _, err := d.json.Token(); err != nil {
			return lint.Record{}, d.explain(err)
		}
		return lint.Record{}, io.EOF
	}
	var e element
	if err := d.json.Decode(&e); err != nil {
		return lint.Record{}, d.explain(err)
	}
	return d.decode(e)
}

// begin moves to the first element.
func (d *document) begin() error {
	t, err := d.json.Token()
	if err != nil || t == json.Delim('[') {
		return err
	}
	for d.json.More() {
		name, err := d.json.Token()
		if err != nil {
			return err
		}
		if name == "messages" {
			if t, err = d.json.Token(); err == nil && t != json.Delim('[') {
				err = ErrUnknown
			}
			return err
		}
		var skipped json.RawMessage
		if err := d.json.Decode(&skipped); err != nil {
			return err
		}
	}
	return ErrUnknown
}

func (d *document) explain(err error) error {
	if d.left.N <= 0 {
		return errDocument
	}
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func devtools(e element) (rec lint.Record, err error) {
	switch e.Direction {
	case "editor-to-agent":
		rec.From = lint.Client
	case "agent-to-editor":
		rec.From = lint.Agent
	default:
		return rec, fmt.Errorf("direction %q: %w", e.Direction, ErrUnknown)
	}
	if e.Raw == nil {
		return rec, errors.New("no message")
	}
	if e.Timestamp != nil {
		rec.Time = time.UnixMilli(int64(*e.Timestamp)).UTC()
	}
	rec.Bytes = []byte(*e.Raw)
	return rec, nil
}

// zed puts a message together again. An answer has its result or its error in params.
func zed(e element) (rec lint.Record, err error) {
	switch e.ZedDirection {
	case "outgoing":
		rec.From = lint.Client
	case "incoming":
		rec.From = lint.Agent
	default:
		return rec, fmt.Errorf("_direction %q: %w", e.ZedDirection, ErrUnknown)
	}
	b := []byte(`{"jsonrpc":"2.0"`)
	member := func(name string, value json.RawMessage) {
		b = append(append(append(append(b, `,"`...), name...), `":`...), value...)
	}
	hasParams := e.Params != nil && string(e.Params) != "null"
	switch e.Type {
	case "request", "notification":
		if e.Type == "request" {
			member("id", orNull(e.ID))
		}
		member("method", orNull(e.Method))
		if hasParams {
			member("params", e.Params)
		}
	case "response":
		member("id", orNull(e.ID))
		var failure struct {
			Code    *int64
			Message *string
		}
		if hasParams && json.Unmarshal(e.Params, &failure) == nil && failure.Code != nil && failure.Message != nil {
			member("error", e.Params)
		} else {
			member("result", orNull(e.Params))
		}
	default:
		return rec, fmt.Errorf("_type %q: %w", e.Type, ErrUnknown)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, append(b, '}')); err != nil {
		return rec, err
	}
	rec.Bytes = line.Bytes()
	return rec, nil
}

func orNull(text json.RawMessage) json.RawMessage {
	if text == nil {
		return json.RawMessage("null")
	}
	return text
}
