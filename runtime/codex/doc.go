// Package codex drives the Codex command line through its app-server, without
// Node.js and without the terminal UI.
//
// A [Session] is one thread of Codex. [Session.RunTurn] sends one message and
// returns when the turn has ended: with the final text, or with the error that
// explains why there is none. Commands and file changes that need approval are
// answered by flags, then by a callback, and otherwise denied. A [Server] is the
// process; several sessions may share one.
//
// The messages are in package appserver. Package codexagent makes an ACP agent of
// this package.
package codex
