package project

import (
	"strings"
	"unicode"

	"github.com/hermes-nvim/hermes/internal/lazyregexp"
)

const maxTitle = 80 // characters

// pasted matches what Claude Code's hooks put around a text that was pasted.
var pasted = lazyregexp.New(`</?pasted_content\b[^<>]*>`)

// title is the name of a checkpoint: the first line of a prompt that has anything
// to read, without what a screen would not show.
func title(prompt string) string {
	for line := range strings.Lines(pasted().ReplaceAllString(prompt, "")) {
		line = strings.Map(func(r rune) rune {
			switch {
			case unicode.IsSpace(r) || unicode.IsControl(r):
				return ' '
			case !unicode.IsGraphic(r) || r == unicode.ReplacementChar:
				return -1
			}
			return r
		}, line)
		line = strings.Join(strings.Fields(line), " ")
		if chars := []rune(line); len(chars) > maxTitle {
			return strings.TrimSpace(string(chars[:maxTitle-1])) + "…"
		}
		if line != "" {
			return line
		}
	}
	return ""
}
