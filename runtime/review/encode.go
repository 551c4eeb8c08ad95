package review

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// A record is one entry of the journal. The last one about a file is the valid
// one.
type record struct {
	File       *savedFile  `json:"file,omitempty"`
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
	Forget     []string    `json:"forget,omitempty"` // checkpoints
	Counters   *counters   `json:"counters,omitempty"`
	Works      string      `json:"works,omitempty"` // a session whose turn runs
	Rests      string      `json:"rests,omitempty"` // one whose turn is over
}

// counters are the last numbers that were given.
type counters struct {
	Changes ChangeID `json:"changes"`
	Hunks   uint64   `json:"hunks"`
	Acts    uint32   `json:"acts"`
}

// savedFile is a file without its text, which is a blob.
type savedFile struct {
	Path     []byte                      `json:"path"` // any bytes
	Text     Hash                        `json:"text,omitzero"`
	CRLF     bool                        `json:"crlf,omitempty"`
	Cuts     []int                       `json:"cuts,omitempty"` // pairs: a line that does not end at its first newline, and its length
	Runs     []uint64                    `json:"runs,omitempty"` // see appendRun
	Node     savedAttribute[savedNode]   `json:"node"`
	Mode     savedAttribute[fs.FileMode] `json:"mode"`
	From     []byte                      `json:"from,omitempty"`
	To       []byte                      `json:"to,omitempty"`
	Last     ChangeID                    `json:"last,omitempty"`
	Forgot   ChangeID                    `json:"forgot,omitempty"`
	Authors  map[ChangeID]Author         `json:"authors,omitempty"`
	Intents  []savedIntent               `json:"intents,omitempty"`
	Changed  time.Time                   `json:"changed,omitzero"`
	Counters counters                    `json:"counters"`
	Away     []savedAway                 `json:"away,omitempty"`
	Claimed  bool                        `json:"claimed,omitempty"`
}

type savedIntent struct {
	Author Author      `json:"author"`
	After  fingerprint `json:"after"`
}

type savedNode struct {
	Kind   Kind   `json:"kind,omitempty"`
	Target []byte `json:"target,omitempty"`
}

type savedAttribute[T any] struct {
	Base  T              `json:"base"`
	Steps []savedStep[T] `json:"steps,omitempty"`
}

type savedStep[T any] struct {
	To    T        `json:"to"`
	By    ChangeID `json:"by"`
	State state    `json:"state"`
	Act   uint32   `json:"act,omitempty"`
	Hunk  uint64   `json:"hunk,omitempty"`
}

func saveAttribute[T comparable, S any](a attribute[T], save func(T) S) (out savedAttribute[S]) {
	out.Base = save(a.base)
	for _, s := range a.steps {
		out.Steps = append(out.Steps, savedStep[S]{save(s.to), s.fact.by, s.fact.state, s.fact.act, s.hunk})
	}
	return out
}

func loadAttribute[T comparable, S any](a savedAttribute[S], load func(S) T) (out attribute[T], err error) {
	out.base = load(a.Base)
	for _, s := range a.Steps {
		f := fact{s.By, s.State, s.Act}
		if f.state == never || !f.valid() {
			return out, errDamaged
		}
		out.steps = append(out.steps, step[T]{load(s.To), f, s.Hunk})
	}
	return out, nil
}

var errDamaged = errors.New("the record is damaged")

func (f fact) valid() bool {
	return f.state <= rejected && (f.state == never) == (f.by == 0) && (f.state != never && f.state != pending || f.act == 0)
}

// all returns the text of every line that a weave holds.
func (w weave) all() []byte {
	text := make([]byte, 0, w.sum.bytes)
	for _, b := range w.blocks {
		for _, l := range b.lines {
			text = append(text, l.text...)
		}
	}
	return text
}

// encode returns what cuts the text of all lines into lines again and marks
// them.
func (w weave) encode() (cuts []int, runs []uint64) {
	var last *marks
	n, i := uint64(0), 0
	for _, block := range w.blocks {
		for _, l := range block.lines {
			if strings.IndexByte(l.text, '\n') != len(l.text)-1 {
				cuts = append(cuts, i, len(l.text))
			}
			if n > 0 && (l.m == last || l.m != nil && last != nil && *l.m == *last) {
				n++
			} else {
				runs = appendRun(runs, n, last)
				n, last = 1, l.m
			}
			i++
		}
	}
	return cuts, appendRun(runs, n, last)
}

