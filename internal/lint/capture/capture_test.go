package capture

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

// read returns the records of a capture, one a line, and its error.
func read(t testing.TB, in io.Reader) (string, error) {
	t.Helper()
	r, err := NewReader("file", in)
	if err != nil {
		return "", err
	}
	defer r.Close()
	var out strings.Builder
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return out.String(), nil
		}
		if err != nil {
			return out.String(), err
		}
		out.WriteString(show(rec))
	}
}

func show(rec lint.Record) string {
	source := [...]string{"wire", "stderr", "end", "beginning"}[rec.Source]
	at := ""
	if !rec.Time.IsZero() {
		at = " " + rec.Time.Format("15:04:05.000")
	}
	if rec.Cut {
		at += " cut"
	}
	if rec.Beyond {
		at = " beyond" + at
	}
	if rec.Transport != "" {
		at += " " + rec.Transport
	}
	if rec.HTTP != nil {
		at += fmt.Sprintf(" %s %d %s", rec.HTTP.Method, rec.HTTP.Status, rec.HTTP.Header.Get("Content-Type"))
	}
	return fmt.Sprintf("%d %s %s%s %q\n", rec.Line, source, rec.From, at, rec.Bytes)
}

func TestEachFormatIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{
			"a recording",
			`{"seq":0,"time":"2026-11-21T05:00:00.5Z","direction":"meta","meta":{"format":1,"program":"hermes"}}` + "\n" +
				`{"seq":1,"time":"2026-11-21T05:00:01Z","direction":"client->agent","transport":"stdio","message":{"id":1}}` + "\n\n" +
				`{"seq":2,"time":"2026-11-21T05:00:02Z","direction":"agent->client","text":"Loading \"x\""}` + "\n" +
				`{"seq":3,"direction":"agent->client","base64":"/w==","cut":true}` + "\n" +
				`{"seq":4,"direction":"stderr","text":"listening"}` + "\n" +
				`{"seq":5,"direction":"note","end":"client->agent","text":"the client closed its side"}` + "\n" +
				`{"seq":6,"direction":"note","text":"exit status 0"}` + "\n",
			`1 beginning nobody 05:00:00.500 ""` + "\n" + `2 wire client 05:00:01.000 stdio "{\"id\":1}"` + "\n" + `4 wire agent 05:00:02.000 "Loading \"x\""` + "\n" +
				`5 wire agent cut "\xff"` + "\n" + `6 stderr agent "listening"` + "\n" + `7 end client ""` + "\n",
		},
		{
			"lines with dir and msg",
			`{"dir": "c2a", "t": 12, "msg": {"jsonrpc": "2.0"}}` + "\n" + `{"dir":"a2c","t":1500.5,"raw":"ready\n"}` + "\n" + `{"ts":86400.25,"dir":"a2c","base64":"/w=="}` + "\n" +
				`{"dir":"err","raw":"x"}` + "\n" + `{"dir":"a2c","end":true}` + "\n" +
				`{"dir":"c2a","transport":"http","http":{"exchange":1,"method":"POST","header":{"content-type":["application/json"]}}}`,
			`1 wire client 00:00:00.012 "{\"jsonrpc\": \"2.0\"}"` + "\n" + `2 wire agent 00:00:01.500 "ready"` + "\n" + `3 wire agent 00:00:00.250 "\xff"` + "\n" +
				`4 stderr agent "x"` + "\n" + `5 end agent ""` + "\n" + `6 wire client http POST 0 application/json ""` + "\n",
		},
		{
			"both sides of a proxy",
			`{"dir":"c2a","t":1,"msg":{"id":1}}` + "\n" + `{"dir":"c2a","t":2,"beyond":true,"msg":{"id":2}}` + "\n" + `{"dir":"a2c","beyond":true,"end":true}` + "\n" +
				`{"direction":"agent->client","beyond":true,"message":{"id":2}}` + "\n",
			`1 wire client 00:00:00.001 "{\"id\":1}"` + "\n" + `2 wire client beyond 00:00:00.002 "{\"id\":2}"` + "\n" + `3 end agent beyond ""` + "\n" + `4 wire agent beyond "{\"id\":2}"` + "\n",
		},
		{
			"messages alone, with noise",
			"starting\n" + `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}` + "\n" + `[{"id":1}]` + "\n" + "noise\n" + `{"id":0,"result":{}}` + "\r\n",
			`2 wire nobody "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}"` + "\n" + `3 wire nobody "[{\"id\":1}]"` + "\n" +
				`4 wire nobody "noise"` + "\n" + `5 wire nobody "{\"id\":0,\"result\":{}}\r"` + "\n",
		},
		{
			"a recording that was cut",
			`{"direction":"client->agent","message":{"id":1}}` + "\n" + `{"direction":"agent->client","mess`,
			`1 wire client "{\"id\":1}"` + "\n",
		},
		{
			"messages alone that were cut",
			`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":2,"res`,
			`1 wire nobody "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"` + "\n",
		},
		{
			"an export of acp-devtools",
			"{\n  \"version\": 1,\n  \"exportedAt\": 1781283223211,\n  \"tool\": {\"name\": \"acp-devtools\", \"version\": \"0.3.0\"},\n  \"session\": {\"messages\": []},\n" +
				`"messages": [{"seq":1,"timestamp":1781027007188,"direction":"editor-to-agent","raw":"{\"id\":0}","payload":{"id":0}},` + "\n" + `{"seq":2,"timestamp":1781027008149,"direction":"agent-to-editor","raw":"hello"}]}`,
			`0 wire client 17:43:27.188 "{\"id\":0}"` + "\n" + `0 wire agent 17:43:28.149 "hello"` + "\n",
		},
		{
			"messages copied from Zed",
			"[\n  {\n    \"_direction\": \"outgoing\",\n    \"_type\": \"request\",\n    \"id\": 0,\n    \"method\": \"initialize\",\n    \"params\": {\"protocolVersion\": 1}\n  },\n" +
				`{"_direction":"incoming","_type":"response","id":0,"method":"initialize","params":{"protocolVersion":1}},` +
				`{"_direction":"incoming","_type":"notification","id":null,"method":"session/update","params":null},` +
				`{"_direction":"outgoing","_type":"response","id":"a","method":"fs/read_text_file","params":{"code":-32601,"message":"no"}},` +
				`{"_direction":"outgoing","_type":"response","id":2,"method":"fs/write_text_file","params":null}]`,
			`0 wire client "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}"` + "\n" +
				`0 wire agent "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":1}}"` + "\n" +
				`0 wire agent "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\"}"` + "\n" +
				`0 wire client "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{\"code\":-32601,\"message\":\"no\"}}"` + "\n" +
				`0 wire client "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":null}"` + "\n",
		},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var gzipped bytes.Buffer
			z := gzip.NewWriter(&gzipped)
			_, _ = z.Write([]byte(c.text))
			_ = z.Close()
			e, _ := zstd.NewWriter(nil)
			for name, in := range map[string]io.Reader{
				"plain": strings.NewReader(c.text),
				"gzip":  &gzipped,
				"zstd":  bytes.NewReader(e.EncodeAll([]byte(c.text), nil)),
			} {
				got, err := read(t, in)
				if err != nil || got != c.want {
					t.Errorf("%s: %v\ngot\n%s\nwant\n%s", name, err, got, c.want)
				}
			}
		})
	}
}

func TestWhatIsNotACaptureIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	good := `{"dir":"c2a","msg":{"jsonrpc":"2.0"}}` + "\n"
	for _, c := range []struct {
		name, text, want string
		is               error
	}{
		{"text", "one\ntwo\n", "file:1: not a line of a capture", ErrUnknown},
		{"another object", `{"level":"info"}` + "\n", "file:1: not a line of a capture", ErrUnknown},
		{"a broken line", good + "{\"dir\"\n" + good, "file:2: invalid JSON", nil},
		{"a direction that is not known", good + `{"dir":"up","msg":{}}` + "\n", `file:2: dir "up": not a line of a capture`, ErrUnknown},
		{"another format", `{"direction":"meta","meta":{"format":9}}` + "\n", "file:1: not a format that this version knows", ErrFormat},
		{"no message", good + `{"dir":"c2a","t":1}` + "\n", "file:2: no message", nil},
		{"a bad time", `{"direction":"stderr","time":"soon","text":"x"}` + "\n", "file:1: parsing time", nil},
		{"bad base64", `{"direction":"stderr","base64":"?"}` + "\n", "file:1: illegal base64", nil},
		{"bad headers", `{"dir":"c2a","http":7}` + "\n", "file:1: http: json: cannot unmarshal", nil},
		{"a cut document", `[{"_direction":"incoming","_type":"request"},`, "file:2: unexpected EOF", io.ErrUnexpectedEOF},
		{"a document with something else", `[{"_direction":"up"}]`, `file:1: _direction "up"`, ErrUnknown},
		{"cut gzip", "\x1f\x8b\x08\x00", "unexpected EOF", io.ErrUnexpectedEOF},
	} {
		_, err := read(t, strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: the error is %v, want %s", c.name, err, c.want)
		}
	}
}

