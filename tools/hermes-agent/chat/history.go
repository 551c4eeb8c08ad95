package chat

import (
	"os"
	"strings"
)

// historyLines bounds the history.
const historyLines = 1000

// history is what the user has typed, in a file that only the user can read. A file that
// cannot be read or written is none. It implements term.History; the zero value is one that
// stays empty.
type history struct {
	name  string
	lines []string // the newest last
}

func openHistory(name string) *history {
	h := &history{name: name}
	b, err := os.ReadFile(name)
	if err != nil || len(b) == 0 {
		return h
	}
	h.lines = strings.Split(Clean(strings.TrimSuffix(string(b), "\n")), "\n")
	if over := len(h.lines) - historyLines; over > 0 {
		h.lines = h.lines[over:]
		os.WriteFile(name, []byte(strings.Join(h.lines, "\n")+"\n"), 0o600)
	}
	return h
}

// Add implements term.History.
func (h *history) Add(line string) {
	if h.name == "" || strings.TrimSpace(line) == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, Clean(line)) // pasted text can hold anything
	f, err := os.OpenFile(h.name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	f.WriteString(h.lines[len(h.lines)-1] + "\n")
}

// Len implements term.History.
func (h *history) Len() int { return len(h.lines) }

// At implements term.History.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }
