package host

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/internal/review/tree"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// Bounds of the list of a folder's files.
const (
	listTime  = 10 * time.Second
	listFiles = 20_000
	listBytes = 2 << 20
)

// listOp asks for the names of the files below a folder.
type listOp struct {
	Root string `json:"root"`
}

type fileNames struct {
	Files    string `json:"files"`    // one on a line: one long string costs Neovim far less than many short ones
	Complete bool   `json:"complete"` // these are all
}

// list answers with the names of the files below a folder, for completion. No
// program runs in the folder: an agent may have prepared it for those that do.
func (h *Host) list(id string, p listOp) error {
	h.Start(func() {
		ctx, cancel := context.WithTimeout(h.ctx, listTime)
		defer cancel()
		names, complete, err := tree.Names(ctx, p.Root, tree.Options{})
		if err != nil {
			h.Fail(id, &wire.Error{Kind: wire.ErrorInvalid, Message: err.Error()})
			return
		}
		text, all := joined(names)
		h.DoneWhole(id, wire.ObjectOf(fileNames{text, complete && all}))
	})
	return nil
}

// joined returns the names that can be offered. all is false if some did not fit.
func joined(names []string) (text string, all bool) {
	var b strings.Builder
	n := 0
	for _, name := range names {
		if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			continue
		}
		if n++; n > listFiles || b.Len()+len(name) >= listBytes {
			return b.String(), false
		}
		b.WriteString(name + "\n")
	}
	return b.String(), true
}
