package jx

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Secret is a position whose value is never printed: the second member, in an
// object that is the value of the first member or an element of it.
type Secret [2]string

const (
	maxText  = 200  // bytes of one string that are printed
	maxPrint = 4096 // bytes after which the rest is only counted
	hidden   = `"[redacted]"`
)

// Print renders JSON text for people. It hides secrets, and passwords and queries
// of URLs. It cuts long strings and long messages and says how long they were. The
// secrets of root are members of the outermost object.
func Print(name string, text []byte, secrets []Secret, root ...string) string {
	p := printer{secrets: secrets, root: root}
	p.d.Reset(text)
	p.out = append(p.out, name...)
	p.out = append(p.out, ' ')
	p.value("", true)
	if p.d.Failed() {
		return name + " (not valid JSON, " + strconv.Itoa(len(text)) + " bytes)"
	}
	return string(p.out)
}

type printer struct {
	d       Dec
	out     []byte
	secrets []Secret
	root    []string
}

func (p *printer) secret(parent, member string, root bool) bool {
	if root {
		for _, m := range p.root {
			if m == member {
				return true
			}
		}
	}
	for _, s := range p.secrets {
		if s[0] == parent && s[1] == member {
			return true
		}
	}
	return false
}

// value prints the next value; parent is the member that it or its list belongs to.
func (p *printer) value(parent string, root bool) {
	if len(p.out) > maxPrint {
		at := p.d.p
		p.d.Skip()
		p.more(p.d.p - at)
		return
	}
	switch p.d.Peek() {
	case '{':
		p.out = append(p.out, '{')
		p.d.Obj()
		for p.d.More('}') {
			k := string(p.d.Key())
			if len(p.out) > maxPrint {
				p.rest('}', func() { p.d.Key() })
				break
			}
			p.out = AppendReplaced(Comma(p.out), clip(k))
			p.out = append(p.out, ':')
			if p.secret(parent, k, root) {
				p.out = append(p.out, hidden...)
				p.d.Skip()
				continue
			}
			p.value(k, false)
		}
		p.out = append(p.out, '}')
	case '[':
		p.out = append(p.out, '[')
		p.d.Array()
		for p.d.More(']') {
			if len(p.out) > maxPrint {
				p.rest(']', func() {})
				break
			}
			p.out = Comma(p.out)
			p.value(parent, false)
		}
		p.out = append(p.out, ']')
	case '"':
		p.out = AppendReplaced(p.out, clip(bare(p.d.Str())))
	default:
		at := p.d.p
		p.d.Skip()
		if n := p.d.p - at; n > maxText {
			p.more(n)
			return
		}
		p.out = append(p.out, p.d.b[at:p.d.p]...)
	}
}

// rest skips the rest of an object or array, starting with the value at the cursor,
// and prints how much it was.
func (p *printer) rest(end byte, name func()) {
	n := 1
	for p.d.Skip(); p.d.More(end); p.d.Skip() {
		name()
		n++
	}
	p.out = append(p.out, ", ... "...)
	p.out = strconv.AppendInt(p.out, int64(n), 10)
	p.out = append(p.out, " more"...)
}

func (p *printer) more(n int) {
	p.out = append(p.out, `"... (`...)
	p.out = strconv.AppendInt(p.out, int64(n), 10)
	p.out = append(p.out, ` bytes)"`...)
}

// bare hides the possible secrets of a URL: a password and the query.
func bare(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || scheme == "" || strings.ContainsAny(scheme, " \t\r\n/?#@") {
		return s
	}
	end := strings.IndexAny(rest, " \t\r\n")
	if end < 0 {
		end = len(rest)
	}
	url, after := rest[:end], rest[end:]
	host := strings.IndexByte(url, '/')
	if host < 0 {
		host = len(url)
	}
	if at := strings.LastIndexByte(url[:host], '@'); at >= 0 {
		url = "[redacted]" + url[at:]
	}
	if q := strings.IndexByte(url, '?'); q >= 0 {
		url = url[:q] + "?[redacted]"
	}
	return scheme + "://" + url + after
}

// clip cuts a long string between two characters.
func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "... (" + strconv.Itoa(len(s)) + " bytes)"
}
