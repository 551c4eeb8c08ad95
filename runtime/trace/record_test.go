package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// raws are messages and lines that must be read back unchanged.
var raws = []string{
	`{"jsonrpc": "2.0",  "id":1.0, "x":"\u00e4\ud83d\ude00", "x":2}`, `[{"a":1},[]]`, "plain text \x1b[31m", "\xff\xfe", "", `{"a":1`, `{"a":1}` + "\r",
	` {"a":1}`, `{"lone":"\ud800"}`, `"string"`, "null", `{},"x":1`, strings.Repeat("[", 9998) + strings.Repeat("]", 9998), "a\nb", "{\n}",
}

func TestBytesSurviveARecording(t *testing.T) {
	t.Parallel()
	began := time.Now().Truncate(time.Second)
	var file bytes.Buffer
	w := NewWriter(&file, Options{Raw: true, Transport: "stdio", Meta: Meta{Program: "test", Cwd: "/w"}})
	for _, raw := range raws {
		if err := errors.Join(w.Message(ToAgent, []byte(raw)), w.CutMessage(ToClient, []byte(raw)), w.Line([]byte(raw))); err != nil {
			t.Fatal(err)
		}
	}
	w.End(ToClient)
	w.Restart()
	w.Note("exit status %d", 3)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	rec, err := ReadAll("x", &file)
	if err != nil || rec.Meta.Program != "test" || rec.Meta.Cwd != "/w" || rec.Meta.Redacted || rec.Cut {
		t.Fatalf("%+v, %v", rec, err)
	}
	for i, r := range rec.Records[:3*len(raws)] {
		if string(r.Bytes) != raws[i/3] || r.Seq != uint64(i+1) || r.Line != i+2 || r.Cut != (i%3 == 1) || r.Time.Before(began) {
			t.Errorf("%+v, want %q", r, raws[i/3])
		}
	}
	last := rec.Records[len(rec.Records)-2:]
	if last[0].Direction != Note || last[0].End != ToClient || string(last[0].Bytes) != "the agent closed its side" {
		t.Errorf("%+v", last[0])
	}
	if last[1].Direction != Note || last[1].End != "" || string(last[1].Bytes) != "exit status 3" {
		t.Errorf("%+v", last[1])
	}
}

func TestSecretsAreHiddenUnlessAskedFor(t *testing.T) {
	t.Parallel()
	for _, raw := range []bool{false, true} {
		var file bytes.Buffer
		w := NewWriter(&file, Options{Raw: raw, Meta: Meta{Command: []string{"agent", "--token", canary}}})
		for _, c := range canaries {
			line := []byte(strings.ReplaceAll(c.line, "SECRET", c.secret))
			w.Message(ToAgent, line)
			w.Line(line)
			w.Note("%s", line)
		}
		w.Close()
		rec, err := ReadAll("x", &file)
		if err != nil || rec.Meta.Redacted == raw || (rec.Meta.Command[2] == canary) != raw {
			t.Fatalf("%+v, %v", rec.Meta, err)
		}
		for i, r := range rec.Records {
			c := canaries[i/3]
			if found := strings.Contains(string(r.Bytes), c.secret); found != raw || r.Redacted == raw {
				t.Errorf("raw %v, %s: %s", raw, c.place, r.Bytes)
			}
		}
	}
}

// A recorder that is killed leaves whole lines and at most one without an end.
func TestARecordingCutAtAnyByteIsReadable(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	w := NewWriter(&file, Options{})
	for i := range 5 {
		w.Message(ToClient, fmt.Appendf(nil, `{"id":%d}`, i))
	}
	w.Close()
	for n := range file.Len() + 1 {
		rec, err := ReadAll("x", bytes.NewReader(file.Bytes()[:n]))
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		whole := bytes.Count(file.Bytes()[:n], []byte("\n"))
		if got := len(rec.Records) + 1; n > 0 && got != whole && got != whole+1 || len(rec.Records) > 5 {
			t.Errorf("%d bytes: %d records of %d lines", n, got, whole)
		}
	}
}

type lines struct {
	mu     sync.Mutex
	writes []string
	gate   chan struct{}
	fail   error
}

func (l *lines) Write(b []byte) (int, error) {
	if l.gate != nil {
		<-l.gate
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != nil {
		return 0, l.fail
	}
	l.writes = append(l.writes, string(b))
	return len(b), nil
}

func TestEachWriteHoldsWholeLinesAndNothingIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := &lines{gate: make(chan struct{})}
		w := NewWriter(out, Options{Queue: 1000})
		const writers, each = 8, 50
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() {
				for j := range each {
					w.Message(ToClient, fmt.Appendf(nil, `{"w":%d,"n":%d,"pad":"%s"}`, i, j, strings.Repeat("x", 90)))
				}
			})
		}
		synctest.Wait()
		w.mu.Lock()
		if w.bytes < 1000-200 || w.bytes > 1000+200 {
			t.Errorf("%d bytes wait", w.bytes)
		}
		w.mu.Unlock()
		close(out.gate)
		wg.Wait()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, s := range out.writes {
			if !strings.HasSuffix(s, "\n") {
				t.Errorf("write ends inside a line: %q", s)
			}
		}
		rec, err := ReadAll("x", strings.NewReader(strings.Join(out.writes, "")))
		if err != nil || len(rec.Records) != writers*each {
			t.Fatalf("%d records, %v", len(rec.Records), err)
		}
		for i, r := range rec.Records {
			if r.Seq != uint64(i+1) {
				t.Errorf("record %d has number %d", i, r.Seq)
			}
		}
		if err := w.Message(ToAgent, nil); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
}

