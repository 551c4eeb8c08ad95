package rpc

import (
	"context"
	"log/slog"
	"sync/atomic"
)

// Options configures a Conn. The zero value is right for every handler that says which
// side it is, as the handlers of AgentSide, ClientSide, AgentVersions and
// ClientVersions do.
type Options struct {
	// Server makes this the agent's side; a handler of acp.SideAgent sets it. A server answers lines that are not messages and refuses messages
	// without "jsonrpc":"2.0". A client reports and drops such lines, because
	// answering an agent that echoes would never end, and accepts such messages,
	// because some agents send them.
	Server bool
	// Handshake keeps the client to the order that the protocol demands; a handler of
	// acp.SideAgent sets it. Requests before initialize are
	// refused with -32600, and so is a second initialize while one runs or, from
	// version 2 on, after other requests. Notifications before it are dropped.
	// Requests that come while it runs wait for it. All that is refused or
	// dropped counts as FaultRefused.
	// See https://agentclientprotocol.com/protocol/initialization.
	Handshake bool
	// Limits bounds memory and waiting; zero members mean the defaults.
	Limits Limits
	// Budget bounds what several connections hold together, beside the Limits of
	// each; nil: no such bound. A program with many connections gives all of
	// them the same.
	Budget *Budget
	// OnFault gets what was wrong with the traffic and did not end the
	// connection; Fault.Log logs it. It is called by the goroutine that reads, or
	// by a handler's, so it must return soon, and may be called concurrently.
	OnFault func(Fault)
	// Middleware stands between the connection and the program; the first is the
	// outermost.
	Middleware []Middleware
	// Tap is a Middleware.Tap of the program itself, which knows its side. It comes
	// before the taps of Middleware.
	Tap func(Direction, []byte)
}

// Direction says which way a message goes.
type Direction uint8

// The directions.
const (
	Inbound  Direction = iota // from the peer
	Outbound                  // to the peer
)

func (d Direction) String() string {
	if d == Outbound {
		return "out"
	}
	return "in"
}

// FaultKind says what was wrong with the traffic.
type FaultKind uint8

// The kinds of fault.
const (
	FaultNoise           FaultKind = iota // a line that does not look like a message, such as a banner
	FaultParse                            // a message that is not JSON
	FaultInvalid                          // JSON that is not a message
	FaultTooLarge                         // a message above the limit
	FaultLarge                            // a message, incoming or outgoing, above Limits.Notice
	FaultUnknownResponse                  // an answer to nothing
	FaultDuplicate                        // a second answer, or a second request with the id of a pending one
	FaultLate                             // an answer to a call that was given up
	FaultUnknownMethod                    // a notification nobody handles
	FaultParams                           // a notification whose params do not decode; its handler did not run
	FaultHandler                          // a notification handler failed, or a handler panicked
	FaultRefused                          // a request above Limits.Requests or Limits.Questions, or against Options.Handshake
	FaultUnanswered                       // an error answer was dropped because the peer does not read
	FaultStalled                          // the peer stopped inside a message
	FaultBacklog                          // a handler's call failed with *BacklogError
	faultKinds
)

var faultNames = [faultKinds]string{
	"noise", "parse error", "invalid message", "message too large", "large message", "unknown response",
	"duplicate id", "late response", "unknown notification", "bad params", "handler failed",
	"request refused", "error not sent", "stalled", "backlog",
}

func (k FaultKind) String() string { return faultNames[k] }

// Fault reports something wrong with the traffic that the connection survived.
type Fault struct {
	Kind FaultKind
	Err  error  // what exactly; never nil
	Line []byte // beginning of the message, when there is one; valid during the call
	Size int    // of the whole message in bytes
}

// Log logs the fault, without the content of the message. Faults that peers cause
// all the time are logged at the level Debug, everything else at Warn. (Connections do not
// log by themselves, so that programs without a log do not link log/slog.)
func (f Fault) Log(l *slog.Logger) {
	level := slog.LevelWarn
	switch f.Kind {
	case FaultUnknownMethod, FaultLate, FaultNoise, FaultLarge:
		level = slog.LevelDebug
	}
	l.Log(context.Background(), level, f.Kind.String(), "error", f.Err, "bytes", f.Size)
}

// faultLine is how much of a message a Fault carries, in bytes.
const faultLine = 8 << 10

// Stats counts what a connection has seen.
type Stats struct {
	Received, Sent uint64 // messages
	faults         [faultKinds]uint64
}

// Count returns how often a kind of fault occurred.
func (s Stats) Count(k FaultKind) uint64 { return s.faults[k] }

type counters struct {
	received, sent atomic.Uint64
	faults         [faultKinds]atomic.Uint64
}

// Stats returns the counters so far.
func (c *Conn) Stats() Stats {
	s := Stats{Received: c.count.received.Load(), Sent: c.count.sent.Load()}
	for i := range s.faults {
		s.faults[i] = c.count.faults[i].Load()
	}
	return s
}

// Report counts and reports a fault that the program found itself, such as a
// *PanicError of work that outlives its handler.
func (c *Conn) Report(kind FaultKind, err error) { c.fault(kind, err, nil) }

// fault counts and reports a fault.
func (c *Conn) fault(kind FaultKind, err error, line []byte) {
	c.count.faults[kind].Add(1)
	if c.opts.OnFault != nil {
		c.opts.OnFault(Fault{Kind: kind, Err: err, Line: line[:min(len(line), faultLine)], Size: len(line)})
	}
}
