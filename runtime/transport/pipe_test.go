package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-nvim/hermes/runtime/transport"
)

const maxPiped = 100_000

// piped returns the outer ends of two pairs whose inner ends, with their limit, are piped.
func piped(ctx context.Context, limits transport.PipeLimits) (a, b transport.Transport, ended <-chan error) {
	a, inA := transport.Pair()
	b, inB := transport.Pair()
	for _, in := range []transport.Transport{inA, inB} {
		in.(transport.Limiter).SetMaxMessage(maxPiped)
	}
	done := make(chan error, 1)
	go func() { done <- transport.Pipe(ctx, inA, inB, limits) }()
	return a, b, done
}

func TestAPipeCarriesMessagesBothWays(t *testing.T) {
	t.Parallel()
	a, b, ended := piped(t.Context(), transport.PipeLimits{})
	const n = 1000
	for _, ends := range [][2]transport.Transport{{a, b}, {b, a}} {
		go func() {
			for i := range n {
				ends[0].Write(fmt.Appendf(nil, `{"n":%d}`, i))
			}
		}()
		for i := range n {
			if got, err := ends[1].Read(nil); err != nil || string(got) != fmt.Sprintf(`{"n":%d}`, i) {
				t.Fatalf("%d: %q, %v", i, got, err)
			}
		}
	}
	a.Close()
	var end *transport.PipeEnd
	if err := <-ended; !errors.As(err, &end) || !end.First || !transport.Clean(err) {
		t.Fatal(err)
	}
}

func TestTheLastMessageOfAnEndIsPassedOn(t *testing.T) {
	t.Parallel()
	a, b, ended := piped(t.Context(), transport.PipeLimits{})
	for i := range 100 {
		b.Write(fmt.Appendf(nil, `{"n":%d}`, i))
	}
	b.Close()
	var end *transport.PipeEnd
	if err := <-ended; !errors.As(err, &end) || end.First || end.Err != io.EOF {
		t.Fatal(err)
	}
	for i := range 100 {
		if got, err := a.Read(nil); err != nil || string(got) != fmt.Sprintf(`{"n":%d}`, i) {
			t.Fatalf("%d: %q, %v", i, got, err)
		}
	}
	if _, err := a.Read(nil); err != io.EOF {
		t.Fatal(err)
	}
}

func TestAnEndThatDoesNotReadHoldsUpTheOtherAndEndsThePipe(t *testing.T) {
	t.Parallel()
	a, b, ended := piped(t.Context(), transport.PipeLimits{Stall: 100 * time.Millisecond})
	defer b.Close()
	var sent int
	msg := make([]byte, 64<<10)
	go func() {
		for a.Write(msg) == nil {
			sent++
		}
	}()
	var end *transport.PipeEnd
	if err := <-ended; !errors.Is(err, transport.ErrStalled) || !errors.As(err, &end) || end.First {
		t.Fatal(err)
	}
}

func TestAnIdlePipeEnds(t *testing.T) {
	t.Parallel()
	// In a bubble no message is late, however slow the machine is.
	synctest.Test(t, func(t *testing.T) {
		a, b, ended := piped(t.Context(), transport.PipeLimits{Idle: 200 * time.Millisecond})
		began := time.Now()
		for range 5 {
			time.Sleep(60 * time.Millisecond)
			a.Write([]byte("{}"))
			if _, err := b.Read(nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-ended; err != transport.ErrIdle || time.Since(began) < 500*time.Millisecond {
			t.Fatal(err, time.Since(began))
		}
	})
}

func TestAPipeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	a, _, ended := piped(ctx, transport.PipeLimits{})
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := a.Read(nil); err != io.EOF {
		t.Fatal(err)
	}
}

// A message above the limit of an end costs itself.
func TestAMessageAboveTheLimitOfAPipe(t *testing.T) {
	t.Parallel()
	const tooLarge = "message is above the limit of 100000 bytes"
	long := strings.Repeat("x", maxPiped+1)
	for name, c := range map[string]struct {
		msg  string
		back bool   // to who has sent it, otherwise to who was to get it
		want string // empty: nobody gets an error
	}{
		"a request":               {`{"jsonrpc":"2.0","id":"a","method":"m","params":"` + long + `"}`, true, `"id":"a"`},
		"an answer":               {`{"jsonrpc":"2.0","id":7,"result":"` + long + `"}`, false, `"id":7`},
		"an error":                {`{"jsonrpc":"2.0","id":7,"error":{"message":"` + long + `"}}`, false, `"id":7`},
		"a notification":          {`{"jsonrpc":"2.0","method":"m","params":"` + long + `"}`, false, ""},
		"the id comes too late":   {`{"jsonrpc":"2.0","method":"m","params":"` + long + `","id":1}`, false, ""},
		"whatever has only an id": {`{"jsonrpc":"2.0","id":7,"x":"` + long + `"}`, false, ""},
		"no message":              {long, false, ""},
	} {
		for _, first := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " ", first), func(t *testing.T) {
				t.Parallel()
				from, to, ended := piped(t.Context(), transport.PipeLimits{})
				if !first {
					from, to = to, from
				}
				if err := from.Write([]byte(c.msg)); err != nil {
					t.Fatal(err)
				}
				if err := from.Write([]byte(`{"next":1}`)); err != nil {
					t.Fatal(err)
				}
				if err := to.Write([]byte(`{"other":1}`)); err != nil {
					t.Fatal(err)
				}
				for _, end := range []transport.Transport{from, to} {
					want := map[transport.Transport]string{from: `{"other":1}`, to: `{"next":1}`}[end]
					n := 1
					if c.want != "" && c.back == (end == from) {
						n++
					}
					var got string
					for range n {
						msg, err := end.Read(nil)
						if err != nil {
							t.Fatal(err)
						}
						got += string(msg)
					}
					if !strings.Contains(got, want) || n > 1 && (!strings.Contains(got, c.want+`,"error":`) || !strings.Contains(got, tooLarge)) {
						t.Errorf("got %.300s, want %s and %s", got, want, c.want)
					}
				}
				from.Close()
				<-ended
			})
		}
	}
}
