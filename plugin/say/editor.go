// Package say is Neovim as the parts of the host speak to it: events, the ends of
// operations, and lines for the user. All of it goes one way, in order, through one queue.
package say

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// maxLogged bounds what the log keeps of the data of an agent's error, in bytes.
const maxLogged = 64 << 10

// Editor is one Neovim. Its methods may be called at the same time.
type Editor struct {
	*wire.Queue
	Log  *slog.Logger
	work sync.WaitGroup
}

// New makes the editor that a queue leads to.
func New(queue *wire.Queue, log *slog.Logger) *Editor { return &Editor{Queue: queue, Log: log} }

// Start runs f on its own; Wait waits for it.
func (e *Editor) Start(f func()) { e.work.Go(f) }

// Wait waits for everything that was started.
func (e *Editor) Wait() { e.work.Wait() }

// Done ends the operation id with a result; none is an empty object.
func (e *Editor) Done(id string, result []byte) {
	if len(result) == 0 || string(result) == "null" {
		result = []byte("{}")
	}
	e.Push(wire.ItemOf(Done{ID: id, Result: json.RawMessage(result)}))
}

// DoneWhole ends the operation id with a result that is mostly one long text.
func (e *Editor) DoneWhole(id string, result *wire.Object) {
	it := wire.ItemOf(Done{ID: id, Result: result})
	it.Max = wire.MaxWrite
	e.Push(it)
}

// Fail ends the operation id with an error.
func (e *Editor) Fail(id string, err error) {
	log := e.Log.With("id", id, "error", err)
	var peer *acp.Error
	if errors.As(err, &peer) {
		log = log.With("code", peer.Code, "data", string(peer.Data[:min(len(peer.Data), maxLogged)]))
	}
	log.Info("operation failed")
	e.Push(wire.ItemOf(Done{ID: id, Error: Describe(err)}))
}

// Notice shows a line to the user; level is warn or error.
func (e *Editor) Notice(level, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	e.Log.Warn("notice", "text", text)
	e.Push(wire.ItemOf(Notice{level, text}))
}
