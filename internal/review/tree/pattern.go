package tree

import "strings"

// pattern is a line of an ignore file, as gitignore(5) describes it.
type pattern struct {
	negated  bool // begins with "!": matching paths are not ignored
	dirOnly  bool // ends with "/"
	rooted   bool // has a slash elsewhere, so it matches the whole path
	fold     bool // upper and lower case are equal
	literal  string
	segments []segment // nil if literal says it all
}

// segment is what stands between two slashes.
type segment struct {
	anyDirs bool // "**": any number of directories
	tokens  []token
}

type token struct {
	star bool // any number of bytes
	set  *set // nil for a single byte
	b    byte
}

// set is a set of bytes.
type set [4]uint64

func (s *set) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *set) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }
func (s *set) addRange(from, to byte) {
	for b := int(from); b <= int(to); b++ {
		s.add(byte(b))
	}
}

// addLower adds the small letters of the capital ones in a range. Git folds
// ranges and classes, but not the single letters of a set.
func (s *set) addLower(from, to byte) {
	for b := byte('A'); b <= 'Z'; b++ {
		if b >= from && b <= to {
			s.add(lowerByte(b))
		}
	}
}

func (s *set) invert() {
	for i := range s {
		s[i] = ^s[i]
	}
}

// parsePatterns reads an ignore file.
func parsePatterns(text string, fold bool) []pattern {
	text = strings.TrimPrefix(text, "\ufeff")
	var all []pattern
	for text != "" && len(all) < maxPatterns {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		line = strings.TrimSuffix(line, "\r")
		if strings.HasPrefix(line, "#") {
			continue
		}
		line, _, _ = strings.Cut(line, "\x00") // git reads no further
		if p, ok := parsePattern(trimSpaces(line), fold); ok {
			all = append(all, p)
		}
	}
	return all
}

// trimSpaces removes spaces at the end, unless a backslash is before them.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			if i++; i == len(line) {
				return line
			}
		}
		end = i + 1
	}
	return line[:end]
}

