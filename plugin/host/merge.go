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

// mergeOp asks what a buffer is to hold: when an agent writes its file, if
// RequestID is set, and else when the file has become Theirs. Ours is what the
// buffer holds.
type mergeOp struct {
	RequestID    string
	Base         *string
	Ours, Theirs string
}

// merge answers with the text. Where both changed the same lines, the text has
// those of Ours, and conflicts names them; a write has a problem instead, which is
// told the agent.
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
			h.DoneWhole(id, new(wire.Object).Str("problem", "the write was cancelled"))
			return nil
		}
	}
	h.Start(func() {
		if write != nil {
			h.DoneWhole(id, mergeForWrite(write, p.Base, p.Ours))
			return
		}
		text, conflicts := services.Merge(base, p.Ours, p.Theirs)
		var list []byte
		for i, c := range conflicts[:min(len(conflicts), maxConflicts)] {
			if i > 0 {
				list = append(list, ',')
			}
			list = append(list, new(wire.Object).Num("first", int64(c.At)).Num("ours", int64(len(c.Ours))).Num("theirs", int64(len(c.Theirs))).JSON()...)
		}
		h.DoneWhole(id, new(wire.Object).Str("text", text).Raw("conflicts", append(append([]byte{'['}, list...), ']')))
	})
	return nil
}

func mergeForWrite(write ask.Rebase, disk *string, now string) *wire.Object {
	text, err := write(disk, now)
	if err != nil {
		return new(wire.Object).Str("problem", err.Error()) // a text for the agent, not a failure of the operation
	}
	return new(wire.Object).Str("text", text)
}
