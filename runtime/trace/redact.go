package trace

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// hidden takes the place of a secret.
const hidden = "[redacted]"

// Redact replaces the secrets in a message or line and says whether there were
// any. Everything else stays byte for byte, so a message remains a message. The
// result aliases b when nothing changed. What counts as a secret:
//
//   - by position: values of environment variables and of headers, answers to
//     elicitations;
//   - by name: strings below members called authorization, password, cookie,
//     api_key, token, secret and their like, in any spelling, and words of a
//     command behind flags of such names;
//   - by shape: keys with known prefixes, bearer tokens, JSON web tokens,
//     private key blocks, passwords in URLs and behind curl -u and mysql -p,
//     webhooks, name=value pairs with such names, long random text; in names of
//     members, too, and inside base64 where that is the output of a terminal or
//     the contents of a file.
//
// It errs on the side of hiding, and cannot find a secret that looks like an
// ordinary word in an ordinary place: treat recordings with care.
func Redact(b []byte) ([]byte, bool) {
	if !isMessage(b) {
		return redactText(b, true)
	}
	w := walker{b: b}
	w.value(place{})
	if w.copied == 0 {
		return b, false
	}
	return append(w.out, b[w.copied:]...), true
}

// place is where in a message a value is.
type place struct {
	parent, name string // members it belongs to, the inner one last; lists do not count
	secret       bool   // all strings and numbers below are hidden
	pairs        bool   // a list of {name, value}, or an object
	plain        bool   // an id or a path: long random text is what it is for
	base64       bool   // output of a terminal or contents of a file
}

// walker walks valid JSON text and rewrites strings.
type walker struct {
	b      []byte
	p      int
	out    []byte
	copied int // b[:copied] is in out
	names  int // how many names were hidden
}

func (w *walker) space() {
	for w.b[w.p] <= ' ' {
		w.p++
	}
}

// str passes over the string at the cursor and returns what is between the quotes.
func (w *walker) str() []byte {
	start := w.p + 1
	for w.p = start; w.b[w.p] != '"'; w.p++ {
		if w.b[w.p] == '\\' {
			w.p++
		}
	}
	w.p++
	return w.b[start : w.p-1]
}

func (w *walker) replace(from, to int, text []byte) {
	w.out = append(append(w.out, w.b[w.copied:from]...), text...)
	w.copied = to
}

func (w *walker) value(at place) {
	w.space()
	switch w.b[w.p] {
	case '{':
		w.object(at)
	case '[':
		w.list(at)
	case '"':
		start := w.p
		text := w.str()
		if at.secret {
			if len(text) > 0 {
				w.replace(start+1, w.p-1, []byte(hidden))
			}
			break
		}
		redact := redactString
		if at.base64 {
			redact = redactBase64
		}
		if masked, changed := redact(text, !at.plain); changed {
			w.replace(start+1, w.p-1, masked)
		}
	default:
		start := w.p
		for w.p < len(w.b) && strings.IndexByte(",]} \t\r", w.b[w.p]) < 0 {
			w.p++
		}
		if c := w.b[start]; at.secret && (c == '-' || c >= '0' && c <= '9') {
			w.replace(start, w.p, []byte(`"`+hidden+`"`))
		}
	}
}

// list walks an array. It may be the words of a command: what belongs to a flag
// such as --token is hidden, be it the rest of the word or the next one.
func (w *walker) list(at place) {
	next := false
	w.p++
	for w.space(); w.b[w.p] != ']'; w.space() {
		if w.b[w.p] == ',' {
			w.p++
			continue
		}
		if w.b[w.p] != '"' {
			next = false
			w.value(at)
			continue
		}
		element, start := at, w.p
		word := w.str()
		name, rest, joined := bytes.Cut(word, []byte("="))
		isFlag := bytes.HasPrefix(word, []byte("-"))
		isSecret := isFlag && isSecretName(flatten(string(name)))
		if isSecret && joined && len(rest) > 0 {
			w.replace(w.p-1-len(rest), w.p-1, []byte(hidden))
		} else {
			w.p = start
			element.secret = at.secret || next && !isFlag
			w.value(element)
		}
		next = isSecret && !joined
	}
	w.p++
}

func (w *walker) object(at place) {
	w.members(func(name string) { w.value(at.member(name, w.b[w.p:])) })
}

// minNamed is the length in bytes of the shortest name with a secret in it.
const minNamed = 16

// name passes over the name of a member and returns it. A secret may stand
// there as well; hidden names are numbered, because they must differ.
func (w *walker) name() string {
	raw := w.str()
	from, to := w.p-1-len(raw), w.p-1
	if len(raw) < minNamed {
		// nearly every name
	} else if masked, changed := redactString(raw, false); changed {
		w.names++
		w.replace(from, to, fmt.Appendf(nil, "%s-%d", masked, w.names))
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	var name string
	json.Unmarshal(w.b[from-1:to+1], &name) // valid JSON text
	return name
}

// members passes over an object; value passes over the value of each member.
func (w *walker) members(value func(name string)) {
	w.p++
	for w.space(); w.b[w.p] != '}'; w.space() {
		if w.b[w.p] == ',' {
			w.p++
			continue
		}
		name := w.name()
		w.space()
		w.p++ // the colon
		w.space()
		value(name)
	}
	w.p++
}

// member is the place of a member of an object at p. Its value is at the start
// of rest.
func (p place) member(name string, rest []byte) place {
	flat := flatten(name)
	m := place{parent: p.name, name: flat, secret: p.secret, plain: isPlain(flat)}
	m.base64 = flat == "blob" && p.name == "resource" ||
		flat == "data" && (p.name == "update" || p.name == "output" && p.parent == "update")
	switch {
	case flat == "env" || strings.HasSuffix(flat, "headers"),
		slices.Contains(environments, flat) && rest[0] != '"': // text names one, such as production
		m.secret, m.pairs = true, true
	case p.pairs && flat == "name":
		m.secret = false
	case isSecretName(flat),
		flat == "auth" && rest[0] == '"', // an object has capabilities
		flat == "pwd" && rest[0] == '"' && !isFolder(rest[1:]):
		m.secret = true
	case p.parent == "" && p.name == "result" && flat == "content" && rest[0] == '{':
		m.secret = true // the answers to an elicitation; nothing else has an object there
	}
	return m
}

// flatten takes the spelling out of a name: api-key, apiKey and API_KEY are one.
func flatten(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, name)
}

