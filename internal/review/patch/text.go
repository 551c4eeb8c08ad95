package patch

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/runtime/review"
)

// Quote returns a path as git writes it: in quotes, with escapes, if it has
// anything but plain characters. So no path makes a line of its own, and a
// terminal obeys none.
func Quote(path string) string {
	if plain(path) {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(path); {
		r, size := utf8.DecodeRuneInString(path[i:])
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == ' ' || r != utf8.RuneError && drawn(r):
			b.WriteString(path[i : i+size])
		default:
			for _, c := range []byte(path[i : i+size]) {
				fmt.Fprintf(&b, "\\%03o", c)
			}
		}
		i += size
	}
	b.WriteByte('"')
	return b.String()
}

func plain(path string) bool {
	for _, r := range path {
		if r == '"' || r == '\\' || r == utf8.RuneError || !drawn(r) {
			return false
		}
	}
	return path != ""
}

// drawn reports whether a character is one that is seen where it stands.
func drawn(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r)
}

// word is a name from an agent as one word.
func word(s string) string {
	if plain(s) {
		return s
	}
	return fmt.Sprintf("%+q", s)
}

// Describe says who made a change and how that is known.
func Describe(a review.Author) string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" "+word(value))
		}
	}
	add("session", a.Session)
	add("turn", a.Turn)
	add("tool call", a.ToolCall)
	add("source", a.Source)
	if a.Inferred {
		parts = append(parts, "inferred")
	} else {
		parts = append(parts, "exact")
	}
	return strings.Join(parts, ", ")
}

// Summary says in a few words what is pending in a file.
func Summary(f review.File) string {
	what := "changed"
	switch {
	case f.Base == review.Absent && f.Current != review.Absent:
		what = "created"
	case f.Base != review.Absent && f.Current == review.Absent:
		what = "deleted"
	}
	if f.Added > 0 || f.Removed > 0 {
		what += fmt.Sprintf(", +%d -%d", f.Added, f.Removed)
	}
	if f.From != "" {
		what += ", moved from " + Quote(f.From)
	}
	if f.To != "" {
		what += ", moved to " + Quote(f.To)
	}
	return what
}