func TestOfALineThatIsTooLongOnlyTheBeginningIsRead(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	for _, c := range []struct{ head, want string }{
		{`{"dir":"a2c","t":5,"msg":{"pad":"`, "agent 1970"},
		{`{"seq":7,"time":"2026-11-21T05:00:00Z","direction":"client->agent","message":{"pad":"`, "client 2026"},
		{`{"jsonrpc":"2.0","method":"`, "nobody 0001"},
	} {
		for _, over := range []int{0, 1, limit} {
			line := c.head + strings.Repeat("x", limit+over-len(c.head)-4) + "\"}}\n"
			r, err := NewReader("file", strings.NewReader(line+`{"dir":"a2c","msg":{}}`+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			r.limit = limit
			rec, err := r.Next()
			got := fmt.Sprintf("%s %04d", rec.From, rec.Time.Year())
			if left := len(line) - beginning; err != nil || got != c.want && over > 0 || over == 0 && rec.Left != 0 || over > 0 && (rec.Left != left || rec.Bytes != nil) {
				t.Errorf("%.20s… with %d bytes: %s, %d left, %v", c.head, len(line), got, rec.Left, err)
			}
			if rec, err = r.Next(); err != nil || rec.Line != 2 || string(rec.Bytes) != "{}" {
				t.Errorf("%.20s…: then line %d %s, %v", c.head, rec.Line, rec.Bytes, err)
			}
			if cap(r.buf) > 4*limit {
				t.Errorf("a buffer of %d", cap(r.buf))
			}
		}
	}
}

func TestRecordingsOfHermesAreRead(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	w := trace.NewWriter(&file, trace.Options{Raw: true, Transport: "stdio", Meta: trace.Meta{Program: "test"}})
	want := ""
	for i, text := range []string{`{"jsonrpc":"2.0","id":1}`, `  {"a":1}`, "noise \x1b[31m", "\xff\xfe", `["a"]`, ""} {
		from, d := lint.Client, trace.ToAgent
		if i%2 == 1 {
			from, d = lint.Agent, trace.ToClient
		}
		if err := w.Message(d, []byte(text)); err != nil {
			t.Fatal(err)
		}
		want += fmt.Sprintf("%s %q\n", from, text)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader("file", &file)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	if err := Each(context.Background(), r, func(rec lint.Record) {
		if rec.Source == lint.Wire {
			got += fmt.Sprintf("%s %q\n", rec.From, rec.Bytes)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEachHandsOverEveryRecordInOrder(t *testing.T) {
	t.Parallel()
	message := func(i int) string {
		size := i % 300
		if i%5000 == 1 {
			size = 2 * batchBytes // handed over without a copy
		} else if i%500 == 2 {
			size = 2 * smallRecord
		}
		return fmt.Sprintf(`{"id":%d,"pad":"%s"}`, i, strings.Repeat(string(rune('a'+i%26)), size))
	}
	var file strings.Builder
	const lines = 20000
	for i := range lines {
		fmt.Fprintf(&file, `{"dir":"a2c","t":%d,"msg":%s}`+"\n", i, message(i))
	}
	r, err := NewReader("file", strings.NewReader(file.String()+"broken\n"))
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	err = Each(context.Background(), r, func(rec lint.Record) {
		if want := message(next); string(rec.Bytes) != want || rec.Line != next+1 {
			t.Fatalf("record %d of line %d is %.60s…, want %.60s…", next, rec.Line, rec.Bytes, want)
		} else if giant := len(want) > batchBytes; (rec.Tree == nil) != giant || !giant && string(rec.Tree.Root().Text()) != want {
			t.Fatalf("record %d of %d bytes has another tree", next, len(want))
		}
		next++
	})
	var e *Error
	if next != lines || !errors.As(err, &e) || e.Line != lines+1 {
		t.Errorf("%d records, then %v", next, err)
	}
}

func TestEachEndsWithItsContext(t *testing.T) {
	t.Parallel()
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	in, out := io.Pipe()
	defer out.Close()
	go func() {
		line := []byte(strings.Repeat(`{"dir":"a2c","msg":{}}`+"\n", 100))
		for {
			if _, err := out.Write(line); err != nil {
				return
			}
		}
	}()
	r, err := NewReader("file", in)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(time.Millisecond, func() { cancel(reason) })
	if err := Each(ctx, r, func(lint.Record) {}); !errors.Is(err, reason) {
		t.Errorf("the error is %v", err)
	}
}

func FuzzCapture(f *testing.F) {
	f.Add([]byte(`{"direction":"client->agent","message":{"id":1}}` + "\n" + `{"dir":"a2c","raw":"x"}`))
	f.Add([]byte(`[{"_direction":"outgoing","_type":"request","params":{"code":1}}]`))
	f.Add([]byte(`{"exportedAt":1,"tool":{"name":"acp-devtools"},"messages":[{"direction":"editor-to-agent","raw":"x"}]}`))
	f.Add([]byte("noise\n{\"jsonrpc\":\"2.0\"\n[1]\n\xff"))
	f.Add([]byte("\x28\xb5\x2f\xfd\x04\x00\x01\x00\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := NewReader("file", bytes.NewReader(text))
		if err != nil {
			return
		}
		defer r.Close()
		l := lint.New(lint.Options{Profile: lint.Strict})
		for {
			rec, err := r.Next()
			if err != nil {
				break
			}
			l.Add(rec)
		}
		l.Report()
	})
}
