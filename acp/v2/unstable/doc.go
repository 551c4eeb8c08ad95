// Package unstable holds the messages of the Agent Client Protocol, version 2, with the drafts that are not part of it yet.
// It may change in any release of this module.
//
// It is used exactly like package acp, whose documentation explains messages,
// handlers and callers, and whose hand-written types it shares. No type of it
// is the same as one of acp: choose the package after initialize, and write one
// adapter for each version you speak.
package unstable
