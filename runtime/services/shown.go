package services

import (
	"container/list"
	"crypto/sha256"
	"strings"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// Limits of the texts that are kept of the files that one agent was shown. A
// text that is not kept leaves a checksum.
const (
	maxShownText  = 8 << 20  // bytes of one text
	maxShownTexts = 64 << 20 // bytes of all texts
	maxShownFiles = 10_000
)

// shown is what an agent knows of files: their text when the agent last read or
// wrote them.
type shown struct {
	mu     sync.Mutex
	files  map[shownFile]*list.Element // of *shownText
	recent *list.List                  // the most recent first
	bytes  int
}

type shownFile struct {
	session acp.SessionID
	real    string
}

type shownText struct {
	file shownFile
	sum  [sha256.Size]byte
	text string
	kept bool // text is there
}

func newShown() *shown { return &shown{files: make(map[shownFile]*list.Element), recent: list.New()} }

func (s *shown) get(file shownFile) (shownText, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.files[file]
	if e == nil {
		return shownText{}, false
	}
	s.recent.MoveToFront(e)
	return *e.Value.(*shownText), true
}

func (s *shown) set(file shownFile, text string) {
	t := &shownText{file: file, sum: sha256.Sum256([]byte(text))}
	if len(text) <= maxShownText {
		t.text, t.kept = strings.Clone(text), true // it may be part of a larger message
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(s.files[file])
	s.files[file] = s.recent.PushFront(t)
	s.bytes += len(t.text)
	for e := s.recent.Back(); e != nil && s.bytes > maxShownTexts; e = e.Prev() {
		old := e.Value.(*shownText)
		if s.bytes -= len(old.text); old.text != "" {
			old.text, old.kept = "", false
		}
	}
	for len(s.files) > maxShownFiles {
		s.remove(s.recent.Back())
	}
}

func (s *shown) remove(e *list.Element) {
	if e == nil {
		return
	}
	t := s.recent.Remove(e).(*shownText)
	delete(s.files, t.file)
	s.bytes -= len(t.text)
}

func (s *shown) end(session acp.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for file, e := range s.files {
		if file.session == session {
			s.remove(e)
		}
	}
}

// Shown says that an agent was shown lines of a file, or wrote all of it. text is
// the whole text of the file, real its Location.Real. ReadTextFile, WriteTextFile
// and WriteFile do this themselves.
func (s *Services) Shown(id acp.SessionID, real, text string, lines files.Range) {
	file := shownFile{id, real}
	start := max(int(lines.Line.Or(1)), 1) - 1
	limit, limited := lines.Limit.Get()
	before, known := s.shown.get(file)
	if part := start > 0 || limited && lines.Of(text) != text; known && part {
		if !before.kept {
			return // what changed elsewhere is still unknown to the agent
		}
		end := start + int(limit)
		if !limited {
			end = strings.Count(text, "\n") + 1
		}
		text = review.Reread(before.text, text, start, end)
	}
	s.shown.set(file, text)
}

// Knows reports whether an agent has read or written a file.
func (s *Services) Knows(id acp.SessionID, real string) bool {
	_, known := s.shown.get(shownFile{id, real})
	return known
}

// Rebase returns what a file is to hold when an agent writes content and the file
// holds now: what the agent has changed since it last read or wrote the file is
// changed in now. If somebody else has changed the same lines, the error is an
// *OverlapError. A file that the agent has never read gets content.
func (s *Services) Rebase(id acp.SessionID, real, now, content string) (string, error) {
	base, known := s.shown.get(shownFile{id, real})
	if !known || now == content || base.sum == sha256.Sum256([]byte(now)) {
		return content, nil
	}
	if !base.kept {
		return "", &OverlapError{}
	}
	merged, conflicts := Merge(base.text, now, content)
	if len(conflicts) > 0 {
		return "", &OverlapError{conflicts}
	}
	return merged, nil
}

// Merge is review.Merge for two texts of a file. The result has the line ends and
// the byte order mark of ours. Two texts that both began from nothing overlap,
// because one behind the other they would make no sense.
func Merge(base, ours, theirs string) (merged string, conflicts []review.Conflict) {
	base, theirs = files.Fit(base, ours), files.Fit(theirs, ours)
	if base == "" && ours != "" && theirs != "" && ours != theirs {
		return ours, []review.Conflict{{Ours: lines(ours), Theirs: lines(theirs)}}
	}
	return review.Merge(base, ours, theirs)
}

func lines(text string) []string {
	l := strings.SplitAfter(text, "\n")
	if l[len(l)-1] == "" {
		l = l[:len(l)-1]
	}
	return l
}
