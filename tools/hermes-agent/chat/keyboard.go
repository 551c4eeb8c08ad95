package chat

import (
	"bytes"
	"context"
	"io"
	"sync"
	"time"
)

// The keys that end a read of a line.
const (
	ctrlC = 3
	ctrlD = 4
)

// early is within what time something is read that was typed before anybody read.
const early = 100 * time.Millisecond

// keyboard is what the user types. One goroutine reads it all the time, so that nothing has
// to be interrupted: whoever waits for keys can stop waiting.
type keyboard struct {
	more chan struct{} // holds a token when there is something new

	mu    sync.Mutex
	typed []byte // and not read yet
	end   error  // of the input
}

func newKeyboard(in io.Reader) *keyboard {
	k := &keyboard{more: make(chan struct{}, 1)}
	go func() {
		b := make([]byte, 4096)
		for began := time.Now(); ; began = (time.Time{}) {
			n, err := in.Read(b)
			if time.Since(began) < early { // a terminal that becomes raw meanwhile gives this for Ctrl-D
				copy(b, bytes.ReplaceAll(b[:n], []byte{0}, []byte{ctrlD}))
			}
			k.mu.Lock()
			k.typed, k.end = append(k.typed, b[:n]...), err
			k.mu.Unlock()
			select {
			case k.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	return k
}

// take returns what was typed so far.
func (k *keyboard) take() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	typed := k.typed
	k.typed = nil
	return typed
}

// back puts keys in front of those that were typed since.
func (k *keyboard) back(typed []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.typed = append(typed, k.typed...)
}

// keys reads from the keyboard until a context ends. A read ends with Ctrl-C or Ctrl-D, so
// that a line editor that ends there has nothing of what follows.
type keys struct {
	*keyboard
	ctx  context.Context
	last byte
}

// Read implements io.Reader.
func (k *keys) Read(p []byte) (int, error) {
	for {
		k.mu.Lock()
		n, end := copy(p, k.typed), k.end
		if at := bytes.IndexAny(p[:n], "\x03\x04"); at >= 0 {
			n = at + 1
		}
		k.typed = k.typed[n:]
		k.mu.Unlock()
		switch {
		case n > 0:
			k.last = p[n-1]
			return n, nil
		case end != nil:
			return 0, end
		}
		select {
		case <-k.more:
		case <-k.ctx.Done():
			return 0, context.Cause(k.ctx)
		}
	}
}