// appendRun appends how many lines have the same marks, and these: the flags,
// and, if they have any, the rest.
func appendRun(runs []uint64, n uint64, m *marks) []uint64 {
	switch {
	case n == 0:
		return runs
	case m == nil:
		return append(runs, n, 0)
	}
	flags := uint64(m.add.state) | uint64(m.del.state)<<2
	if m.user {
		flags |= 1 << 4
	}
	return append(runs, n, flags, uint64(m.add.by), uint64(m.add.act), uint64(m.del.by), uint64(m.del.act), m.hunk)
}

func decodeWeave(text string, cuts []int, runs []uint64) (weave, error) {
	var lines []line
	for len(runs) > 0 {
		if len(runs) < 2 || runs[1] >= 1<<5 || runs[1] != 0 && len(runs) < 7 || runs[0] == 0 {
			return weave{}, errDamaged
		}
		n, flags := runs[0], runs[1]
		runs = runs[2:]
		var m marks
		if flags != 0 {
			if slices.Max(runs[:4]) > 1<<32-1 {
				return weave{}, errDamaged
			}
			m = marks{
				add:  fact{ChangeID(runs[0]), state(flags & 3), uint32(runs[1])},
				del:  fact{ChangeID(runs[2]), state(flags >> 2 & 3), uint32(runs[3])},
				user: flags>>4 == 1, hunk: runs[4],
			}
			runs = runs[5:]
		}
		if !m.add.valid() || !m.del.valid() {
			return weave{}, errDamaged
		}
		for ; n > 0; n-- {
			end := strings.IndexByte(text, '\n') + 1
			if len(cuts) >= 2 && cuts[0] == len(lines) {
				end, cuts = cuts[1], cuts[2:]
			}
			if end <= 0 || end > len(text) {
				return weave{}, errDamaged
			}
			lines = append(lines, line{text: text[:end]}.with(m))
			text = text[end:]
		}
	}
	if text != "" || len(cuts) > 0 {
		return weave{}, errDamaged
	}
	return newWeave(appendBlocks(nil, lines), false, new(version)), nil
}

func nodeOf(n savedNode) node      { return node{n.Kind, string(n.Target)} }
func savedNodeOf(n node) savedNode { return savedNode{n.kind, []byte(n.target)} }
func same[T any](v T) T            { return v }

// encodeFile returns a file without its text.
func (r *Review) encodeFile(path string, f *tracked) *savedFile {
	cuts, runs := f.text.encode()
	s := &savedFile{
		Path: []byte(path), CRLF: f.text.crlf, Cuts: cuts, Runs: runs,
		Node: saveAttribute(f.node, savedNodeOf), Mode: saveAttribute(f.mode, same),
		From: []byte(f.from), To: []byte(f.to), Last: f.last, Forgot: f.forgot, Changed: f.changed, Claimed: f.claimed,
		Authors: make(map[ChangeID]Author), Counters: r.counters(),
	}
	note := func(id ChangeID) {
		if a, ok := r.authors[id]; ok {
			s.Authors[id] = a
		}
	}
	note(f.last)
	for _, st := range f.node.steps {
		note(st.fact.by)
	}
	for _, st := range f.mode.steps {
		note(st.fact.by)
	}
	for _, b := range f.text.blocks {
		if b.marked == 0 {
			continue
		}
		for _, l := range b.lines {
			if l.m != nil {
				note(l.m.add.by)
				note(l.m.del.by)
			}
		}
	}
	for _, i := range f.intents {
		s.Intents = append(s.Intents, savedIntent{i.author, i.after})
	}
	return s
}

func (r *Review) counters() counters { return counters{r.changes, r.hunks, r.acts} }

func decodeFile(s *savedFile, text string) (*tracked, error) {
	w, err := decodeWeave(text, s.Cuts, s.Runs)
	if err != nil {
		return nil, err
	}
	w.crlf = s.CRLF
	f := &tracked{file: file{text: w, from: string(s.From), to: string(s.To), last: s.Last, forgot: s.Forgot}, changed: s.Changed, claimed: s.Claimed}
	if f.node, err = loadAttribute(s.Node, nodeOf); err != nil {
		return nil, err
	}
	if f.mode, err = loadAttribute(s.Mode, same); err != nil {
		return nil, err
	}
	for _, i := range s.Intents {
		f.intents = append(f.intents, intent{i.Author, i.After})
	}
	for _, b := range w.blocks {
		for _, l := range b.lines {
			for _, fact := range []fact{l.marks().add, l.marks().del} {
				if _, ok := s.Authors[fact.by]; !ok && fact.by != 0 {
					return nil, fmt.Errorf("%w: change %d has no author", errDamaged, fact.by)
				}
			}
		}
	}
	return f, nil
}
