package transport_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// lines reads everything a stream has, with the error that ended it.
func lines(s transport.Transport) (got []string, err error) {
	for {
		msg, err := s.Read(nil)
		var big *transport.TooLargeError
		if errors.As(err, &big) && err == error(big) {
			got = append(got, "too large")
			continue
		}
		if len(msg) > 0 {
			got = append(got, string(msg))
		}
		if err != nil {
			return got, err
		}
	}
}

func TestLinesAreMessages(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, in string
		want     []string
	}{
		{"C001 one", "{}\n", []string{"{}"}},
		{"C001 several", "{}\n[]\n1\n", []string{"{}", "[]", "1"}},
		{"C004 multi-byte", "\"é☃😀\"\n", []string{"\"é☃😀\""}},
		{"C005 no last line end", "{}\n{\"a\":1}", []string{"{}", "{\"a\":1}"}},
		{"C008 blank lines", "\n\r\n \t\n{}\n\n", []string{"{}"}},
		{"C008 CR LF", "{}\r\n[]\r\n", []string{"{}", "[]"}},
		{"C008 byte order mark", "\xef\xbb\xbf{}\n[]\n", []string{"{}", "[]"}},
		{"C008 byte order marks", "\xef\xbb\xbf{}\n\xef\xbb\xbf[]\r\n\xef\xbb\xbf\n1\n", []string{"{}", "[]", "1"}},
		{"a byte order mark inside", "{}\xef\xbb\xbf\n", []string{"{}\xef\xbb\xbf"}},
		{"a title before a message", "\x1b]0;agent\a{}\n\x1b]2;agent\x1b\\{\"a\":1}\n", []string{"{}", `{"a":1}`}},
		{"codes before a message", "\x1b[?25l\x1b[2K\x1b]0;a {}\a{}\n", []string{"{}"}},
		{"codes without a message", "\x1b[1mhello {}\x1b[0m\n\x1b]0;{}\n\x1b\n\x1b[", []string{"\x1b[1mhello {}\x1b[0m", "\x1b]0;{}", "\x1b", "\x1b["}},
		{"C008 space around", "  {} \t\n", []string{"{}"}},
		{"at the limit", strings.Repeat("x", 100) + "\n{}\n", []string{strings.Repeat("x", 100), "{}"}},
		{"above the limit", strings.Repeat("x", 101) + "\n{}\n", []string{"too large", "{}"}},
		{"far above the limit", "{}\n" + strings.Repeat("x", 1500) + "\n{}\n", []string{"{}", "too large", "{}"}},
		{"above the limit at the end", "{}\n" + strings.Repeat("x", 150), []string{"{}", "too large"}},
		{"twice above the limit", strings.Repeat("x", 150) + "\n" + strings.Repeat("y", 150) + "\n{}", []string{"too large", "too large", "{}"}},
	} {
		readers := map[string]func() io.Reader{
			"whole":     func() io.Reader { return strings.NewReader(test.in) },
			"one byte":  func() io.Reader { return iotest.OneByteReader(strings.NewReader(test.in)) },
			"halves":    func() io.Reader { return iotest.HalfReader(strings.NewReader(test.in)) },
			"EOF early": func() io.Reader { return iotest.DataErrReader(strings.NewReader(test.in)) },
		}
		for how, reader := range readers {
			t.Run(test.name+"/"+how, func(t *testing.T) {
				s := transport.NewStream(reader(), io.Discard)
				s.SetMaxMessage(100)
				got, err := lines(s)
				if err != io.EOF || !slices.Equal(got, test.want) {
					t.Errorf("read %.200q, %v; want %.200q", got, err, test.want)
				}
			})
		}
	}
}

func TestMessagesBeforeAReadErrorAreDelivered(t *testing.T) {
	t.Parallel()
	fault := errors.New("input/output error")
	s := transport.NewStream(io.MultiReader(strings.NewReader("{}\n{\"a\""), iotest.ErrReader(fault)), io.Discard)
	got, err := lines(s)
	if err != fault || !slices.Equal(got, []string{"{}", "{\"a\""}) {
		t.Fatalf("read %q, %v", got, err)
	}
}

func TestTheHeadOfAMessageAboveTheLimitIsKept(t *testing.T) {
	t.Parallel()
	s := transport.NewStream(strings.NewReader(`{"id":7,"result":"`+strings.Repeat("x", 1<<20)+"\"}\n"), io.Discard)
	s.SetMaxMessage(1 << 16)
	_, err := s.Read(nil)
	var big *transport.TooLargeError
	if !errors.As(err, &big) || !bytes.HasPrefix(big.Head, []byte(`{"id":7,`)) || big.Limit != 1<<16 || len(big.Head) > 4096 {
		t.Fatalf("Read returned %v", err)
	}
}

