package trace

import (
	"bytes"
	"regexp"
	"slices"
	"sync"
)

// minSecret is the length in bytes of the shortest secret that is recognized by
// its shape.
const minSecret = 6

// shape is a kind of secret that the text itself reveals. It begins with one of a
// few words, so that most text is skipped quickly.
type shape struct {
	words []string // in lower case, at least two characters
	apart bool     // no letter or digit may precede it
	expr  string   // matches from the word on
	group int      // the group of the match that is the secret
	needs string   // without one of these characters it is an ordinary word
	long  bool     // it may be longer than window and hold blanks

	re *regexp.Regexp // expr
}

const digits = "0123456789"

var shapes = []shape{
	{words: []string{"-----begin "}, long: true, expr: `^-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)`},
	{words: []string{"sk-", "sk_", "rk-", "rk_", "pk-", "pk_"}, apart: true, needs: digits, expr: `^[srp]k[-_][A-Za-z0-9_-]{16,}`},
	{words: []string{
		"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "npm_", "hf_", "gsk_", "xai-", "pypi-", "dop_v1_", "lin_api_", "nvapi-", "tvly-",
		"shpat_", "shpss_", "shpca_", "dckr_pat_", "age-secret-key-",
	}, apart: true, needs: digits, expr: `^[A-Za-z0-9_-]{20,}`},
	{words: []string{"xox"}, apart: true, expr: `^xox[a-z]-[A-Za-z0-9-]{10,}`},
	{words: []string{"akia", "asia"}, apart: true, expr: `^(?:AKIA|ASIA)[0-9A-Z]{16}\b`},
	{words: []string{"aiza"}, apart: true, expr: `^AIza[0-9A-Za-z_-]{30,}`},
	{words: []string{"ya29."}, apart: true, expr: `^ya29\.[0-9A-Za-z_-]{16,}`},
	{words: []string{"eyj"}, apart: true, expr: `^eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`},
	{words: []string{"bearer", "basic"}, apart: true, group: 1, needs: digits, expr: `^(?i:bearer|basic)\s+([A-Za-z0-9._~+/=-]{8,})`},
	{words: []string{"authorization"}, group: 1, expr: `^(?i:authorization)\\?["']?\s*[:=]\s*\\?["']?((?:[A-Za-z]+ +)?[^\s"'\\,;]+)`},
	{words: []string{"cookie"}, group: 1, needs: "=", expr: `^(?i:cookie)\\?["']?:\s*\\?["']?([^"'\\\r\n]+)`},
	{words: []string{"mt", "mj", "mz", "nd", "nt", "nj", "nz", "od", "ot"}, apart: true, expr: `^[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}`},
	{words: []string{"hooks.slack.com/services/", "discord.com/api/webhooks/"}, group: 1, expr: `^[a-z.]+/(?:services|api/webhooks/[0-9]+)/([A-Za-z0-9/_-]{20,})`},
	{words: []string{"x-auth"}, apart: true, group: 1, expr: `^(?i:x-auth[a-z-]*)\\?["']?\s*:\s*\\?["']?([^\s"'\\,;]{6,})`},
	{words: []string{"login "}, apart: true, group: 1, expr: `^login\s+\S+\s+password\s+(\S+)`},
	{words: []string{"curl "}, apart: true, group: 1, expr: `^curl\s(?:[^\n|;&]*?\s)?(?:-u|--user)[ =]?\\?["']?[^\s:"'\\]+:([^\s"'\\]+)`},
	{words: []string{"mysql"}, apart: true, group: 1, expr: `^mysql[a-z]*\s(?:[^\n|;&]*?\s)?-p([^\s"'\\]+)`},
	// Assignments in capitals belong to an environment and need no digits.
	{words: []string{
		"password", "passwd", "passphrase", "_pass", "secret", "token", "api_key", "access_key", "private_key", "signing_key", "encryption_key", "auth_key", "master_key",
	}, group: 1, expr: `^[A-Z_]*(?:PASSWORD|PASSWD|PASSPHRASE|PASS|SECRET|TOKEN|KEY)(?:_[A-Z0-9_]*)?=\\?["']?([^\s"'\\&;|,(){}<>\[\]$]{6,})`},
	{words: []string{
		"private_key", "private-key", "privatekey", "secret_key", "secret-key", "secretkey", "signing_key", "ssh_key",
		"apikey", "api_key", "api-key", "accesskey", "access_key", "access-key", "token", "secret", "passwd", "password", "passphrase",
	}, group: 1, needs: digits, expr: `^(?i:(?:api|access|private|secret|signing|ssh)[-_]?key|token|secret|passwd|password|passphrase)\\?["']?\s*[=:]\s*\\?["']?([^\s"'\\&;,(){}<>\[\]]{6,})`},
	{words: []string{
		"--token", "--access-token", "--auth-token", "--api-token", "--api-key", "--apikey", "--access-key", "--secret", "--client-secret", "--passwd", "--password", "--passphrase",
	}, apart: true, group: 1, needs: digits, expr: `^--[A-Za-z-]+[ \t]+["']?([^\s"'\\&;|,(){}<>\[\]-][^\s"'\\&;|,(){}<>\[\]]{5,})`},
	{words: []string{"://"}, group: 1, expr: `^://[^\s/:@"'\\]*:([^\s/@"'\\]+)@`},
}

// word is a word that shapes[shape] begins with.
type word struct {
	text  string
	shape int
}

