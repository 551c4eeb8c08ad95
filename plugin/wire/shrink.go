package wire

import (
	"bytes"
	"iter"
	"slices"

	"github.com/hermes-nvim/hermes/internal/jx"
)

// Neovim stands still while it decodes an item and passes it on. The time grows
// with the bytes and, far more, with the number of JSON values, so the cost of
// an item is its bytes plus ValueCost for every value and name. An item of
// MaxCost takes Neovim some 20 ms, whatever it is made of.
const (
	MaxCost   = 2 << 20
	ValueCost = 128
	textPiece = 64 << 10 // bytes of text in one event
	MaxWrite  = 10 << 20 // cost of a question about a file to be written, which is mostly one string
)

const (
	CostOfMore  = 16 << 10 // more than anything costs that is added to what fits
	smallMember = 2 << 10
	leastPiece  = 64 << 10 // what is not worth keeping if it has to be smaller
	maxDepth    = 8        // of what is made smaller instead of being left out
)

// Lost counts what was left out to make an item fit.
type Lost struct {
	Bytes   int // of JSON
	Entries int // elements of lists and members of objects
}

func (l *Lost) add(more Lost) {
	l.Bytes += more.Bytes
	l.Entries += more.Entries
}

func (l Lost) object() *Object {
	return new(Object).Num("bytes", int64(l.Bytes)).Num("entries", int64(l.Entries))
}

// Part is JSON that has been checked, and how many values and names it has.
type Part struct {
	Text   []byte
	values int
}

func (p Part) cost() int { return len(p.Text) + p.values*ValueCost }

// next passes over the value d is at.
func next(d *jx.Dec) Part {
	values := d.Values()
	text := d.Token()
	return Part{text, d.Values() - values}
}

// costOf returns the cost of one value.
func costOf(text []byte) int { return next(jx.New(text)).cost() }

// shrink returns src, valid JSON, if it costs at most limit. If it costs more,
// shrink returns as much of it as costs at most room, and what that leaves out: the
// ends of long strings and lists. Members of an object that are small stay; large
// ones share what these leave.
func shrink(src []byte, limit, room int) ([]byte, Lost) {
	// A value takes two bytes at least, itself and what is between it and the next.
	if (len(src)+1)*(1+ValueCost/2) <= limit {
		return src, Lost{}
	}
	whole := next(jx.New(src))
	if whole.cost() <= limit {
		return src, Lost{}
	}
	s := shrinker{dst: make([]byte, 0, room/2)}
	s.value(whole, room, 0)
	return s.dst, Lost{len(src) - len(s.dst), s.entries}
}

type shrinker struct {
	dst     []byte
	entries int // left out
}

// value appends p for at most limit.
func (s *shrinker) value(p Part, limit, depth int) {
	switch b := p.Text[0]; {
	case p.cost() <= limit:
		s.dst = append(s.dst, p.Text...)
	case b == '"':
		s.string(p.Text, limit-ValueCost)
	case b == '{' && depth < maxDepth:
		s.object(p.Text, limit-ValueCost, depth)
	case b == '[' && depth < maxDepth:
		s.array(p.Text, limit-ValueCost, depth)
	case b == '{':
		s.dst = append(s.dst, "{}"...)
	case b == '[':
		s.dst = append(s.dst, "[]"...)
	default:
		s.dst = append(s.dst, '0') // a number of that many digits
	}
}

// string keeps the beginning of a string, up to a character that does not fit.
func (s *shrinker) string(text []byte, limit int) {
	cut := 1
	for {
		next := cut + jx.CharLen(text[cut:])
		if next+1 > limit || next >= len(text) {
			break
		}
		cut = next
	}
	s.dst = append(append(s.dst, text[:cut]...), '"')
}

// array keeps elements as long as there is room. One that takes more than half
// of it is made smaller, so that those behind it have some, too.
func (s *shrinker) array(text []byte, limit, depth int) {
	s.dst = append(s.dst, '[')
	limit -= len("[]")
	d := jx.New(text)
	d.Array()
	for full, first := false, true; d.More(']'); {
		p := next(d)
		give := limit / 2
		if d.Peek() == ']' {
			give = limit - 1
		}
		if full = full || (p.cost() > give && give < leastPiece); full {
			s.entries++
			continue
		}
		if !first {
			s.dst = append(s.dst, ',')
		}
		first = false
		s.value(p, give, depth+1)
		limit -= min(p.cost(), give) + 1
	}
	s.dst = append(s.dst, ']')
}

