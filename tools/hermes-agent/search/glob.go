package search

import (
	"fmt"
	"regexp"
	"strings"
)

// Glob selects files by their paths. The zero value selects all of them.
type Glob struct{ paths *regexp.Regexp }

// NewGlob reads a pattern such as *.go or src/**/*.{ts,tsx}. One without a slash is about
// the last name of a path.
func NewGlob(pattern string) (Glob, error) {
	if pattern == "" {
		return Glob{}, nil
	}
	var b strings.Builder
	if strings.Contains(pattern, "/") {
		pattern = strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/")
	} else {
		pattern = "**/" + pattern
	}
	choices := 0
	for rest := pattern; rest != ""; {
		size := 1
		switch c := rest[0]; {
		case strings.HasPrefix(rest, "**/"):
			size = 3
			b.WriteString(`(?:.*/)?`)
		case strings.HasPrefix(rest, "**"):
			size = 2
			b.WriteString(`.*`)
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '{':
			choices++
			b.WriteString(`(?:`)
		case c == ',' && choices > 0:
			b.WriteByte('|')
		case c == '}' && choices > 0:
			choices--
			b.WriteByte(')')
		case c == '[' && strings.Contains(rest, "]"):
			size = strings.Index(rest, "]") + 1
			b.WriteString(strings.Replace(rest[:size], "[!", "[^", 1))
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
		rest = rest[size:]
	}
	paths, err := regexp.Compile(`^(?s:` + b.String() + `)$`)
	if err != nil {
		return Glob{}, fmt.Errorf("the glob %q is not valid", pattern)
	}
	return Glob{paths}, nil
}

func (g Glob) matches(path string) bool { return g.paths == nil || g.paths.MatchString(path) }
