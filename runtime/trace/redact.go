package trace

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/internal/jx"
)

// hidden replaces a secret.
const hidden = "[redacted]"

// Redact replaces the secrets in a message or line and reports whether there were
// any. Everything else stays byte for byte, so a message remains a message. The
// result aliases b if nothing changed. These count as secrets:
//
//   - by position: values of environment variables and of headers, answers to
//     elicitations;
//   - by name: strings below members named authorization, password, cookie,
//     api_key, token, secret and the like, in any spelling, and words of a
//     command after flags with such names;
//   - by shape: keys with known prefixes, bearer tokens, JSON web tokens,
//     private key blocks, passwords in URLs and after curl -u and mysql -p,
//     webhooks, name=value pairs with such names, long random text. These are
//     also hidden in names of members, and inside base64 if that is the output
//     of a terminal or the contents of a file.
//
// A message that is nested more than 512 levels deep is hidden as a whole: no
// connection accepts it, so the meaning of its members is unknown. Redact errs on
// the side of hiding, but cannot find a secret that looks like an ordinary word
// in an ordinary place, so treat recordings with care.
func Redact(b []byte) ([]byte, bool) {
	if jx.Deeper(b, jx.MaxDepth) {
		return []byte(hidden), true
	}
	if !isMessage(b) {
		return redactText(b, true)
	}
	w := walker{edit: jx.Edit{Source: b}}
	w.Reset(b)
	w.value(place{})
	return w.edit.Result(), w.edit.Changed()
}

// place is where in a message a value is.
type place struct {
	parent, name string // the members around it, the inner one last; lists do not count
	secret       bool   // all strings and numbers below are hidden
	pairs        bool   // a list of {name, value}, or an object
	plain        bool   // an id or a path, which may be long random text
	base64       bool   // output of a terminal or contents of a file
}

// walker goes over the JSON text of a message and hides strings.
type walker struct {
	jx.Dec
	edit  jx.Edit
	names int // how many names were hidden
}

// inside replaces the text between the quotes of the string that was read last.
func (w *walker) inside(token, text []byte) {
	w.edit.Replace(w.Pos()-len(token)+1, w.Pos()-1, text)
}

func (w *walker) value(at place) {
	switch first := w.Peek(); first {
	case '{':
		w.Obj()
		for w.More('}') {
			name := w.name()
			w.value(at.member(name, w.edit.Source[w.Pos():]))
		}
	case '[':
		w.list(at)
	case '"':
		w.str(w.Token(), at)
	default:
		start := w.Pos()
		w.Skip()
		if at.secret && (first == '-' || first >= '0' && first <= '9') {
			w.edit.Replace(start, w.Pos(), []byte(`"`+hidden+`"`))
		}
	}
}

// str hides what is secret in the string that was read last.
func (w *walker) str(token []byte, at place) {
	text := token[1 : len(token)-1]
	if at.secret {
		if len(text) > 0 {
			w.inside(token, []byte(hidden))
		}
		return
	}
	redact := redactString
	if at.base64 {
		redact = redactBase64
	}
	if masked, changed := redact(text, !at.plain); changed {
		w.inside(token, masked)
	}
}

// list goes over an array. It may be the words of a command, so the value of a
// flag such as --token is hidden: the rest of the word or the next word.
func (w *walker) list(at place) {
	next := false
	w.Array()
	for w.More(']') {
		if w.Peek() != '"' {
			next = false
			w.value(at)
			continue
		}
		token := w.Token()
		word := token[1 : len(token)-1]
		name, rest, joined := bytes.Cut(word, []byte("="))
		isFlag := bytes.HasPrefix(word, []byte("-"))
		isSecret := isFlag && isSecretName(flatten(string(name)))
		if isSecret && joined && len(rest) > 0 {
			w.edit.Replace(w.Pos()-1-len(rest), w.Pos()-1, []byte(hidden))
		} else {
			element := at
			element.secret = at.secret || next && !isFlag
			w.str(token, element)
		}
		next = isSecret && !joined
	}
}

// minNamed is the length in bytes of the shortest name with a secret in it.
const minNamed = 16

// name skips the name of a member and returns it. A name may also be a secret;
// hidden names are numbered, because they must differ.
func (w *walker) name() string {
	at := w.Pos()
	token := w.Name()
	raw := token[1 : len(token)-1]
	if len(raw) < minNamed {
		// nearly every name
	} else if masked, changed := redactString(raw, false); changed {
		w.names++
		w.edit.Replace(at+1, at+len(token)-1, fmt.Appendf(nil, "%s-%d", masked, w.names))
	}
	return string(jx.Unquote(token))
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
		slices.Contains(environments, flat) && rest[0] != '"': // a string only names an environment, such as production
		m.secret, m.pairs = true, true
	case p.pairs && flat == "name":
		m.secret = false
	case isSecretName(flat),
		flat == "auth" && rest[0] == '"', // an object holds capabilities
		flat == "pwd" && rest[0] == '"' && !isFolder(rest[1:]):
		m.secret = true
	case p.parent == "" && p.name == "result" && flat == "content" && rest[0] == '{':
		m.secret = true // the answers to an elicitation; nothing else has an object there
	}
	return m
}

// flatten removes the spelling from a name: api-key, apiKey and API_KEY become one.
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

// isFolder reports whether text begins like the path of a folder.
func isFolder(text []byte) bool {
	return len(text) > 1 && (text[0] == '/' || text[0] == '~' || text[0] == '.' || text[1] == ':')
}

func isPlain(flat string) bool {
	return slices.ContainsFunc(plainEnds, func(e string) bool { return strings.HasSuffix(flat, e) })
}

// redactCommand hides the secrets in the words of a command: by shape, and as
// values of flags with secret names.
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
	masked, changed := redactText(jx.Unescape(b), random)
	if !changed {
		return b, false
	}
	if bytes.IndexByte(b, '\\') >= 0 {
		masked = jx.AppendReplaced(nil, string(masked))
		masked = masked[1 : len(masked)-1]
	}
	return masked, true
}

// redactBase64 is redactString for text in base64: the secrets in it are hidden
// and the rest stays. Data that is not text stays as it is.
func redactBase64(b []byte, random bool) ([]byte, bool) {
	text, err := base64.StdEncoding.DecodeString(string(jx.Unescape(b))) // slashes may be escaped
	if err != nil || !isText(text) {
		return redactString(b, random)
	}
	masked, changed := redactText(text, random)
	if !changed {
		return b, false
	}
	return base64.StdEncoding.AppendEncode(nil, masked), true
}

// isText reports whether b is text, even if it is cut inside a character.
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

// redactText hides text with the shape of a secret. random says whether to hide
// long random text, too.
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
