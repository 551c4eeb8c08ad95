package review

import (
	"slices"
	"strings"
)

// The model is the judge of the engine: a plain list of bytes, each with its
// author and its fate. It shares no code with the engine, knows nothing of
// blocks or differences, and is told which lines an edit keeps by their texts,
// which are unique.
type model struct {
	bytes []cell
	lines [][]cell // the bytes cut into lines, or nil
	crlf  bool
}

type cell struct {
	b     byte
	start bool // of a line
	wrote int  // who typed it: 0 the base, 1 the user, else a session
	add   fate // of its being there
	del   fate // of its being gone
}

type fate struct {
	session, turn int // 0: nobody
	how           int // open, yes, no
	when          int // the decision
}

const (
	open = iota + 1
	yes
	no
)

const user = 1

func (c cell) base() bool { return (c.add.how == 0 || c.add.how == yes) && c.del.how != yes }
func (c cell) now() bool  { return c.add.how != no && (c.del.how == 0 || c.del.how == no) }
func (c cell) gone() bool { return c.add.how == no || c.del.how == yes }
func (c cell) decides() int {
	switch {
	case c.gone():
	case c.del.how == open:
		return c.del.session
	case c.add.how == open:
		return c.add.session
	}
	return 0
}

func newModel(text string) *model {
	m := &model{crlf: strings.Contains(text, "\r\n")}
	for _, l := range strings.SplitAfter(text, "\n") {
		m.bytes = append(m.bytes, typed(l, 0)...)
	}
	return m
}

func typed(line string, who int) []cell {
	cells := make([]cell, len(line))
	for i := range cells {
		cells[i] = cell{b: line[i], start: i == 0, wrote: who}
	}
	return cells
}

func (m *model) copy() *model { return &model{bytes: slices.Clone(m.bytes), crlf: m.crlf} }

// cut returns the lines, each a part of the bytes.
func (m *model) cut() [][]cell {
	if m.lines != nil {
		return m.lines
	}
	m.lines = make([][]cell, 0, 16)
	for i, c := range m.bytes {
		if c.start {
			m.lines = append(m.lines, nil)
		}
		last := len(m.lines) - 1
		m.lines[last] = m.bytes[i-len(m.lines[last]) : i+1 : i+1]
	}
	return m.lines
}

func spell(line []cell) string {
	b := make([]byte, len(line))
	for i, c := range line {
		b[i] = c.b
	}
	return string(b)
}

func (m *model) text(in func(cell) bool) string {
	var out []byte
	for _, l := range m.cut() {
		if in(l[0]) {
			if len(out) > 0 && out[len(out)-1] != '\n' {
				out = append(out, m.eol()...)
			}
			out = append(out, spell(l)...)
		}
	}
	return string(out)
}

func (m *model) eol() string {
	if m.crlf {
		return "\r\n"
	}
	return "\n"
}

// now returns the lines of the current text.
func (m *model) now() (lines []string) {
	for _, l := range m.cut() {
		if l[0].now() {
			if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
				lines[n-1] += m.eol()
			}
			lines = append(lines, spell(l))
		}
	}
	return lines
}

// edit replaces current lines from to to by others, as session (user: 1).
func (m *model) edit(from, to int, lines []string, session, turn int, undo bool) {
	var out []cell
	var gap [][]cell
	n, kept := 0, 0 // current lines, and lines of the new text, so far
	cut, now := m.cut(), m.now()
	last := "" // of the text that follows
	if to == len(now) && len(lines) > 0 {
		last = lines[len(lines)-1]
	} else if to == len(now) && from > 0 {
		last = now[from-1]
	}
	var before []cell // the current line before the gap
	close := func(after []cell, upTo int) {
		ins := lines[kept:upTo]
		removed := slices.ContainsFunc(gap, func(l []cell) bool { return l[0].now() })
		if len(ins) == 0 && !removed {
			for _, l := range gap {
				out = append(out, l...)
			}
			return
		}
		out = append(out, m.change(gap, ins, before, after, session, turn, undo)...)
	}
	for i, l := range cut {
		if !l[0].now() {
			gap = append(gap, l)
			continue
		}
		if n >= from && n < to {
			k := slices.Index(lines[kept:], now[n])
			if k < 0 {
				gap = append(gap, l)
				n++
				continue
			}
			close(l, kept+k)
			kept += k + 1
		} else if n == to {
			close(l, len(lines))
			kept = len(lines)
		} else {
			close(l, kept)
		}
		out, before, gap = append(out, cut[i]...), l, nil
		n++
	}
	close(nil, len(lines))
	m.bytes, m.lines = out, nil
	now = m.now()
	if strings.HasSuffix(last, "\n") && !strings.HasSuffix(now[len(now)-1], "\n") {
		if session != user {
			m.edit(len(now)-1, len(now), []string{last}, session, turn, undo)
			return
		}
		m.terminate(last[len(now[len(now)-1]):])
	}
}

