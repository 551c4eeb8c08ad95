package trace

import (
	"bytes"
	"regexp"
)

// minSecret is the length in bytes of the shortest secret that is told by its
// shape.
const minSecret = 6

// shape is a kind of secret that shows in the text itself.
type shape struct {
	re    *regexp.Regexp
	group int // what of a match is the secret
	// hint is a text without which nothing matches, for speed; empty for none.
	hint string
	// accept looks at the secret and says no to what only looks like one.
	accept func(secret []byte) bool
}

var shapes = []shape{
	{re: regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)`), hint: "PRIVATE KEY"},
	{re: regexp.MustCompile(`\b(?:sk|rk|pk)[-_](?:[A-Za-z]+[-_])*[A-Za-z0-9_-]{16,}`), hint: "k", accept: hasDigit},
	{re: regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{16,}`), hint: "gh"},
	{re: regexp.MustCompile(`\b(?:github_pat_|glpat-|npm_|hf_|gsk_|xai-|pypi-|dop_v1_|lin_api_|nvapi-|tvly-)[A-Za-z0-9_-]{16,}`)},
	{re: regexp.MustCompile(`\bxox[a-z]-[A-Za-z0-9-]{10,}`), hint: "xox"},
	{re: regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`), hint: "IA"},
	{re: regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{30,}`), hint: "AIza"},
	{re: regexp.MustCompile(`\bya29\.[0-9A-Za-z_-]{16,}`), hint: "ya29."},
	{re: regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`), hint: "eyJ"},
	{re: regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/=-]{8,})`), group: 1, accept: hasDigit},
	{re: regexp.MustCompile(`(?i)\b(?:proxy-)?authorization\\?["']?\s*[:=]\s*\\?["']?((?:[A-Za-z]+ +)?[^\s"'\\,;]+)`), group: 1},
	{re: regexp.MustCompile(`(?i)\b(?:set-)?cookie\\?["']?:\s*\\?["']?([^"'\\\r\n]+=[^"'\\\r\n]+)`), group: 1},
	{re: regexp.MustCompile(`(?i)(?:api[-_]?key|access[-_]?key|token|secret|passwd|password|passphrase)\\?["']?\s*[=:]\s*\\?["']?([^\s"'\\&;,(){}<>\[\]]{6,})`), group: 1, accept: hasDigit},
	{re: regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s/:@"'\\]*:([^\s/@"'\\]+)@`), group: 1, hint: "://"},
}

func hasDigit(b []byte) bool { return bytes.ContainsAny(b, "0123456789") }

func (s *shape) find(b []byte) [][2]int {
	if s.hint != "" && !bytes.Contains(b, []byte(s.hint)) {
		return nil
	}
	var spans [][2]int
	for _, m := range s.re.FindAllSubmatchIndex(b, -1) {
		from, to := m[2*s.group], m[2*s.group+1]
		if s.accept == nil || s.accept(b[from:to]) {
			spans = append(spans, [2]int{from, to})
		}
	}
	return spans
}

// A run of characters is a key when it is long and its characters change kind
// as often as random ones do, which those of LongNamesWithManyWords2 do not.
// Longer runs are data, such as an image.
const (
	minRun = 32
	maxRun = 1024
)

// randomRuns finds long random text: base64, base64url, base62. Hexadecimal is
// not among it, because most of it is a hash or an id; a slash ends a run,
// because most are in paths.
func randomRuns(b []byte) [][2]int {
	var spans [][2]int
	for i := 0; i < len(b); {
		if kindOf(b[i]) == 0 {
			i++
			continue
		}
		start := i
		var counts, groups [5]int
		changes := 0
		for last := byte(0); i < len(b); i++ {
			k := kindOf(b[i])
			if k == 0 {
				break
			}
			counts[k]++
			if k != last {
				groups[k]++
				changes++
			}
			last = k
		}
		n := i - start
		mixed := min(counts[lower], counts[upper], counts[digit]) >= 3
		if n >= minRun && n <= maxRun && mixed && (groups[digit] >= 3 && changes*100 >= n*40 || changes*100 >= n*55) {
			spans = append(spans, [2]int{start, i})
		}
	}
	return spans
}

const (
	lower = 1 + iota
	upper
	digit
	other
)

func kindOf(c byte) byte {
	switch {
	case c >= 'a' && c <= 'z':
		return lower
	case c >= 'A' && c <= 'Z':
		return upper
	case c >= '0' && c <= '9':
		return digit
	case c == '-' || c == '_' || c == '+' || c == '=':
		return other
	}
	return 0
}