// member is a member of an object; the name is as it is written.
type member struct {
	name, value Part
	large       bool
}

// nameCost is what the member costs without its value.
func (m member) nameCost() int { return m.name.cost() + len(":,") }

// members returns the members of an object.
func members(object []byte) iter.Seq[member] {
	return func(yield func(member) bool) {
		d := jx.New(object)
		for d.Obj(); d.More('}'); {
			start := d.Pos()
			d.Key()
			name := bytes.TrimRight(object[start:d.Pos()], ": \t\r\n")
			m := member{name: Part{name, 1}, value: next(d)}
			if d.Failed() || !yield(m) {
				return
			}
		}
	}
}

func (s *shrinker) object(text []byte, limit, depth int) {
	limit -= len("{}")
	var kept []member
	small, large := 0, 0
	for m := range members(text) {
		switch cost := m.nameCost() + m.value.cost(); {
		case cost <= smallMember && small+cost <= limit/2:
			small += cost
		case m.nameCost() <= smallMember && (large+1)*2*smallMember <= limit/2:
			m.large = true
			large++
		default:
			s.entries++
			continue
		}
		kept = append(kept, m)
	}
	limit -= small
	s.dst = append(s.dst, '{')
	for i, m := range kept {
		if i > 0 {
			s.dst = append(s.dst, ',')
		}
		s.dst = append(append(s.dst, m.name.Text...), ':')
		give := m.value.cost()
		if m.large {
			give = min(give, limit/large-m.nameCost())
			limit -= m.nameCost() + give
			large--
		}
		s.value(m.value, give, depth+1)
	}
	s.dst = append(s.dst, '}')
}

// Lookup returns where the value of a member of the object raw is, by its name
// and the names of the objects around it. Without such a member, end is 0.
func Lookup(raw []byte, names ...string) (start, end int) {
	d := jx.New(raw)
	for _, name := range names {
		if !enter(d, name) {
			return 0, 0
		}
	}
	d.Peek()
	start = d.Pos()
	d.Skip()
	return start, d.Pos()
}

// enter goes to the value of a member of the object d is at.
func enter(d *jx.Dec, member string) bool {
	if d.Peek() != '{' || !d.Obj() {
		return false
	}
	for name, more := d.Next(); more; name, more = d.Next() {
		if string(name) == member {
			return true
		}
		d.Skip()
	}
	return false
}

// chunkTags are the updates that carry the text of a message in pieces, which
// may as well be smaller ones.
var chunkTags = []string{`"user_message_chunk"`, `"agent_message_chunk"`, `"agent_thought_chunk"`}

// Pieces are parameters of session/update that Neovim can take one by one, and
// together say the same as params, but for what is missing. Text is divided,
// everything else cut. Nothing large has been decoded yet, so it takes little
// memory.
func Pieces(params []byte) (list iter.Seq[[]byte], missing Lost) {
	if len(params) > textPiece {
		start, end := Lookup(params, "update", "sessionUpdate")
		if slices.Contains(chunkTags, string(params[start:end])) {
			start, end = Lookup(params, "update", "content", "text")
			if rest := len(params) - (end - start); end > start && params[start] == '"' && rest <= smallMember {
				return textPieces(params, start, end), Lost{}
			}
		}
	}
	// Room for what is added, and for characters that are written longer later.
	small, missing := shrink(params, MaxCost, MaxCost-MaxCost/8)
	return func(yield func([]byte) bool) { yield(small) }, missing
}

// textPieces divides the string from start to end.
func textPieces(params []byte, start, end int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for pos := start + 1; pos < end-1; {
			from := pos
			for pos < end-1 {
				n := jx.CharLen(params[pos : end-1])
				if pos+n-from > textPiece {
					break
				}
				pos += n
			}
			piece := slices.Concat(params[:start], []byte{'"'}, params[from:pos], []byte{'"'}, params[end:])
			if !yield(piece) {
				return
			}
		}
	}
}