var (
	secretNames = []string{
		"authorization", "passwd", "passphrase", "pass", "cookie", "cookies", "jwt", "bearer", "otp", "onetimecode",
		"credential", "credentials", "privatekey", "accesskey", "accesskeyid", "secretkey", "sessionkey", "signingkey",
		"secrets", "tokens",
	}
	secretEnds   = []string{"token", "apikey", "apikeys", "sshkey", "secret", "authorization", "cookie", "secretaccesskey"}
	secretParts  = []string{"password", "secretkey", "privatekey", "bearer"} // anywhere in the name
	notSecret    = []string{"progresstoken", "pagetoken", "nextpagetoken"}
	environments = []string{"environment", "envvars", "environmentvariables"}
	plainEnds    = []string{"id", "path", "uri", "url", "cwd", "cursor", "sha256", "hash"}
)

func isSecretName(flat string) bool {
	flat = strings.TrimSuffix(strings.TrimRight(flat, "0123456789"), "value")
	return slices.Contains(secretNames, flat) ||
		slices.ContainsFunc(secretParts, func(p string) bool { return strings.Contains(flat, p) }) ||
		!slices.Contains(notSecret, flat) && slices.ContainsFunc(secretEnds, func(e string) bool { return strings.HasSuffix(flat, e) })
}

// isFolder reports whether text begins as the path of a folder does.
func isFolder(text []byte) bool {
	return len(text) > 1 && (text[0] == '/' || text[0] == '~' || text[0] == '.' || text[1] == ':')
}

func isPlain(flat string) bool {
	return slices.ContainsFunc(plainEnds, func(e string) bool { return strings.HasSuffix(flat, e) })
}

// redactCommand hides the secrets in the words of a command: by shape, and the
// values of flags with such names.
func redactCommand(words []string) []string {
	var out []string
	next := false
	for _, word := range words {
		masked, _ := redactText([]byte(word), true)
		flag, _, joined := strings.Cut(word, "=")
		isFlag := strings.HasPrefix(word, "-")
		switch {
		case next && !isFlag:
			masked = []byte(hidden)
		case joined && isSecretName(flatten(flag)):
			masked = []byte(flag + "=" + hidden)
		}
		next = isFlag && !joined && isSecretName(flatten(word))
		out = append(out, string(masked))
	}
	return out
}

// redactString is redactText for the inside of a JSON string.
func redactString(b []byte, random bool) ([]byte, bool) {
	var s string
	if bytes.IndexByte(b, '\\') < 0 {
		return redactText(b, random)
	} else if json.Unmarshal(slices.Concat([]byte{'"'}, b, []byte{'"'}), &s) != nil {
		return b, false
	}
	masked, changed := redactText([]byte(s), random)
	if !changed {
		return b, false
	}
	masked, _ = json.Marshal(string(masked)) // strings always encode
	return masked[1 : len(masked)-1], true
}

// redactBase64 is redactString for text in base64: the secrets in it are hidden
// and the rest stays. What holds no text is taken as it is.
func redactBase64(b []byte, random bool) ([]byte, bool) {
	var s string
	json.Unmarshal(slices.Concat([]byte{'"'}, b, []byte{'"'}), &s) // slashes may be escaped
	text, err := base64.StdEncoding.DecodeString(s)
	if err != nil || !isText(text) {
		return redactString(b, random)
	}
	masked, changed := redactText(text, random)
	if !changed {
		return b, false
	}
	return base64.StdEncoding.AppendEncode(nil, masked), true
}

// isText reports whether b is text, be it cut inside a character.
func isText(b []byte) bool {
	for n := 0; n < utf8.UTFMax-1 && len(b) > 0 && !utf8.RuneStart(b[0]); n++ {
		b = b[1:]
	}
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if end := b[len(b)-n:]; utf8.RuneStart(end[0]) {
			if !utf8.FullRune(end) {
				b = b[:len(b)-n]
			}
			break
		}
	}
	return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0
}

// redactText hides what has the shape of a secret. random says whether long
// random text counts.
func redactText(b []byte, random bool) ([]byte, bool) {
	if len(b) < minSecret {
		return b, false
	}
	spans := shapedSpans(b)
	if random {
		spans = append(spans, randomSpans(b)...)
	}
	if len(spans) == 0 {
		return b, false
	}
	slices.SortFunc(spans, func(x, y [2]int) int { return x[0] - y[0] })
	var out []byte
	at := 0
	for _, s := range spans {
		if s[1] <= at {
			continue
		}
		if s[0] >= at {
			out = append(append(out, b[at:s[0]]...), hidden...)
		}
		at = s[1]
	}
	return append(out, b[at:]...), true
}
