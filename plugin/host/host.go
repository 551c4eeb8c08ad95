// Package host is the Neovim host: the process behind the Lua API. It runs
// agents, keeps what the protocol needs remembered and gives Neovim a paced
// stream of events. All protocol decisions are taken here; Lua shows them.
package host

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/agents"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/reviews"
	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/traffic"
	"github.com/hermes-nvim/hermes/plugin/turns"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// Protocol numbers the messages between this package and lua/hermes/core/rpc.lua;
// it changes when either side would misunderstand the other.
const Protocol = 7

// shutdownTime bounds how long agents are given to end after Neovim left.
const shutdownTime = 5 * time.Second

// Host serves one Neovim.
type Host struct {
	*say.Editor
	nvim    wire.Neovim
	asks    *ask.Asks
	reviews *reviews.Reviews
	ctx     context.Context // ends when Neovim is gone

	ops     map[string]wire.Operation
	agents  *agents.Agents
	known   setup.Agents
	rules   ask.Rules
	traffic traffic.Listening

	mu     sync.Mutex
	config config
}

// hello is the first message, once.
type hello struct {
	Version  string `json:"version"`
	Protocol int64  `json:"protocol"` // must be the one of lua/hermes/core/rpc.lua
}

func (hello) Kind() string { return wire.KindHello }

// The errors of everything that is open at the end.
var (
	errNeovimEnded error = &wire.Error{Kind: wire.ErrorDisconnected, Message: "Neovim has ended"}
	errHostStopped error = &wire.Error{Kind: wire.ErrorDisconnected, Message: "the host was stopped"}
)

// Options of Serve; the zero value logs nothing.
type Options struct {
	Version  string       // of the program, as Lua gets it
	Keeper   []string     // launch.Command's, for agents and their commands; nil: none
	Launcher []string     // of confine.Sandbox.Box; nil: agents cannot be confined by rules
	Shim     []string     // this program as hermes shim; nil: agents cannot run in one
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
	defer cancel(errNeovimEnded)
	// A write to a Neovim that is gone must fail, not kill: agents have to be
	// ended first. (Ignoring the signal would be inherited by them.)
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	defer signal.Stop(pipe)
	h := &Host{
		Editor: say.New(wire.NewQueue(wire.QueueBytes, errNeovimEnded), opts.Logger),
		ctx:    ctx,
	}
	h.asks = ask.NewAsks(h.Queue, h.Log)
	h.reviews = reviews.New(h.forReviews())
	h.agents = agents.New(agents.Options{
		Editor: h.Editor, Context: ctx, Asks: h.asks, Rules: &h.rules, Policy: h.policy, Config: h.configured, Known: &h.known,
		Reviews: h.reviews, Traffic: &h.traffic, Version: opts.Version, Keeper: opts.Keeper, Launcher: opts.Launcher, Shim: opts.Shim,
	})
	h.ops = h.operations()
	nvim, err := wire.NewChannel(in, out, h.Log, h.handle)
	if err != nil {
		return fmt.Errorf("plugin: %w", err)
	}
	h.nvim = nvim
	context.AfterFunc(ctx, func() { nvim.Close() })
	h.Push(wire.ItemOf(hello{opts.Version, Protocol}))
	delivered := make(chan struct{})
	go func() {
		defer close(delivered)
		h.Run(h.deliver)
	}()
	err = nvim.Serve()
	cancel(errNeovimEnded)
	h.Close()
	<-delivered
	h.stop()
	h.reviews.Close()
	if err != nil {
		return fmt.Errorf("plugin: neovim: %w", err)
	}
	return nil
}

// deliver hands Neovim a batch and returns how long Neovim was busy with it.
func (h *Host) deliver(batch []wire.Item) time.Duration {
	return wire.DeliverAll(h.nvim, batch, func(it wire.Item, err error) {
		if h.ctx.Err() != nil {
			return
		}
		h.Log.Error("delivery to neovim failed", "kind", it.Kind, "error", err)
		if it.Kind != wire.KindNotice { // or a Neovim that takes nothing would get notice after notice
			h.Notice("error", "a message of kind %s was lost: %v", it.Kind, err)
		}
	})
}

// stop ends all agents and waits for them, up to shutdownTime.
func (h *Host) stop() {
	h.agents.Stop(errHostStopped)
	done := make(chan struct{})
	go func() {
		h.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(shutdownTime):
		h.Log.Error("agents did not end in time", "limit", shutdownTime)
	}
}

// operations are what Neovim may ask for, by name. lua/hermes/core/border_gen.lua and
// docs/design.md are made of them.
func (h *Host) operations() map[string]wire.Operation {
	ops := map[string]wire.Operation{
		"setup":      wire.Takes(func(_ string, c config) error { return h.setup(c) }),
		"environ":    wire.Takes(func(_ string, p environOp) error { return p.apply() }),
		"connect":    wire.Takes(h.agents.Connect),
		"disconnect": wire.Takes(h.agents.Disconnect),
		"request":    wire.Takes(h.agents.Request),
		"notify":     wire.Takes(h.agents.Notify),
		"cancel":     wire.Takes(h.cancel).Ends(cancelled{}),
		"agents":     wire.Takes(h.listAgents).Ends(agentList{}),
		"queue":      wire.Takes(h.changeQueue).Ends(turns.Changed{}),
		"kill":       wire.Takes(h.kill),
		"list":       wire.Takes(h.list).Ends(fileNames{}),
		"mentions":   wire.Takes(h.mentions).Ends(mentioned{}),
		"merge":      wire.Takes(h.merge).Ends(merged{}),
		"rules":      wire.Takes(h.changeRules).Ends(ruleList{}),
		"respond":    wire.Takes(func(id string, p ask.Answer) error { h.asks.Answer(id, p); return nil }),
	}
	maps.Copy(ops, h.reviews.Operations())
	return ops
}

// handle takes one operation from Neovim. It is called for one after the
// other and must not wait for anything.
func (h *Host) handle(op, id, text string) {
	o, known := h.ops[op]
	err := wire.Unknown("operation", op)
	if known {
		err = o.Do(id, text)
	}
	switch {
	case err == nil:
	case op == "setup": // nobody waits for its end
		h.Notice("error", "setup: %v; the configuration is what it was", err)
	case op == "environ":
		h.Notice("error", "the environment of Neovim does not reach agents: %v", err)
	case op == "respond":
		h.Notice("error", "the answer to %s: %v", id, err)
		h.asks.Answer(id, ask.Answer{By: "host", Error: &acp.Error{
			Code: acp.ErrorCodeInternalError, Message: "the editor's answer cannot be read"}})
	default:
		h.Fail(id, err)
	}
}