// finder finds the words by their first two characters: begins holds 1 + the index
// in words of those with that beginning, 0 if there are none.
type finder struct {
	shapes []shape
	begins [1 << 16]uint8
	words  [][]word
}

// find makes the finder at its first use: programs that never look for secrets
// would start later for it.
var find = sync.OnceValue(func() *finder {
	f := &finder{shapes: slices.Clone(shapes)}
	for i := range f.shapes {
		s := &f.shapes[i]
		s.re = regexp.MustCompile(s.expr)
		for _, text := range s.words {
			k := pair(text[0], text[1])
			if f.begins[k] == 0 {
				f.words = append(f.words, nil)
				f.begins[k] = uint8(len(f.words))
			}
			f.words[f.begins[k]-1] = append(f.words[f.begins[k]-1], word{text, i})
		}
	}
	return f
})

// pair makes a key of two characters, the same for upper and lower case.
func pair(a, b byte) uint16 { return uint16(a|0x20)<<8 | uint16(b|0x20) }

// shapedSpans finds secrets that begin with one of the words.
func shapedSpans(b []byte) [][2]int {
	var spans [][2]int
	f := find()
	for i := 0; i+1 < len(b); i++ {
		list := f.begins[pair(b[i], b[i+1])]
		if list == 0 {
			continue
		}
		for _, w := range f.words[list-1] {
			if len(b)-i < len(w.text) || !bytes.EqualFold(b[i:i+len(w.text)], []byte(w.text)) {
				continue
			}
			span, ok := f.shapes[w.shape].at(b, i)
			if ok {
				spans = append(spans, span)
			}
			if span[1] > 0 { // checked, whatever it is
				i = max(i, span[1]-2)
				break
			}
		}
	}
	return spans
}

// at looks for the secret at a word. The span covers the text with the shape,
// even if it is not a secret. It is zero if there is no such text.
func (s *shape) at(b []byte, i int) (span [2]int, ok bool) {
	if s.apart && i > 0 && kinds[b[i-1]] != 0 && kinds[b[i-1]] != other {
		return span, false
	}
	end := len(b)
	if !s.long {
		end = min(end, i+window)
	}
	m := s.re.FindSubmatchIndex(b[i:end])
	if m == nil {
		return span, false
	}
	span = [2]int{i + m[2*s.group], i + m[2*s.group+1]}
	if s.needs != "" && !bytes.ContainsAny(b[span[0]:span[1]], s.needs) {
		return span, false
	}
	if span[1] == i+window { // it may be longer
		for span[1] < len(b) && bytes.IndexByte([]byte(" \t\r\n\"'\\"), b[span[1]]) < 0 {
			span[1]++
		}
	}
	return span, true
}

// window is how far from its word a secret may begin, in bytes. It bounds the cost
// of text that is full of such words.
const window = 256

// A run of characters is a key when it is long and its characters change kind
// as often as random ones do, which the characters of LongNamesWithManyWords2
// do not. Longer runs are data, such as an image.
const (
	minRun = 32
	maxRun = 1024
)

// randomSpans finds long random text: base64, base64url, base62. It leaves out
// hexadecimal text, because most of it is a hash or an id. A slash ends a run
// unless the whole looks like base64, because most slashes are in paths.
func randomSpans(b []byte) [][2]int {
	var spans [][2]int
	for i := 0; i < len(b); i++ {
		if kinds[b[i]] == 0 {
			continue
		}
		start := i
		end := i // of the run with its slashes
		for end < len(b) && (kinds[b[end]] != 0 || b[end] == '/') {
			end++
		}
		if n := end - start; n >= minRun && n <= maxRun && isBase64(b[start:end]) {
			spans = append(spans, [2]int{start, end})
			i = end
			continue
		}
		for i < len(b) && kinds[b[i]] != 0 {
			i++
		}
		if n := i - start; n >= minRun && n <= maxRun && isRandom(b[start:i]) {
			spans = append(spans, [2]int{start, i})
		}
	}
	return spans
}

// isBase64 reports whether a run with slashes is random as a whole. The slashes of
// a path are between words: three letters of one kind in a row begin a word.
func isBase64(run []byte) bool {
	slash := bytes.IndexByte(run, '/')
	if slash < 0 || !isRandom(run) {
		return false
	}
	for part := range bytes.SplitSeq(run, []byte{'/'}) {
		if len(part) >= 3 && kinds[part[0]] == lower && kinds[part[1]] == lower && kinds[part[2]] == lower {
			return false
		}
	}
	return true
}

func isRandom(run []byte) bool {
	var counts, groups [5]int
	changes, last := 0, uint8(0)
	for _, c := range run {
		k := kinds[c]
		counts[k]++
		if k != last {
			groups[k]++
			changes++
		}
		last = k
	}
	often := changes * 100 / len(run)
	return min(counts[lower], counts[upper], counts[digit]) >= 3 && (groups[digit] >= 3 && often >= 40 || often >= 55)
}

const (
	lower = 1 + iota
	upper
	digit
	other
)

// kinds is the kind of each character of a key, 0 for characters that no key has.
var kinds = func() (k [256]uint8) {
	for c := range k {
		switch {
		case c >= 'a' && c <= 'z':
			k[c] = lower
		case c >= 'A' && c <= 'Z':
			k[c] = upper
		case c >= '0' && c <= '9':
			k[c] = digit
		case c == '-' || c == '_' || c == '+' || c == '=':
			k[c] = other
		}
	}
	return k
}()
