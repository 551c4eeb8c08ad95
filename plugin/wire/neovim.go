package wire

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/neovim/go-client/msgpack/rpc"
)

// Neovim is what the host needs of the editor.
type Neovim interface {
	// Deliver runs deliver() of lua/hermes/core/rpc.lua with the batch, waits for it and returns how
	// long it took. With an error nothing of the batch was handled.
	Deliver(batch []Item) (time.Duration, error)
	// Serve reads from Neovim until it goes away.
	Serve() error
	Close() error
}

// DeliverAll delivers a batch and returns how long Neovim was busy with it. If Neovim
// cannot decode the batch, only the bad items are lost, and lost is called with each.
func DeliverAll(v Neovim, batch []Item, lost func(Item, error)) time.Duration {
	busy, err := v.Deliver(batch)
	switch {
	case err == nil:
	case len(batch) == 1:
		lost(batch[0], err)
	default:
		for i := range batch {
			busy += DeliverAll(v, batch[i:i+1], lost)
		}
	}
	return busy
}

// deliverLua is all the Lua the host ever sends; data travels as arguments.
const deliverLua = `require("hermes") -- joins the modules
return require("hermes.core.rpc").deliver(...)`

// channel is a neovim over msgpack-RPC.
type channel struct {
	ep  *rpc.Endpoint
	buf []byte // of the batch, used again
}

// NewChannel speaks msgpack-RPC over in and out. Every "hermes" notification
// is given to handle, one after the other.
func NewChannel(in io.Reader, out io.WriteCloser, log *slog.Logger, handle func(op, id, json string)) (*channel, error) {
	ep, err := rpc.NewEndpoint(in, out, out, rpc.WithLogf(func(format string, args ...any) {
		log.Warn("rpc", "message", fmt.Sprintf(format, args...))
	}))
	if err != nil {
		return nil, err
	}
	// The arguments are variadic because the endpoint closes on a
	// notification whose arguments do not convert.
	err = ep.Register("hermes", func(args ...any) {
		s, err := stringArgs(args)
		if err != nil {
			log.Error("bad notification from neovim", "error", err)
			return
		}
		handle(s[0], s[1], s[2])
	})
	if err != nil {
		return nil, err
	}
	// Neovim reports what went wrong with a notification this way only.
	err = ep.Register("nvim_error_event", func(args ...any) {
		log.Error("neovim reports an error", "args", fmt.Sprint(args...))
	})
	if err != nil {
		return nil, err
	}
	return &channel{ep: ep}, nil
}

func stringArgs(args []any) (s [3]string, err error) {
	if len(args) != len(s) {
		return s, fmt.Errorf("%d arguments, want op, id and json", len(args))
	}
	for i, a := range args {
		switch a := a.(type) {
		case string:
			s[i] = a
		case []byte:
			s[i] = string(a)
		default:
			return s, fmt.Errorf("argument %d is a %T, want a string", i+1, a)
		}
	}
	return s, nil
}

// Deliver sends the batch as one text, since decoding many takes Neovim longer.
func (c *channel) Deliver(batch []Item) (time.Duration, error) {
	text := append(c.buf[:0], '[')
	for i, it := range batch {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, '"')
		text = append(text, it.Kind...)
		text = append(text, `",`...)
		text = append(text, it.JSON...)
	}
	text = append(text, ']')
	if c.buf = text; cap(text) > 2*MaxCost {
		c.buf = nil
	}
	var ms float64
	err := c.ep.Call("nvim_exec_lua", &ms, deliverLua, []any{text})
	return time.Duration(ms * float64(time.Millisecond)), err
}

func (c *channel) Serve() error { return c.ep.Serve() }
func (c *channel) Close() error { return c.ep.Close() }