// endless is an endless line that counts the bytes read from it.
type endless struct{ n int }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	e.n += len(b)
	return len(b), nil
}

func TestAnEndlessLineFailsWithinBoundedMemory(t *testing.T) {
	const limit = 1 << 20
	in := new(endless)
	s := transport.NewStream(in, io.Discard)
	s.SetMaxMessage(limit)
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	got, err := lines(s)
	goruntime.ReadMemStats(&after)
	if err == nil || !slices.Equal(got, []string{"too large"}) {
		t.Fatalf("read %q, %v", got, err)
	}
	if in.n > 20*limit {
		t.Errorf("%d bytes were read of it", in.n)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8*limit {
		t.Errorf("%d bytes were allocated for a limit of %d", used, limit)
	}
}

func TestAMessageIsWrittenAsOneLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := transport.NewStream(strings.NewReader(""), &out)
	s.Write([]byte("{\n  \"a\": 1,\r\n  \"b\": \"x\\ny\"\n}"))
	s.WriteBatch([][]byte{[]byte("[]"), []byte("[\n]")})
	want := "{   \"a\": 1,    \"b\": \"x\\ny\" }\n[]\n[ ]\n"
	if out.String() != want {
		t.Fatalf("wrote %q, want %q", out.String(), want)
	}
}

func TestABatchIsOneWrite(t *testing.T) {
	t.Parallel()
	n := 0
	s := transport.NewStream(strings.NewReader(""), writerFunc(func(b []byte) (int, error) { n++; return len(b), nil }))
	if err := s.WriteBatch([][]byte{[]byte("1"), []byte("2"), []byte("3")}); err != nil || n != 1 {
		t.Fatal(n, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestClosingUnblocksReadAndWrite(t *testing.T) {
	t.Parallel()
	r1, w1, _ := os.Pipe()
	r2, w2, _ := os.Pipe()
	defer w1.Close()
	defer r2.Close()
	a, b := transport.Pair()
	defer b.Close()
	for name, tr := range map[string]transport.Transport{"stream": transport.NewStream(r1, w2), "pair": a} {
		ended := make(chan error, 2)
		go func() {
			_, err := tr.Read(nil)
			ended <- err
		}()
		go func() {
			big := bytes.Repeat([]byte("x"), 1<<20)
			for {
				if err := tr.Write(big); err != nil {
					ended <- err
					return
				}
			}
		}()
		time.Sleep(20 * time.Millisecond)
		if err := tr.Close(); err != nil {
			t.Errorf("%s: Close: %v", name, err)
		}
		tr.Close()
		for range 2 {
			select {
			case err := <-ended:
				if !errors.Is(err, transport.ErrClosed) {
					t.Errorf("%s: ended with %v", name, err)
				}
			case <-time.After(patience.Soon):
				t.Fatalf("%s: Close does not unblock", name)
			}
		}
	}
}

func TestAPairCarriesMessagesInOrderAndThenTheEnd(t *testing.T) {
	t.Parallel()
	a, b := transport.Pair()
	defer b.Close()
	const n = 5000
	go func() {
		for i := range n {
			a.Write(fmt.Appendf(nil, "%d %s", i, strings.Repeat("x", i%3000)))
		}
		a.Close()
	}()
	var buf []byte
	for i := range n {
		msg, err := b.Read(buf)
		if err != nil || string(msg) != fmt.Sprintf("%d %s", i, strings.Repeat("x", i%3000)) {
			t.Fatalf("number %d is %.20q, %v", i, msg, err)
		}
		buf = msg
	}
	if _, err := b.Read(buf); err != io.EOF {
		t.Fatalf("then %v", err)
	}
	if err := b.Write([]byte("x")); err == nil {
		t.Fatal("wrote to a closed end")
	}
}

func TestAPairRefusesMessagesAboveTheLimit(t *testing.T) {
	t.Parallel()
	a, b := transport.Pair()
	defer a.Close()
	defer b.Close()
	b.(transport.Limiter).SetMaxMessage(10)
	a.Write([]byte("12345678901"))
	a.Write([]byte("1234567890"))
	if _, err := b.Read(nil); !errors.As(err, new(*transport.TooLargeError)) {
		t.Fatal(err)
	}
	if msg, err := b.Read(nil); err != nil || len(msg) != 10 {
		t.Fatal(string(msg), err)
	}
}
