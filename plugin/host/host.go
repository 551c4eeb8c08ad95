// Package host is the Neovim host: the process behind the Lua API. It runs
// agents, keeps what the protocol needs remembered and gives Neovim a paced
// stream of events. All protocol decisions are taken here; Lua shows them.
package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/preset"
)

// Protocol numbers the messages between this package and lua/hermes/rpc.lua;
// it changes when either side would misunderstand the other.
const Protocol = 3

// maxLogged bounds what the log keeps of the data of an agent's error, in bytes.
const maxLogged = 64 << 10

// shutdownTime bounds how long agents are given to end after Neovim left.
const shutdownTime = 5 * time.Second

// Host serves one Neovim.
type Host struct {
	log      *slog.Logger
	version  string
	nvim     neovim
	queue    *queue
	asks     *asks
	reviews  *reviews
	keeper   []string
	launcher []string
	ctx      context.Context // ends when Neovim is gone

	mu          sync.Mutex
	config      config
	connections map[string]*connection
	work        sync.WaitGroup
	rules       rules
	registry    *preset.Set // agents of a registry that was read; nil before

	traffic    atomic.Bool  // somebody listens to TrafficMessage
	rawTraffic atomic.Bool  // with its secrets
	wires      atomic.Int64 // connections made so far
}

// Options of Serve; the zero value logs nothing.
type Options struct {
	Version  string       // of the program, told to Lua
	Keeper   []string     // launch.Command's, for agents and their commands; nil: none
	Launcher []string     // of confine.Sandbox.Box; nil: agents cannot be confined by rules
	Logger   *slog.Logger // must not write to the channel to Neovim
}

// Serve speaks msgpack-RPC with Neovim over in and out until Neovim goes away
// or ctx ends, then stops every agent. It returns once they are gone, at the
// latest after five seconds.
func Serve(ctx context.Context, in io.Reader, out io.WriteCloser, opts Options) error {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(errQueueClosed)
	// A write to a Neovim that is gone must fail, not kill: agents have to be
	// ended first. (Ignoring the signal would be inherited by them.)
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	defer signal.Stop(pipe)
	h := &Host{
		log:         opts.Logger,
		version:     opts.Version,
		keeper:      opts.Keeper,
		launcher:    opts.Launcher,
		queue:       newQueue(queueBytes),
		ctx:         ctx,
		connections: make(map[string]*connection),
	}
	h.asks = newAsks(h)
	h.reviews = newReviews(h)
	nvim, err := newChannel(in, out, h.log, h.handle)
	if err != nil {
		return fmt.Errorf("plugin: %w", err)
	}
	h.nvim = nvim
	context.AfterFunc(ctx, func() { nvim.Close() })
	h.queue.push(new(object).str("version", opts.Version).num("protocol", Protocol).item(kindHello))
	delivered := make(chan struct{})
	go func() {
		defer close(delivered)
		h.queue.run(h.deliver)
	}()
	err = nvim.Serve()
	cancel(errQueueClosed)
	h.queue.close()
	<-delivered
	h.stop()
	h.reviews.close()
	if err != nil {
		return fmt.Errorf("plugin: neovim: %w", err)
	}
	return nil
}

// deliver hands Neovim a batch and returns how long Neovim was busy with it. Of a
// batch that cannot be decoded only the bad items are lost.
func (h *Host) deliver(batch []item) time.Duration {
	busy, err := h.nvim.Deliver(batch)
	switch {
	case err == nil || h.ctx.Err() != nil:
	case len(batch) == 1:
		h.log.Error("delivery to neovim failed", "kind", batch[0].kind, "error", err)
		if batch[0].kind != kindNotice {
			h.notice("error", "a message of kind %s was lost: %v", batch[0].kind, err)
		}
	default:
		for i := range batch {
			busy += h.deliver(batch[i : i+1])
		}
	}
	return busy
}

// stop ends all agents and waits for them, up to shutdownTime.
func (h *Host) stop() {
	for _, c := range h.all() {
		c.stop(errHostStopped)
	}
	done := make(chan struct{})
	go func() {
		h.work.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(shutdownTime):
		h.log.Error("agents did not end in time", "limit", shutdownTime)
	}
}

