package traffic

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// Faults report the output of an agent that is no message, and bad messages.
type Faults struct {
	Editor  *say.Editor
	Agent   string
	Context context.Context // ends with the connection
	Stopped func() bool     // by the user

	mu     sync.Mutex
	counts map[rpc.FaultKind]int
}

// Said passes a line on that is not part of the protocol.
func (f *Faults) Said(stream, line string) {
	if f.Editor.Room(f.Context) == nil {
		f.Editor.Push(new(wire.Object).Str("agent", f.Agent).Str("stream", stream).Str("line", line).Item(events.AgentStderr))
	}
}

// Note reports a fault in an agent's messages. Every fault is an event, and the
// first of a kind is also shown.
func (f *Faults) Note(fault rpc.Fault) {
	line := strings.ToValidUTF8(string(fault.Line), "\ufffd")
	switch fault.Kind {
	case rpc.FaultNoise:
		f.Said("stdout", line)
		return
	case rpc.FaultParse, rpc.FaultInvalid, rpc.FaultTooLarge:
	default:
		return // the log has it
	}
	if f.Stopped() {
		return // inside a message
	}
	f.mu.Lock()
	if f.counts == nil {
		f.counts = make(map[rpc.FaultKind]int)
	}
	first := f.counts[fault.Kind] == 0
	f.counts[fault.Kind]++
	f.mu.Unlock()
	message := fmt.Sprintf("agent %q sent a bad message: %v", f.Agent, fault.Err)
	if first {
		f.Editor.Notice("error", "%s", message)
	}
	if f.Editor.Room(f.Context) == nil {
		f.Editor.Push(new(wire.Object).Str("agent", f.Agent).Str("kind", wire.ErrorWire.String()).
			Str("message", message).Item(events.RequestFailed))
	}
}