func TestAFullDiskDoesNotStopTheTraffic(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left on device")
	w := NewWriter(&lines{fail: full}, Options{Queue: 100})
	for range 1000 {
		w.Message(ToClient, bytes.Repeat([]byte("x"), 50))
	}
	if err := w.Close(); !errors.Is(err, full) || !strings.Contains(err.Error(), "records lost") {
		t.Error(err)
	}
}

func TestRecordingsAreForTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "r.jsonl")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := Create(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if rec, err := ReadFile(path); err != nil || rec.Meta.Format != Format || rec.Name != path {
		t.Errorf("%+v, %v", rec, err)
	}
	if _, err := Create(filepath.Join(t.TempDir(), "no", "r.jsonl"), Options{}); err == nil {
		t.Error("created in a folder that is not there")
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	meta := `{"seq":0,"time":"2026-01-01T00:00:00Z","direction":"meta","meta":{"format":1}}` + "\n\n"
	for text, want := range map[string]string{
		"hello\nyou\n":                                             "f:1: not a record: ",
		meta + `{"direction":"up"}` + "\n":                         `f:3: not a record: direction "up" is none of`,
		meta + `{"direction":"note"}` + "\n":                       `f:3: not a record: one of "message"`,
		`{"direction":"meta"}` + "\n":                              `f:1: not a record: direction "meta" without`,
		`{"direction":"meta","meta":{"format":7}}` + "\n":          "f:1: format 7: not a format this version knows (1)",
		meta + `{"direction":"stderr","base64":"%%"}` + "\n":       "f:3: not a record: ",
		meta + `{"direction":"stderr","text":"a"} trailing` + "\n": "f:3: not a record: ",
	} {
		_, err := ReadAll("f", strings.NewReader(text))
		var at *Error
		if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	long := io.MultiReader(strings.NewReader(meta), io.LimitReader(endless{}, MaxLine+2))
	if _, err := ReadAll("f", long); !errors.Is(err, ErrLine) || !strings.HasPrefix(err.Error(), "f:3: ") {
		t.Error(err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// Each side records the same, and says who sent what.
func TestMiddlewareRecordsAConnectionFromEitherSide(t *testing.T) {
	t.Parallel()
	var files [2]bytes.Buffer
	ways := [2]*Writer{NewWriter(&files[0], Options{}), NewWriter(&files[1], Options{})}
	ours, theirs := transport.Pair()
	client := rpc.NewConn(ours, nil, rpc.Options{Middleware: []rpc.Middleware{ways[0].Middleware()}})
	agent := rpc.NewConn(theirs, acp.AgentSide(acp.UnimplementedAgentHandler{}), rpc.Options{Middleware: []rpc.Middleware{ways[1].Middleware()}})
	if err := client.Call(t.Context(), "x", acp.Raw("{}"), nil); err == nil {
		t.Error("an agent that knows no method answered")
	}
	client.Close()
	agent.Close()
	for i, w := range ways {
		w.Close()
		rec, err := ReadAll("x", &files[i])
		if err != nil || len(rec.Records) != 2 || rec.Records[0].Direction != ToAgent || rec.Records[1].Direction != ToClient {
			t.Errorf("%+v, %v", rec, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, raw := range raws {
		r := Record{Direction: ToAgent, Bytes: []byte(raw)}
		f.Add(r.Append(nil))
	}
	f.Add([]byte(`{"direction":"meta","meta":{"format":1}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		rec, err := ReadAll("f", bytes.NewReader(b))
		if err != nil {
			return
		}
		for _, r := range rec.Records {
			again, err := decode(bytes.TrimSuffix(r.Append(nil), []byte("\n")))
			if err != nil || !bytes.Equal(again.Bytes, r.Bytes) {
				t.Errorf("%q, %v, want %q", again.Bytes, err, r.Bytes)
			}
		}
	})
}

func FuzzRecordsRoundTrip(f *testing.F) {
	for _, raw := range raws {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := Record{Direction: ToClient, Bytes: b}
		line := r.Append(nil)
		if bytes.Count(line, []byte("\n")) != 1 {
			t.Errorf("%q is not one line", line)
		}
		again, err := decode(line[:len(line)-1])
		if err != nil || !bytes.Equal(again.Bytes, b) {
			t.Errorf("%q, %v, want %q", again.Bytes, err, b)
		}
	})
}
