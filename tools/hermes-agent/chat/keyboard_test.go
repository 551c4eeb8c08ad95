package chat

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// A line editor that ends with Ctrl-C is thrown away. Text that was typed behind it must
// not be lost with it.
func TestAReadEndsWithTheKeysThatEndALine(t *testing.T) {
	t.Parallel()
	in, typed := io.Pipe()
	k := &keys{keyboard: newKeyboard(in), ctx: t.Context()}
	go func() {
		io.WriteString(typed, "rubbish\x03/mode\r\x04more")
		typed.Close()
	}()
	b := make([]byte, 100)
	for _, want := range []string{"rubbish\x03", "/mode\r\x04", "more"} {
		n, err := k.Read(b)
		if got := string(b[:n]); err != nil || got != want || k.last != want[len(want)-1] {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	if n, err := k.Read(b); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestAReadOfKeysEndsWithItsContextAndLosesNothing(t *testing.T) {
	t.Parallel()
	in, typed := io.Pipe()
	defer typed.Close()
	over := errors.New("over")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(over)
	k := &keys{keyboard: newKeyboard(in), ctx: ctx}
	b := make([]byte, 100)
	if _, err := k.Read(b); !errors.Is(err, over) {
		t.Errorf("%v", err)
	}
	k.back([]byte("before "))
	k.ctx = t.Context()
	go io.WriteString(typed, "and after")
	got := ""
	for got != "before and after" {
		n, err := k.Read(b)
		if got += string(b[:n]); err != nil {
			t.Fatalf("%q, %v", got, err)
		}
	}
}

func TestControlCharactersThatArePastedAreNotEchoed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if _, err := (echo{&out}).Write([]byte("a\u009b2J\x07\x00b\x1b[K\tä\r\n")); err != nil || out.String() != "a2Jb\x1b[K\tä\r\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestCtrlDTypedBeforeAnybodyReadsIsNotLost(t *testing.T) {
	t.Parallel()
	// The bytes of a terminal that became raw after Ctrl-D was typed.
	k := keys{keyboard: newKeyboard(strings.NewReader("ab\x00")), ctx: t.Context()}
	b := make([]byte, 10)
	if n, err := k.Read(b); err != nil || string(b[:n]) != "ab\x04" {
		t.Errorf("%q, %v", b[:n], err)
	}
}
