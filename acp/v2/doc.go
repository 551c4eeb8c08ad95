// Package v2 holds the messages of the Agent Client Protocol, version 2.
// Version 2 is not final yet.
//
// It is used exactly like package acp, whose documentation explains messages,
// handlers and callers, and whose hand-written types it shares. No type of it
// is the same as one of acp: choose the package after initialize, and write one
// adapter for each version you speak.
package v2