// parsePattern returns no pattern if nothing can match it.
func parsePattern(line string, fold bool) (p pattern, ok bool) {
	line, p.negated = strings.CutPrefix(line, "!")
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.rooted = strings.Contains(line, "/")
	p.fold = fold
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return p, false
	}
	if !strings.ContainsAny(line, `*?[\`) {
		if p.literal = line; fold {
			p.literal = lower(line)
		}
		return p, true
	}
	p.segments, ok = compile(line, fold)
	return p, ok
}

// lower is strings.ToLower for ASCII, the only letters that git folds.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lowerByte(c)
	}
	return string(b)
}

func lowerByte(b byte) byte {
	if isUpper(b) {
		b += 'a' - 'A'
	}
	return b
}

// compile reports false for what matches nothing: a set without an end, an
// unknown class, a backslash at the end.
func compile(text string, fold bool) (segments []segment, ok bool) {
	letter := func(b byte) token {
		if fold {
			b = lowerByte(b)
		}
		return token{b: b}
	}
	var now segment
	begin := 0 // of the segment
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '/':
			segments, now, begin = append(segments, now), segment{}, i+1
		case '*':
			from := i
			for i+1 < len(text) && text[i+1] == '*' {
				i++
			}
			ends := i+1 == len(text) || text[i+1] == '/' || strings.HasPrefix(text[i+1:], `\/`)
			if i > from && from == begin && ends {
				now.anyDirs = true
			} else {
				now.tokens = append(now.tokens, token{star: true})
			}
		case '?':
			var any set
			any.invert()
			now.tokens = append(now.tokens, token{set: &any})
		case '[':
			s, end, ok := parseSet(text, i+1, fold)
			if !ok {
				return nil, false
			}
			now.tokens = append(now.tokens, token{set: s})
			i = end
		case '\\':
			if i++; i == len(text) {
				return nil, false
			}
			if text[i] == '/' {
				segments, now, begin = append(segments, now), segment{}, i+1
				continue
			}
			now.tokens = append(now.tokens, token{b: text[i]}) // which git does not fold
		default:
			now.tokens = append(now.tokens, letter(c))
		}
	}
	return append(segments, now), true
}

// parseSet reads a set such as [a-z] from the byte behind its bracket, and
// returns the index of its last one.
func parseSet(text string, i int, fold bool) (s *set, end int, ok bool) {
	s = new(set)
	negated := i < len(text) && (text[i] == '!' || text[i] == '^')
	if negated {
		i++
	}
	last, haveLast := byte(0), false // what may begin a range
	for first := true; ; first = false {
		if i >= len(text) {
			return nil, 0, false
		}
		c := text[i]
		if c == ']' && !first {
			break
		}
		switch {
		case c == '\\':
			if i++; i == len(text) {
				return nil, 0, false
			}
			s.add(text[i])
			last, haveLast = text[i], true
		case c == '-' && haveLast && i+1 < len(text) && text[i+1] != ']':
			if i++; text[i] == '\\' {
				if i++; i == len(text) {
					return nil, 0, false
				}
			}
			s.addRange(last, text[i])
			if fold {
				s.addLower(last, text[i])
			}
			haveLast = false
		case c == '[' && i+1 < len(text) && text[i+1] == ':':
			name, length, ok := className(text[i+2:])
			switch {
			case !ok:
				return nil, 0, false
			case length == 0: // not a class after all
				s.add('[')
				last, haveLast = '[', true
			default:
				if !addClass(s, name) {
					return nil, 0, false
				}
				if fold && name == "upper" {
					s.addRange('a', 'z')
				}
				i += 1 + length
				haveLast = false
			}
		default:
			s.add(c)
			last, haveLast = c, true
		}
		i++
	}
	if negated {
		s.invert()
	}
	return s, i, true
}

// className reads a name and its end, ":]". The length is 0 if the end is
// another one; nothing is ok without a bracket.
func className(text string) (name string, length int, ok bool) {
	end := strings.IndexByte(text, ']')
	if end < 0 {
		return "", 0, false
	}
	if end == 0 || text[end-1] != ':' {
		return "", 0, true
	}
	return text[:end-1], end + 1, true
}

// classes are the named sets, of ASCII as git has them.
var classes = map[string]func(b byte) bool{
	"alnum":  func(b byte) bool { return isAlpha(b) || isDigit(b) },
	"alpha":  isAlpha,
	"blank":  func(b byte) bool { return b == ' ' || b == '\t' },
	"cntrl":  func(b byte) bool { return b < ' ' || b == 0x7f },
	"digit":  isDigit,
	"graph":  func(b byte) bool { return b > ' ' && b < 0x7f },
	"lower":  isLower,
	"print":  func(b byte) bool { return b >= ' ' && b < 0x7f },
	"punct":  func(b byte) bool { return b > ' ' && b < 0x7f && !isAlpha(b) && !isDigit(b) },
	"space":  func(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' },
	"upper":  isUpper,
	"xdigit": func(b byte) bool { return isDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'f' },
}

func isLower(b byte) bool { return b >= 'a' && b <= 'z' }
func isUpper(b byte) bool { return b >= 'A' && b <= 'Z' }
func isAlpha(b byte) bool { return isLower(b) || isUpper(b) }
func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func addClass(s *set, name string) bool {
	in := classes[name]
	if in == nil {
		return false
	}
	for b := range 256 {
		if in(byte(b)) {
			s.add(byte(b))
		}
	}
	return true
}

// matches reports whether the pattern is about a path, which is relative to the
// directory of its file, and its last name.
func (p *pattern) matches(path, name string, dir bool) bool {
	if p.dirOnly && !dir {
		return false
	}
	text := name
	if p.rooted {
		text = path
	}
	if p.fold {
		text = lower(text)
	}
	if p.segments == nil {
		return text == p.literal
	}
	return matchSegments(p.segments, text)
}

// matchSegments takes time in proportion to the product of both lengths,
// whatever the pattern is: only the last "**" is ever tried again.
func matchSegments(segments []segment, text string) bool {
	more := true // text has a segment left; it may be empty
	var retry []segment
	var retryText string
	for {
		if len(segments) == 0 {
			if !more {
				return true
			}
		} else if segments[0].anyDirs {
			if segments = segments[1:]; len(segments) == 0 {
				return more
			}
			retry, retryText = segments, text
			continue
		} else if more {
			name, rest, slash := strings.Cut(text, "/")
			if matchTokens(segments[0].tokens, name) {
				segments, text, more = segments[1:], rest, slash
				continue
			}
		}
		// The "**" takes one directory more.
		if retry == nil {
			return false
		}
		_, rest, slash := strings.Cut(retryText, "/")
		if !slash {
			return false
		}
		segments, text, more, retryText = retry, rest, true, rest
	}
}

// matchTokens is the same for a segment and its stars.
func matchTokens(tokens []token, text string) bool {
	at, retry, retryAt := 0, -1, 0
	for i := 0; ; {
		switch {
		case i < len(tokens) && tokens[i].star:
			i++
			retry, retryAt = i, at
			continue
		case i == len(tokens) && at == len(text):
			return true
		case i < len(tokens) && at < len(text) && tokens[i].matches(text[at]):
			i++
			at++
			continue
		}
		if retry < 0 || retryAt == len(text) {
			return false
		}
		retryAt++
		i, at = retry, retryAt
	}
}

func (t *token) matches(b byte) bool {
	if t.set != nil {
		return t.set.has(b)
	}
	return t.b == b
}
