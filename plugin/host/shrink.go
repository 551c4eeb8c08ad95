package host

import (
	"bytes"
	"iter"
	"slices"
	"unicode/utf8"
)

// Neovim stands still while it decodes an item and passes it on. What that
// takes grows with the bytes and, far more, with the number of JSON values, so
// the cost of an item is its bytes plus valueCost for every value and name. An
// item of maxCost takes Neovim some 20 ms, whatever it is made of.
const (
	maxCost   = 2 << 20
	valueCost = 128
	textPiece = 64 << 10 // bytes of text in one event
	maxWrite  = 10 << 20 // cost of a question about a file to be written, which is mostly one string
)

// Below these sizes an item fits for certain, and a piece is not worth keeping.
const (
	surelyFits  = maxCost / (valueCost + 1)
	smallMember = 2 << 10
	leastPiece  = 64 << 10
	maxDepth    = 8 // of what is made smaller instead of being left out
)

// lost counts what was left out to make an item fit.
type lost struct {
	bytes   int // of JSON
	entries int // elements of lists and members of objects
}

func (l *lost) add(more lost) {
	l.bytes += more.bytes
	l.entries += more.entries
}

func (l lost) json() []byte {
	return new(object).num("bytes", int64(l.bytes)).num("entries", int64(l.entries)).json()
}

// fits reports whether src costs at most limit.
func fits(src []byte, limit int) bool {
	if len(src) <= surelyFits {
		return true
	}
	_, cost := measure(src, 0)
	return cost <= limit
}

// measure returns where the JSON value that starts at pos ends, and its cost.
func measure(src []byte, pos int) (end, cost int) {
	start, depth, values := pos, 0, 0
	for pos < len(src) {
		switch b := src[pos]; b {
		case ' ', '\t', '\n', '\r', ',', ':':
			pos++
			continue
		case '"':
			pos = stringEnd(src, pos)
			values++
		case '{', '[':
			pos++
			depth++
			values++
			continue
		case '}', ']':
			pos++
			depth--
		default:
			for pos++; pos < len(src) && !isPunctuation(src[pos]); pos++ {
			}
			values++
		}
		if depth <= 0 {
			break
		}
	}
	return pos, pos - start + values*valueCost
}

func isPunctuation(b byte) bool {
	switch b {
	case ' ', '\t', '\n', '\r', ',', ':', '"', '{', '}', '[', ']':
		return true
	}
	return false
}

// stringEnd returns the position behind the string that starts at pos.
func stringEnd(src []byte, pos int) int {
	for start := pos + 1; start <= len(src); {
		n := bytes.IndexByte(src[start:], '"')
		if n < 0 {
			break
		}
		quote := start + n
		escapes := 0
		for quote-escapes > start && src[quote-escapes-1] == '\\' {
			escapes++
		}
		if start = quote + 1; escapes%2 == 0 {
			return start
		}
	}
	return len(src)
}

// shrink returns src, valid JSON, or as much of it as costs at most limit, and
// what that leaves out: the ends of long strings and lists. Members of an object
// that are small stay; large ones share what these leave.
func shrink(src []byte, limit int) ([]byte, lost) {
	if fits(src, limit) {
		return src, lost{}
	}
	s := shrinker{src: src, dst: make([]byte, 0, limit/2)}
	pos := s.space(0)
	end, cost := measure(src, pos)
	s.value(pos, end, cost, limit, 0)
	return s.dst, lost{len(src) - len(s.dst), s.entries}
}

type shrinker struct {
	src, dst []byte
	entries  int // left out
}

func (s *shrinker) space(pos int) int {
	for pos < len(s.src) {
		switch s.src[pos] {
		case ' ', '\t', '\n', '\r', ',', ':':
			pos++
		default:
			return pos
		}
	}
	return pos
}

// value appends the value from pos to end for at most limit.
func (s *shrinker) value(pos, end, cost, limit, depth int) {
	if cost <= limit {
		s.dst = append(s.dst, s.src[pos:end]...)
		return
	}
	switch b := s.src[pos]; {
	case b == '"':
		s.string(pos, end, limit-valueCost)
	case b == '{' && depth < maxDepth:
		s.object(pos, limit-valueCost, depth)
	case b == '[' && depth < maxDepth:
		s.array(pos, limit-valueCost, depth)
	default:
		switch b {
		case '{':
			s.dst = append(s.dst, "{}"...)
		case '[':
			s.dst = append(s.dst, "[]"...)
		default:
			s.dst = append(s.dst, '0') // a number of that many digits
		}
	}
}

// string keeps the beginning of a string, up to a character that does not fit.
func (s *shrinker) string(pos, end, limit int) {
	cut := pos + 1
	for {
		next := cut + characterLen(s.src[cut:])
		if next-pos+1 > limit || next >= end {
			break
		}
		cut = next
	}
	s.dst = append(append(s.dst, s.src[pos:cut]...), '"')
}

