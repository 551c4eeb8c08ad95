// Package acp holds the messages of the Agent Client Protocol, version 1, and
// what both sides of a connection do with them. An agent is a program that
// works on code with a language model; a client is the editor in front of it.
// See https://agentclientprotocol.com.
//
// # Implementing a side
//
// A client implements [ClientHandler], an agent [AgentHandler]. Embed
// [UnimplementedClientHandler] or [UnimplementedAgentHandler] and write only the
// methods you need:
//
//	type editor struct{ acp.UnimplementedClientHandler }
//
//	func (e *editor) SessionUpdate(ctx context.Context, n *acp.SessionNotification) error {
//		if chunk, ok := n.Update.(*acp.AgentMessageChunk); ok {
//			if text, ok := chunk.Content.(*acp.TextContent); ok {
//				fmt.Print(text.Text)
//			}
//		}
//		return nil
//	}
//
// Package rpc has the connections: rpc.Serve runs an agent, rpc.Open connects a
// client to one. In the other direction [Agent] and [Client] call the peer. Their
// Session method returns shorthands for one session:
//
//	client.Session(id).Say(ctx, "Looking at the tests.")
//
// [ClientSide] and [AgentSide] make a [Handler] of typed handlers, which is what
// connections of package rpc work with.
//
// # Messages
//
// Every definition of the protocol is a Go type with the same name.
//
//   - A required member is a plain field.
//   - An optional member is an [Opt], a pointer to a struct, or a list, map or
//     raw JSON that is nil when absent. Nil and empty lists differ: one is not
//     sent, the other is sent as [].
//   - A member that null clears and absence keeps is a [Patch].
//   - A choice is a sealed interface such as [SessionUpdate], whose variants are
//     pointers: use a type switch.
//   - Extension data is in Meta, as raw JSON. Write it with the key of your
//     domain, as https://agentclientprotocol.com/protocol/extensibility says.
//
// # What survives
//
// Decoding and encoding loses nothing. Members that this version does not know are
// in Extra, unknown variants in the Other type of the union, and unknown values of
// an enum are kept as they are. If such a value decides something (a stop reason,
// the kind of a permission option) and the protocol closes the enum, the message is
// an error. The spelling is not kept: space, the order of members, escapes in
// strings, null or false for a member that may be left out.
//
// # What fails
//
// Decoding is as strict as the protocol. A missing required member, a wrong type, a
// number out of range, a duplicate member (also inside raw JSON), text that is not
// UTF-8, more than 512 levels: all are errors that name the place ([Pointer]). The
// value then holds only a part of the message.
//
// Where the protocol says so, members that do not fit are dropped instead, and so
// are elements of some lists. This never applies to a duplicate member, and nothing
// is repaired where that could change what runs on a machine: commands, arguments,
// environments, paths, roots, MCP servers and permission options.
//
// Further rules are not needed to understand a message; Check lists them.
//
// # What is printed
//
// String, and so fmt and log/slog, print a message without values of environments
// and headers and without passwords and queries of URLs, and with long values cut.
// Log whole messages: for a slice or map of them, the handlers of log/slog write the
// text as on the wire, and so does %#v.
//
// # Versions
//
// This package is version 1 as it is stable. Drafts are in acp/unstable, version
// 2 in acp/v2 and acp/v2/unstable. The packages share [Opt], [Patch], [Extra],
// [RequestID], [Error] and the contracts of connections, and nothing else. A
// [Protocol] describes one of them to a program that handles several.
//
// Values are not safe for concurrent use while one goroutine changes them.
// Functions and handlers made by this package are.
package acp
