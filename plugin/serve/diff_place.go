package serve

import (
	"path/filepath"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/files"
)

// diffPlace is where the old text of a diff stands in its file. Some agents put the text that they
// replace into a diff, and not the text of the file.
type diffPlace struct {
	Diff  int `json:"diff"`  // which of the tool call's diffs, from 1
	Times int `json:"times"` // how often the old text occurs in the file
	// Line is the first line of OldText, from 1. OldText and NewText are the texts of the diff with
	// the rest of their lines and up to three lines around them. They are missing unless the old text
	// occurs once, and if it is the whole file.
	Line    int    `json:"line,omitempty"`
	OldText string `json:"oldText,omitempty"`
	NewText string `json:"newText,omitempty"`
}

const (
	maxPlaces     = 50      // diffs of a tool call that are looked up
	maxPlacedFile = 1 << 20 // bytes of a file that is read for it
	maxAround     = 8 << 10 // bytes around a text that are worth showing
	linesAround   = 3
)

// Places finds the diffs of a tool call in their files, as JSON. One whose file cannot be read, or
// is new, has no place.
func (s *Session) Places(call *acp.ToolCallUpdate) []byte {
	list := s.diffPlaces(call)
	if len(list) == 0 {
		return nil
	}
	return wire.Encode(list)
}

func (s *Session) diffPlaces(call *acp.ToolCallUpdate) []diffPlace {
	var list []diffPlace
	var ws *files.Workspace
	n := 0
	for _, c := range call.Content {
		d, ok := c.(*acp.Diff)
		if !ok {
			continue
		}
		if n++; n > maxPlaces {
			break
		}
		if d.OldText.V == "" {
			continue
		}
		if ws == nil {
			var err error
			if ws, err = files.Open(s.Roots, files.Options{AllowHardLinks: true}); err != nil {
				return nil
			}
			defer ws.Close()
		}
		path := d.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Root(), path)
		}
		found, err := ws.Peek(path, maxPlacedFile)
		if err != nil || !found.IsText {
			continue
		}
		p := placeIn(found.Text, d.OldText.V, d.NewText)
		p.Diff = n
		list = append(list, p)
	}
	return list
}

// placeIn finds the old text of a diff in the text of a file.
func placeIn(text, old, now string) diffPlace {
	if old == text {
		return diffPlace{Times: 1}
	}
	p := diffPlace{Times: strings.Count(text, old)}
	if p.Times != 1 {
		return p
	}
	at := strings.Index(text, old)
	end := at + len(old)
	from, to := strings.LastIndexByte(text[:at], '\n')+1, end
	if !strings.HasSuffix(old, "\n") {
		to = lineEnd(text, to)
	}
	for range linesAround {
		if from > 0 {
			from = strings.LastIndexByte(text[:from-1], '\n') + 1
		}
		to = lineEnd(text, to)
	}
	if to-from-len(old) > maxAround {
		from, to = at, end
	}
	p.Line = strings.Count(text[:from], "\n") + 1
	p.OldText, p.NewText = text[from:to], text[from:at]+now+text[end:to]
	return p
}

// lineEnd is where the line that begins or goes on at from ends, with its line break.
func lineEnd(text string, from int) int {
	if i := strings.IndexByte(text[from:], '\n'); i >= 0 {
		return from + i + 1
	}
	return len(text)
}
