package host

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/neovim/go-client/msgpack/rpc"
)

// neovim is what the host needs of the editor.
type neovim interface {
	// Deliver runs hermes.rpc.deliver with the batch and waits for it.
	Deliver(batch []item) error
	// Serve reads from Neovim until it goes away.
	Serve() error
	Close() error
}

// deliverLua is all the Lua the host ever sends; data travels as arguments.
const deliverLua = `require("hermes.rpc").deliver(...)`

// channel is a neovim over msgpack-RPC.
type channel struct{ ep *rpc.Endpoint }

// newChannel speaks msgpack-RPC over in and out. Every "hermes" notification
// is given to handle, one after the other.
func newChannel(in io.Reader, out io.WriteCloser, log *slog.Logger, handle func(op, id, json string)) (*channel, error) {
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
	return &channel{ep}, nil
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

func (c *channel) Deliver(batch []item) error {
	list := make([][2]string, len(batch))
	for i, it := range batch {
		list[i] = [2]string{it.kind, string(it.json)}
	}
	return c.ep.Call("nvim_exec_lua", nil, deliverLua, []any{list})
}

func (c *channel) Serve() error { return c.ep.Serve() }
func (c *channel) Close() error { return c.ep.Close() }
