// Package lint judges the traffic between a client and an agent: what one of them
// does that the Agent Client Protocol forbids or advises against.
//
// A [Linter] reads the records of one connection, from a file or as they happen, and
// calls the rules. Each [Rule] is a value with a check that subscribes to events:
//
//	Rule{ID: "CAN13", ..., Check: func(c *Checker) {
//		c.Notification(func(m *Message) {
//			c.Exercised()
//			if m.Session != nil && m.Session.Turn == nil {
//				c.Fail(m, m.Params.Get("sessionId"), "no turn is running")
//			}
//		}, "session/cancel")
//	}}
//
// What the rules know of the connection is its [History]: the version, the
// capabilities, the requests that are not answered, sessions, turns, tool calls and
// terminals. Handlers of messages run before the message changes the history, and
// handlers of transitions (turns, tool calls, sessions) after it.
//
// A rule has failed, or it passed, or it was not exercised: the capture has nothing
// that it is about. Rules say only what the capture proves. A capture that starts in
// the middle of a connection, a message that may have crossed another one, and
// history that was dropped to bound memory prove nothing.
//
// # Memory
//
// A Linter needs the same memory for a capture of any length: one message with its
// tree, and per connection at most the limits in history.go of unanswered requests,
// sessions, tool calls and terminals. Above them the oldest is dropped, what ended
// first. Each rule keeps its first 100 findings and counts the others.
package lint
