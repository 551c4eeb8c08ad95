package main

import "github.com/hermes-nvim/hermes/acp"

// maxHeld bounds the updates that arrive before the session is known, in bytes.
const maxHeld = 16 << 20

// held are updates that wait.
type held struct {
	updates []*acp.SessionNotification
	bytes   int
}

// add reports whether there was room.
func (h *held) add(n *acp.SessionNotification) bool {
	const overhead = 512 // of the decoded form, approximately
	size := len(n.AppendJSON(nil)) + overhead
	if h.bytes+size > maxHeld {
		return false
	}
	h.updates, h.bytes = append(h.updates, n), h.bytes+size
	return true
}

func (h *held) take() []*acp.SessionNotification {
	updates := h.updates
	*h = held{}
	return updates
}
