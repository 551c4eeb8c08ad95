// Package httpstream carries messages over HTTP as the protocol's proposal for
// remote agents has it: one endpoint, messages to the agent are POST requests,
// messages from it arrive on event streams (SSE), over HTTP/1.1 or HTTP/2.
//
//	POST initialize         200, the answer, and an Acp-Connection-Id
//	POST any other message  202; its answer and updates arrive on a stream
//	GET                     the stream of the connection, or with an
//	                        Acp-Session-Id that of a session
//	DELETE                  202; ends the connection
//
// Answers to session/new, session/list, session/load and other calls without an
// open session travel on the stream of the connection, all others on the stream of
// their session.
//
// Servers of this package number their events and say in a Last-Event-ID header
// where a stream begins, so that a client can continue one that was cut; with
// other servers the calls that waited for the stream fail instead.
//
// See https://agentclientprotocol.com/rfds/streamable-http-websocket-transport.
package httpstream

import (
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
)

// Names on the wire.
const (
	headerConnection = "Acp-Connection-Id"
	headerSession    = "Acp-Session-Id"
	headerLastEvent  = "Last-Event-Id"
	typeJSON         = "application/json"
	typeEvents       = "text/event-stream"
)

// maxID bounds connection, session and request ids, in bytes.
const maxID = 1024

// replayWait is how long either end holds back the answer to session/load for
// the updates before it, which travel on another stream.
const replayWait = 2 * time.Second

// sound reports whether an id fits in a header.
func sound(id string) bool { return len(id) <= maxID && access.Visible(id) }

// aboutSession reports whether a method of any version is about one session, and
// whether it is known at all. It has its own list of the methods that only version
// 2 has, so that programs without version 2 do not link its messages.
func aboutSession(method string) (session, known bool) {
	switch method {
	case "auth/login", "auth/logout":
		return false, true
	case "terminal/cancel", "tool_call/cancel":
		return true, true
	}
	m, known := acp.V1.Method(acp.SideAgent, method)
	return m.Session, known
}

// answeredOn returns the session on whose stream the answer to a client's
// request travels, "" for the stream of the connection.
func answeredOn(e *envelope.Envelope, session string) string {
	if string(e.Method) == acp.MethodSessionLoad {
		return ""
	}
	return session
}
