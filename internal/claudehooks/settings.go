package claudehooks

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// How long Claude Code waits for a hook, in seconds. A person answers a gate.
const (
	hookTime = 10
	gateTime = 24 * 60 * 60
)

// The events of Claude Code that are hooked. It has no HTTP hook for the start of a
// session.
const (
	userPromptSubmit   = "UserPromptSubmit"
	preToolUse         = "PreToolUse"
	postToolUse        = "PostToolUse"
	postToolUseFailure = "PostToolUseFailure"
	notification       = "Notification"
	stop               = "Stop"
	stopFailure        = "StopFailure"
	sessionEnd         = "SessionEnd"
)

// hook is an HTTP hook in the settings of Claude Code.
type hook struct {
	Type      string            `json:"type"`
	URL       string            `json:"url"`
	Headers   map[string]string `json:"headers"`
	Timeout   int               `json:"timeout"`             // seconds
	OnFailure string            `json:"onFailure,omitempty"` // "block": what could not be asked about is denied
}

type matcher struct {
	Hooks []hook `json:"hooks"` // of every tool
}

// writeSettings writes a settings file that only this user can read. Claude Code adds
// it to the settings that it finds by itself.
func writeSettings(url, token string, gate, closed bool) (path string, err error) {
	h := hook{Type: "http", URL: url, Headers: map[string]string{"Authorization": bearer + token}, Timeout: hookTime}
	hooks := map[string][]matcher{}
	for _, event := range []string{userPromptSubmit, postToolUse, postToolUseFailure, notification, stop, stopFailure, sessionEnd} {
		hooks[event] = []matcher{{Hooks: []hook{h}}}
	}
	if gate {
		h.Timeout = gateTime
	}
	if closed {
		h.OnFailure = "block"
	}
	hooks[preToolUse] = []matcher{{Hooks: []hook{h}}}
	data, err := json.MarshalIndent(map[string]any{"hooks": hooks}, "", "  ")
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "hermes-claude-") // only for this user
	if err != nil {
		return "", fmt.Errorf("settings for Claude Code: %w", err)
	}
	path = filepath.Join(dir, "settings.json")
	if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		os.RemoveAll(dir)
		return "", fmt.Errorf("settings for Claude Code: %w", err)
	}
	return path, nil
}
