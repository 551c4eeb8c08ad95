package review

import "strings"

// maxLines is the size in bytes above which a text is not cut into lines.
const maxLines = 8 << 20

// split cuts a text into lines that keep their terminators, so that joining
// them gives the same bytes. A text with a NUL, or one above maxLines, is
// opaque: a single line.
func split(text string) []string {
	if text == "" {
		return nil
	}
	if opaque(text) {
		return []string{text}
	}
	lines := make([]string, 0, strings.Count(text, "\n")+1)
	for text != "" {
		i := strings.IndexByte(text, '\n') + 1
		if i == 0 {
			i = len(text)
		}
		lines = append(lines, text[:i])
		text = text[i:]
	}
	return lines
}

func opaque(text string) bool { return len(text) > maxLines || strings.IndexByte(text, 0) >= 0 }

// ragged reports whether a line has no terminator. Only the last line of a file
// may lack one.
func ragged(line string) bool { return line == "" || line[len(line)-1] != '\n' }
