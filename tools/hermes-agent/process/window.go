package process

import "unicode/utf8"

// window keeps the newest output of a process.
type window struct {
	kept    []byte
	skipped int // bytes that news has not returned and that are no longer kept
	unread  int // bytes at the end of kept that news has not returned
}

// add appends text; before it, some bytes were lost.
func (w *window) add(text string, lost int) {
	w.kept = append(w.kept, text...)
	w.unread += len(text)
	if lost > 0 { // what was unread before it no longer has its place
		w.skipped += lost + w.unread - len(text)
		w.unread = len(text)
	}
	over := len(w.kept) - MaxOutput
	if over <= 0 {
		return
	}
	for over < len(w.kept) && !utf8.RuneStart(w.kept[over]) {
		over++
	}
	w.kept = append(w.kept[:0], w.kept[over:]...)
	if w.unread > len(w.kept) {
		w.skipped += w.unread - len(w.kept)
		w.unread = len(w.kept)
	}
}

// news returns what was added since the last call, and how much before it is lost.
func (w *window) news() (text string, skipped int) {
	text, skipped = string(w.kept[len(w.kept)-w.unread:]), w.skipped
	w.unread, w.skipped = 0, 0
	return text, skipped
}