// characterLen is the length of the character at the start of the inside of a
// JSON string, however it is written.
func characterLen(b []byte) int {
	if len(b) == 0 || b[0] != '\\' {
		_, n := utf8.DecodeRune(b)
		return max(n, 1)
	}
	first, ok := escape(b)
	if !ok {
		return 2
	}
	if first >= 0xd800 && first < 0xdc00 {
		if second, ok := escape(b[6:]); ok && second >= 0xdc00 && second <= 0xdfff {
			return 12
		}
	}
	return 6
}

// array keeps elements as long as there is room. One that takes more than half
// of it is made smaller, so that those behind it have some, too.
func (s *shrinker) array(pos, limit, depth int) {
	s.dst = append(s.dst, '[')
	limit -= len("[]")
	full, first := false, true
	for pos = s.space(pos + 1); pos < len(s.src) && s.src[pos] != ']'; {
		end, cost := measure(s.src, pos)
		give := limit / 2
		if end < len(s.src) && s.src[s.space(end)] == ']' {
			give = limit - 1
		}
		full = full || (cost > give && give < leastPiece)
		if full {
			s.entries++
		} else {
			if !first {
				s.dst = append(s.dst, ',')
			}
			first = false
			s.value(pos, end, cost, give, depth+1)
			limit -= min(cost, give) + 1
		}
		pos = s.space(end)
	}
	s.dst = append(s.dst, ']')
}

// member is the place of a member of an object.
type member struct {
	start, value, end int
	nameCost, cost    int // cost is that of the value
	large             bool
}

func (s *shrinker) object(pos, limit, depth int) {
	limit -= len("{}")
	var members []member
	small, large := 0, 0
	for pos = s.space(pos + 1); pos < len(s.src) && s.src[pos] == '"'; pos = s.space(pos) {
		m := member{start: pos}
		pos = stringEnd(s.src, pos)
		m.nameCost = pos - m.start + valueCost + len(":,")
		m.value = s.space(pos)
		m.end, m.cost = measure(s.src, m.value)
		pos = m.end
		cost := m.nameCost + m.cost
		switch {
		case cost <= smallMember && small+cost <= limit/2:
			small += cost
		case m.nameCost <= smallMember && (large+1)*2*smallMember <= limit/2:
			m.large = true
			large++
		default:
			s.entries++
			continue
		}
		members = append(members, m)
	}
	limit -= small
	s.dst = append(s.dst, '{')
	for i, m := range members {
		if i > 0 {
			s.dst = append(s.dst, ',')
		}
		s.dst = append(append(s.dst, s.src[m.start:stringEnd(s.src, m.start)]...), ':')
		give := m.cost
		if m.large {
			give = min(m.cost, limit/large-m.nameCost)
			limit -= m.nameCost + give
			large--
		}
		s.value(m.value, m.end, m.cost, give, depth+1)
	}
	s.dst = append(s.dst, '}')
}

// lookup returns where the value of a member of the object raw is, by its name
// and those of the objects around it. Without such a member, end is 0.
func lookup(raw []byte, names ...string) (start, end int) {
	s := shrinker{src: raw}
	pos := s.space(0)
next:
	for _, name := range names {
		if pos >= len(raw) || raw[pos] != '{' {
			return 0, 0
		}
		for pos = s.space(pos + 1); pos < len(raw) && raw[pos] == '"'; pos = s.space(pos) {
			nameEnd := stringEnd(raw, pos)
			value := s.space(nameEnd)
			if string(raw[pos+1:nameEnd-1]) == name {
				pos = value
				continue next
			}
			pos, _ = measure(raw, value)
		}
		return 0, 0
	}
	end, _ = measure(raw, pos)
	return pos, end
}

// chunkTags are the updates that carry the text of a message in pieces, which
// may as well be smaller ones.
var chunkTags = []string{`"user_message_chunk"`, `"agent_message_chunk"`, `"agent_thought_chunk"`}

// pieces are parameters of session/update that Neovim can take one by one, and
// together say the same as params, but for what is missing. Text is divided,
// everything else cut. Nothing large has been decoded yet, so it takes little
// memory.
func pieces(params []byte) (list iter.Seq[[]byte], missing lost) {
	if len(params) > textPiece {
		tag, tagEnd := lookup(params, "update", "sessionUpdate")
		start, end := lookup(params, "update", "content", "text")
		rest := append(params[:start:start], params[end:]...)
		if slices.Contains(chunkTags, string(params[tag:tagEnd])) && end > start && params[start] == '"' && len(rest) <= smallMember {
			return textPieces(params, start, end), lost{}
		}
	}
	// Room for what is added, and for characters that are written longer later.
	limit := maxCost
	if !fits(params, limit) {
		limit -= maxCost / 8
	}
	small, missing := shrink(params, limit)
	return func(yield func([]byte) bool) { yield(small) }, missing
}

// textPieces divides the string from start to end.
func textPieces(params []byte, start, end int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for pos := start + 1; pos < end-1; {
			from := pos
			for pos < end-1 {
				n := characterLen(params[pos : end-1])
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
