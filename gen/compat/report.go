package compat

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// Section is the part of a report about one edition of the protocol.
type Section struct {
	Title    string
	Changes  []Change
	Wordless []string // entries for new definitions that the documentation says nothing about; see Skeleton
}

var explained = map[Level]string{
	Break: "Go programs that use these no longer compile.",
	Impl:  "Handler interfaces grow. Handlers that embed the `Unimplemented…` struct keep compiling and answer \"method not found\".",
	Wire:  "Messages are read or checked differently.",
	Add:   "New; nobody has to act.",
	Doc:   "Upstream changed the wording: check that `schema/overlay/docs.json` is still true.",
}

// Markdown writes the report of a change from one version to another.
func Markdown(from, to string, sections []Section) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# The protocol from %s to %s\n\n", from, to)
	b.WriteString("Written by `specupdate`. What each level means:\n\n")
	for _, l := range Levels {
		fmt.Fprintf(&b, "- **%s**: %s\n", l, explained[l])
	}
	b.WriteString("\n| schema |")
	for _, l := range Levels {
		fmt.Fprintf(&b, " %s |", l)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(Levels)) + "\n")
	for _, s := range sections {
		fmt.Fprintf(&b, "| %s |", s.Title)
		for _, l := range Levels {
			fmt.Fprintf(&b, " %d |", Count(s.Changes, l))
		}
		b.WriteByte('\n')
	}
	for _, s := range sections {
		s.write(&b)
	}
	return b.Bytes()
}

func (s *Section) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n## %s\n", s.Title)
	if len(s.Changes)+len(s.Wordless) == 0 {
		b.WriteString("\nNo change.\n")
	}
	for _, l := range Levels {
		if Count(s.Changes, l) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n### %s: %s\n\n", s.Title, l)
		if l == Doc { // there are many of these, and the place says it all
			b.WriteString(strings.Join(s.places(l), ", ") + "\n")
			continue
		}
		for _, c := range s.Changes {
			if c.Level == l {
				fmt.Fprintf(b, "- `%s`: %s\n", c.Where, c.What)
			}
		}
	}
	if len(s.Wordless) > 0 {
		fmt.Fprintf(b, "\n### %s: new and without words\n\nPaste these into `schema/overlay/docs.json` and fill them in:\n\n```json\n", s.Title)
		for i, w := range s.Wordless {
			comma := ","
			if i == len(s.Wordless)-1 {
				comma = ""
			}
			fmt.Fprintf(b, "%s%s\n", w, comma)
		}
		b.WriteString("```\n")
	}
}

// places lists where the changes of a level are, quoted for Markdown.
func (s *Section) places(l Level) []string {
	var list []string
	for _, c := range s.Changes {
		if c.Level == l {
			list = append(list, "`"+c.Where+"`")
		}
	}
	return list
}

// Skeleton returns an entry of overlay/docs.json for a definition. Its texts must
// be filled in.
func Skeleton(t *ir.Type) string {
	var parts []string
	add := func(kind string, names []string) {
		var list []string
		for _, n := range names {
			if n != "" && n != "_meta" {
				list = append(list, fmt.Sprintf("%q: \"\"", n))
			}
		}
		if len(list) > 0 {
			parts = append(parts, fmt.Sprintf("%q: {%s}", kind, strings.Join(list, ", ")))
		}
	}
	var members, values, variants []string
	for _, f := range t.Fields {
		members = append(members, f.Wire)
	}
	for _, v := range t.Values {
		values = append(values, v.Wire)
	}
	if t.Union != nil {
		for _, v := range t.Union.Variants {
			variants = append(variants, v.Wire)
		}
	}
	add("members", members)
	add("values", values)
	add("variants", variants)
	return fmt.Sprintf("%q: {%s}", t.Name, strings.Join(append([]string{`"": ""`}, parts...), ", "))
}

// Count is the number of changes of a level.
func Count(changes []Change, l Level) int {
	n := 0
	for _, c := range changes {
		if c.Level == l {
			n++
		}
	}
	return n
}
