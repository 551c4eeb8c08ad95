package httpstream

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/hermes-nvim/hermes/runtime/transport"
)

func readAll(r io.Reader, limit int) (got []string, s *events, err error) {
	s = newEvents(r, limit)
	for {
		var msg []byte
		msg, err = s.next(nil)
		var big *transport.TooLargeError
		switch {
		case errors.As(err, &big) && big.Head != nil:
			got = append(got, "too large")
		case err != nil:
			return got, s, err
		default:
			got = append(got, string(msg))
		}
	}
}

// C154 of the conformance list.
func TestEventStreams(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		stream string
		want   []string
		id     string
	}{
		"one event":               {"data: {}\n\n", []string{"{}"}, ""},
		"without the blank":       {"data:{}\n\n", []string{"{}"}, ""},
		"CR LF":                   {"data: 1\r\n\r\ndata: 2\r\n\r\n", []string{"1", "2"}, ""},
		"CR":                      {"data: 1\r\rdata: 2\r\r", []string{"1", "2"}, ""},
		"several lines":           {"data: {\ndata: }\n\n", []string{"{\n}"}, ""},
		"comments":                {":\n\n: hi\ndata: 1\n:\n\n:\n\n", []string{"1"}, ""},
		"ids":                     {"id: 7\ndata: 1\n\nid: 8\ndata: 2\n\n", []string{"1", "2"}, "8"},
		"an id of its own":        {"id: 7\ndata: 1\n\nid: 9\n\n", []string{"1"}, "9"},
		"the id of a cut event":   {"id: 7\ndata: 1\n\nid: 8\ndata: 2\n", []string{"1"}, "7"},
		"an id with a zero":       {"id: 7\nid: a\x00\ndata: 1\n\n", []string{"1"}, "7"},
		"other fields":            {"event: message\nretry: 5\nwhat\ndata: 1\nx: y\n\n", []string{"1"}, ""},
		"a byte order mark":       {"\xef\xbb\xbfdata: 1\n\n", []string{"1"}, ""},
		"an event without data":   {"event: x\n\n\n\ndata: 1\n\n", []string{"1"}, ""},
		"cut in a line":           {"data: 1\n\ndata: 2", []string{"1"}, ""},
		"cut before a blank line": {"data: 1\n\ndata: 2\n", []string{"1"}, ""},
		"too large":               {"data: " + strings.Repeat("x", 101) + "\n\ndata: 1\n\n", []string{"too large", "1"}, ""},
		"too large in lines":      {strings.Repeat("data: xxxxxxxxx\n", 11) + "\ndata: 1\n\n", []string{"too large", "1"}, ""},
		"at the limit":            {"data: " + strings.Repeat("x", 100) + "\n\n", []string{strings.Repeat("x", 100)}, ""},
	} {
		for how, r := range map[string]io.Reader{"whole": strings.NewReader(test.stream), "bytewise": iotest.OneByteReader(strings.NewReader(test.stream))} {
			got, s, err := readAll(r, 100)
			if err != io.EOF || !reflect.DeepEqual(got, test.want) || s.lastID != test.id {
				t.Errorf("%s, %s: %q, id %q, %v", name, how, got, s.lastID, err)
			}
		}
	}
}

func TestAnEventWithoutEndEndsTheStream(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]string{"line": "x", "lines": "x\ndata: "} {
		r := io.MultiReader(strings.NewReader("data: "), &endless{part: part})
		_, _, err := readAll(r, 1000)
		var big *transport.TooLargeError
		if !errors.As(err, &big) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type endless struct{ part string }

func (e *endless) Read(b []byte) (int, error) {
	return copy(b, strings.Repeat(e.part, len(b)/len(e.part))), nil
}

func TestRetryIsBounded(t *testing.T) {
	t.Parallel()
	_, s, _ := readAll(strings.NewReader("retry: 1500\n\nretry: x\n\n"), 10)
	if s.retry != 1500*time.Millisecond {
		t.Error(s.retry)
	}
	if _, s, _ = readAll(strings.NewReader("retry: 99999999\n\n"), 10); s.retry != maxRetry {
		t.Error(s.retry)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("id: 1\r\ndata: {\"a\":1}\r\n\r\n: c\ndata: x\ndata: y\n\n"), 3)
	f.Add([]byte("retry: 1\rdata\r\rdata:\n\n"), 1)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		whole, a, errA := readAll(bytes.NewReader(b), 64)
		cut = max(0, min(cut, len(b)))
		parts, c, errB := readAll(io.MultiReader(bytes.NewReader(b[:cut]), iotest.OneByteReader(bytes.NewReader(b[cut:]))), 64)
		if !reflect.DeepEqual(whole, parts) || a.lastID != c.lastID || (errA == io.EOF) != (errB == io.EOF) {
			t.Fatalf("%q: %q and %q, %v, %v", b, whole, parts, errA, errB)
		}
		for _, e := range whole {
			if len(e) > 64 {
				t.Fatalf("%q", e)
			}
		}
		// A message written as an event is read back as the same message.
		if msg := bytes.Map(func(r rune) rune { return max(r, ' ') }, b); len(msg) > 0 && len(msg) <= 4096 {
			got, _, _ := readAll(bytes.NewReader(appendEvent(nil, 1, msg)), 1<<20)
			if len(got) != 1 || got[0] != string(msg) {
				t.Fatalf("%q: %q", msg, got)
			}
		}
	})
}
