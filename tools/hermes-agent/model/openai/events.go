package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// maxEvent is the most bytes that one event of a stream may have.
const maxEvent = 16 << 20

// events reads the JSON values of an answer, whatever they come as: server-sent events,
// also those that nothing parts, or values alone. All of a web page is one value.
type events struct {
	lines *bufio.Reader
	begun bool
	alone *json.Decoder // of an answer without events
	held  []byte        // an event that has not ended
	done  bool          // the stream has sent its end
}

func newEvents(r io.Reader) *events { return &events{lines: bufio.NewReader(r)} }

// errPage says that the answer is not data at all.
var errPage = errors.New("a web page")

// next returns the next value, which may not be JSON. The error is io.EOF behind the last one.
func (e *events) next() ([]byte, error) {
	if !e.begun {
		if err := e.begin(); err != nil {
			return nil, err
		}
	}
	if e.alone != nil {
		var v json.RawMessage
		err := e.alone.Decode(&v)
		if err == nil && len(v) > 0 && v[0] == '[' { // Google lists its faults
			var list []json.RawMessage
			if json.Unmarshal(v, &list) == nil && len(list) == 1 {
				v = list[0]
			}
		}
		return v, err
	}
	for !e.done {
		line, err := e.line()
		if value, whole := e.take(line); whole {
			return value, nil
		}
		if err == io.EOF && len(e.held) > 0 {
			value := e.held
			e.held = nil
			return value, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, io.EOF
}

// begin skips white space and a byte order mark, and finds out what comes.
func (e *events) begin() error {
	for {
		b, err := e.lines.Peek(1)
		if err != nil {
			return err
		}
		switch b[0] {
		case ' ', '\t', '\r', '\n', 0xef, 0xbb, 0xbf:
			e.lines.ReadByte()
			continue
		case '<':
			return errPage
		case '{', '[':
			if mark, _ := e.lines.Peek(6); !bytes.Equal(mark, []byte("[DONE]")) {
				e.alone = json.NewDecoder(io.LimitReader(e.lines, 4*maxEvent))
			}
		}
		e.begun = true
		return nil
	}
}

// take adds a line and returns the event that it ends.
func (e *events) take(line []byte) (value []byte, whole bool) {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) == 0 { // the end of an event
		value, e.held = e.held, nil
		return value, value != nil
	}
	data, is := bytes.CutPrefix(line, []byte("data:"))
	if data = bytes.TrimSpace(data); !is && !bytes.HasPrefix(data, []byte("{")) {
		return nil, false // a comment, or a field without a meaning here
	}
	if len(data) == 0 {
		return nil, false
	}
	if e.held == nil && bytes.Equal(data, []byte("[DONE]")) {
		e.done = true
		return nil, false
	}
	if e.held == nil && json.Valid(data) {
		return data, true // some endpoints put nothing between their events
	}
	if e.held = append(e.held, data...); !json.Valid(e.held) {
		return nil, false
	}
	value, e.held = e.held, nil
	return value, true
}

// line reads a line of bounded length.
func (e *events) line() ([]byte, error) {
	var line []byte
	for {
		piece, err := e.lines.ReadSlice('\n')
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxEvent {
			return nil, errLong
		}
	}
}