// change is what becomes of the lines between two lines of the current text that
// stay.
func (m *model) change(gap [][]cell, ins []string, before, after []cell, session, turn int, undo bool) []cell {
	pend := func(l []cell) bool { return l != nil && l[0].decides() != 0 }
	front := session == user && pend(after) && !pend(before)
	var left [][]cell
	for _, l := range gap {
		if !l[0].now() {
			left = append(left, l)
			continue
		}
		l = slices.Clone(l)
		keep := true
		for i := range l {
			c := &l[i]
			if c.add.how == open {
				front = false
			}
			switch {
			case session != user && c.add.how == open && c.add.session == session:
				keep = c.add.turn != turn
				c.del = fate{session: session, turn: turn, how: yes}
			case session != user:
				c.del = fate{session: session, turn: turn, how: open}
			case undo && c.del.how == no:
				c.del.how, c.del.when = open, 0
			case c.add.how == open:
				c.add.how, c.add.when = no, 0
			default:
				keep = false
			}
		}
		if keep {
			left = append(left, l)
		}
	}
	back := func(l []cell) []cell {
		l = slices.Clone(l)
		for i := range l {
			c := &l[i]
			agent := session != user
			switch {
			case agent && c.add.how != no && c.del.how == open, agent && c.add.how == open && c.del.how == yes:
				c.del = fate{}
			case agent:
				return nil
			case c.del.how == open && c.add.how != no && (c.add.how != open || undo):
				c.del.how, c.del.when = no, 0
			case undo && c.add.how == no && c.del.how != open && c.del.how != yes:
				c.add.how, c.add.when = open, 0
			default:
				return nil
			}
		}
		return l
	}
	fresh := func(lines []string) (out []cell) {
		for _, l := range lines {
			cells := typed(l, session)
			for i := range cells {
				if session != user {
					cells[i].add = fate{session: session, turn: turn, how: open}
				}
			}
			out = append(out, cells...)
		}
		return out
	}
	var out []cell
	some := false
	for _, l := range left {
		k := slices.Index(ins, spell(l))
		restored := back(l)
		some = some || restored != nil && k >= 0
		if k < 0 || restored == nil {
			out = append(out, l...)
			continue
		}
		out = append(append(out, fresh(ins[:k])...), restored...)
		ins = ins[k+1:]
	}
	if front && !some {
		return append(fresh(ins), out...)
	}
	return append(out, fresh(ins)...)
}

// terminate gives a line end to the last current line.
func (m *model) terminate(with string) {
	for i, c := range slices.Backward(m.bytes) {
		if c.now() {
			for k, b := range []byte(with) {
				c.b, c.start = b, false
				m.bytes, m.lines = slices.Insert(m.bytes, i+1+k, c), nil
			}
			return
		}
	}
}

// decide accepts or rejects what pick picks.
func (m *model) decide(pick func(line int, f fate) bool, how, when int) {
	n := -1
	for i := range m.bytes {
		c := &m.bytes[i]
		if c.start {
			n++
		}
		if c.gone() {
			continue
		}
		add, del := pick(n, c.add), pick(n, c.del)
		if add && c.add.how == open {
			c.add.how, c.add.when = how, when
		}
		if del && c.del.how == open {
			c.del.how, c.del.when = how, when
		}
	}
}

func (m *model) undo(when int) {
	for i := range m.bytes {
		for _, f := range []*fate{&m.bytes[i].add, &m.bytes[i].del} {
			if f.how != 0 && f.when == when {
				f.how, f.when = open, 0
			}
		}
		if c := &m.bytes[i]; c.add.how == open && c.del.how == open && c.add.session == c.del.session {
			c.del.how = yes
		}
	}
}

// since takes back what sessions did since a turn.
func (m *model) since(turn, when int) {
	for i := range m.bytes {
		for _, f := range []*fate{&m.bytes[i].add, &m.bytes[i].del} {
			if f.turn > turn && (f.how == open || f.how == yes) {
				f.how, f.when = no, when
			}
		}
	}
}

// hunk is lines that are decided together.
type hunk struct {
	session int
	lines   []int
}

// hunks groups pending lines. Lines that the user wrote between them may belong
// to a hunk or not; so the model is asked only about the others.
func (m *model) hunks() (out []hunk) {
	var last *hunk
	for i, l := range m.cut() {
		s := l[0].decides()
		switch {
		case s == 0 && l[0].gone():
		case s == 0:
			last = nil
		case last != nil && last.session == s:
			last.lines = append(last.lines, i)
		default:
			out = append(out, hunk{s, []int{i}})
			last = &out[len(out)-1]
		}
	}
	return out
}
