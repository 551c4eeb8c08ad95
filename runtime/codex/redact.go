package codex

import "github.com/hermes-nvim/hermes/internal/lazyregexp"

// secret matches what must not get from the process's last words into errors and
// logs: keys, tokens, and values that are called so.
var secret = lazyregexp.New(`(?i)\b(sk-[a-z0-9_-]{8,}|eyJ[a-z0-9_-]{8,}\.[a-z0-9_.-]+|gh[a-z]_[a-z0-9]{16,})` +
	`|(bearer\s+|(?:api[_-]?key|token|secret|password|authorization)["']?\s*[:=]\s*["']?)[^\s"',;]+`)

// escape matches what sets colours and titles in a terminal. Codex logs with colours.
var escape = lazyregexp.New(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])`)

// Redact replaces keys and tokens in a text, and leaves escape sequences out.
func Redact(text string) string {
	return secret().ReplaceAllString(escape().ReplaceAllString(text, ""), "${2}[redacted]")
}

// redactedError is an error whose text has no secrets.
type redactedError struct{ err error }

func redacted(err error) error { return &redactedError{err} }

func (e *redactedError) Error() string { return Redact(e.err.Error()) }

func (e *redactedError) Unwrap() error { return e.err }