// start runs f on its own; Serve waits for it.
func (h *Host) start(f func()) {
	h.work.Go(f)
}

func (h *Host) all() []*connection {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*connection, 0, len(h.connections))
	for _, c := range h.connections {
		list = append(list, c)
	}
	return list
}

func (h *Host) connection(name string) (*connection, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.connections[name]; c != nil {
		return c, nil
	}
	return nil, &opError{Kind: errorNotConnected, Message: fmt.Sprintf("agent %q is not connected; call hermes.connect(%q) first", name, name)}
}

// handle takes one operation from Neovim. It is called for one after the
// other and must not wait for anything.
func (h *Host) handle(op, id, text string) {
	var err error
	switch op {
	case "setup":
		err = decodeOp(text, h.setup)
	case "connect":
		err = decodeOp(text, func(p connectOp) error { return h.connect(id, p) })
	case "disconnect":
		err = decodeOp(text, func(p disconnectOp) error { return h.disconnect(id, p) })
	case "request":
		err = decodeRequest(text, func(p requestOp) error { return h.request(id, p) })
	case "notify":
		err = decodeRequest(text, func(p requestOp) error { return h.notify(id, p) })
	case "cancel":
		err = decodeOp(text, func(p cancelOp) error { return h.cancel(id, p) })
	case "agents":
		err = decodeOp(text, func(p agentsOp) error { return h.listAgents(id, p) })
	case "queue":
		err = decodeOp(text, func(p queueOp) error { return h.changeQueue(id, p) })
	case "kill":
		err = decodeOp(text, func(p killOp) error { return h.kill(id, p) })
	case "merge":
		err = decodeOp(text, func(p mergeOp) error { return h.merge(id, p) })
	case "rules":
		err = decodeOp(text, func(p rulesOp) error { return h.changeRules(id, p) })
	case "review":
		err = decodeOp(text, func(p reviewOp) error { return h.review(id, p) })
	case "respond":
		err = decodeOp(text, func(p answer) error { h.asks.answer(id, p); return nil })
	default:
		err = &opError{Kind: errorInvalid, Message: fmt.Sprintf("the host does not know the operation %q; rebuild it to match the plugin", op)}
	}
	switch {
	case err == nil:
	case op == "setup": // nobody waits for its end
		h.notice("error", "setup: %v; the configuration is what it was", err)
	case op == "respond":
		h.notice("error", "the answer to %s: %v", id, err)
		h.asks.answer(id, answer{By: "host", Error: &acp.Error{
			Code: acp.ErrorCodeInternalError, Message: "the editor's answer cannot be read"}})
	default:
		h.fail(id, err)
	}
}

func decodeOp[T any](text string, f func(T) error) error {
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return &opError{Kind: errorInvalid, Message: fmt.Sprintf("bad arguments: %v", err)}
	}
	return f(v)
}

// done ends the operation id with a result; none is an empty object.
func (h *Host) done(id string, result []byte) {
	if len(result) == 0 || string(result) == "null" {
		result = []byte("{}")
	}
	h.queue.push(new(object).str("id", id).raw("result", result).item(kindDone))
}

// fail ends the operation id with an error.
func (h *Host) fail(id string, err error) {
	log := h.log.With("id", id, "error", err)
	var peer *acp.Error
	if errors.As(err, &peer) {
		log = log.With("code", peer.Code, "data", string(peer.Data[:min(len(peer.Data), maxLogged)]))
	}
	log.Info("operation failed")
	h.queue.push(new(object).str("id", id).object("error", describe(err)).item(kindDone))
}

// notice shows a line to the user; level is warn or error.
func (h *Host) notice(level, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	h.log.Warn("notice", "text", text)
	h.queue.push(new(object).str("level", level).str("message", text).item(kindNotice))
}

// event makes the item that fires the User autocommand name.
func event(name string, data *object) item { return data.item(name) }
