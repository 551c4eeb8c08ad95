package host

import (
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/services"
)

// maxMerge bounds each text of a merge, in bytes.
const maxMerge = 8 << 20

// maxConflicts bounds how many places the answer to a merge names.
const maxConflicts = 100

// mergeOp asks what a buffer is to hold: when an agent writes its file, as a request says, or
// when the file has changed.
type mergeOp struct {
	RequestID string  `json:"requestId,omitempty"` // of the write
	Base      *string `json:"base,omitempty"`      // what both had in common; nil: there was no file
	Ours      string  `json:"ours"`                // what the buffer holds
	Theirs    string  `json:"theirs,omitempty"`    // what the file has now
}

// merged is the text that a buffer is to hold. Where both changed the same lines it has the
// lines of the buffer, and the conflicts name them. A write has a problem instead, for the
// agent.
type merged struct {
	Text      *string    `json:"text,omitempty"`
	Conflicts []conflict `json:"conflicts,omitzero"`
	Problem   string     `json:"problem,omitempty"`
}

type conflict struct {
	First  int `json:"first"` // line
	Ours   int `json:"ours"`  // lines of it
	Theirs int `json:"theirs"`
}

func (h *Host) merge(id string, p mergeOp) error {
	base := ""
	if p.Base != nil {
		base = *p.Base
	}
	if n := max(len(base), len(p.Ours), len(p.Theirs)); n > maxMerge {
		return wire.Invalid("merge: a text has %d bytes, the limit is %d", n, maxMerge)
	}
	var write ask.Rebase
	if p.RequestID != "" {
		if write = h.asks.Rebase(p.RequestID); write == nil {
			h.DoneWhole(id, wire.ObjectOf(merged{Problem: "the write was cancelled"}))
			return nil
		}
	}
	h.Start(func() {
		if write != nil {
			h.DoneWhole(id, wire.ObjectOf(mergedForWrite(write, p.Base, p.Ours)))
			return
		}
		text, conflicts := services.Merge(base, p.Ours, p.Theirs)
		m := merged{Text: &text, Conflicts: []conflict{}}
		for _, c := range conflicts[:min(len(conflicts), maxConflicts)] {
			m.Conflicts = append(m.Conflicts, conflict{c.At, len(c.Ours), len(c.Theirs)})
		}
		h.DoneWhole(id, wire.ObjectOf(m))
	})
	return nil
}

func mergedForWrite(write ask.Rebase, disk *string, now string) merged {
	text, err := write(disk, now)
	if err != nil {
		return merged{Problem: err.Error()} // a text for the agent, not a failure of the operation
	}
	return merged{Text: &text}
}
