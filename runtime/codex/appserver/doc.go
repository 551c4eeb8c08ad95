// Package appserver has the messages of the Codex app-server, as they are in the
// schema of one version of codex: the calls of package codex, and the requests
// and notifications that it gets. It is generated like the packages of ACP.
// [Agent] calls the app-server, [ClientHandler] is what a client implements, and
// [ClientSide] makes a handler of it. Members and variants of other versions are
// kept.
//
// The schema spells the requests of the app-server's former protocol as well,
// such as execCommandApproval.
//
// Spec: https://github.com/openai/codex/blob/main/codex-rs/app-server/README.md
package appserver
