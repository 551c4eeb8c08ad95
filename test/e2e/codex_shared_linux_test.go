package e2e

import "testing"

// What a shared session changes is known exactly when its agent runs in a shim, whoever has
// prompted it, and also after the agent has gone.
func TestWhatASharedSessionChangesIsKnownExactly(t *testing.T) {
	t.Parallel()
	shareASession(t, "codex_shared_shim.lua")
}
