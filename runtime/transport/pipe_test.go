package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-nvim/hermes/runtime/transport"
)

// piped returns the outer ends of two pairs whose inner ends are piped.
func piped(ctx context.Context, limits transport.PipeLimits) (a, b transport.Transport, ended <-chan error) {
	a, inA := transport.Pair()
	b, inB := transport.Pair()
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
