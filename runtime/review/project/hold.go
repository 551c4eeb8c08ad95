package project

import (
	"fmt"

	"github.com/hermes-nvim/hermes/runtime/review"
)

// Text is what an editor says of a buffer.
type Text struct {
	Text     string
	Undo     bool // what differs is the editor's undo or redo
	Reloaded bool // the user has read the disk into the buffer, which others may have changed
}

// Hold says that an editor has the file in a buffer and what its text is there.
// From now on the review has the text of the buffer; the disk only counts as a
// reason to look. Text that the review does not have is the user's, unless the
// buffer has just been read from the disk while an agent works.
func (p *Project) Hold(path string, t Text) error {
	p.caughtUp()
	name := p.Name(path)
	p.attributing.Lock()
	defer p.attributing.Unlock()
	_, current, known := p.review.Known(name)
	disk, err := p.read(name)
	if err != nil && !known {
		return fmt.Errorf("hold %s: %w", path, err)
	}
	s := review.State{Kind: review.Regular, Text: t.Text, Mode: current.Mode}
	if !known || current.Kind != review.Regular {
		s.Mode = 0o644
		if disk.Kind == review.Regular {
			s.Mode = disk.Mode
		}
	}
	if t.Text == "" && disk.Kind == review.Absent { // of a file that is not there yet
		s = review.State{}
	}
	p.mu.Lock()
	_, again := p.held[name]
	p.held[name] = nil
	p.mu.Unlock()
	fresh := err == nil && disk.Text == t.Text && (t.Reloaded || !again)
	switch author, running := p.Running(); {
	case !known:
		return p.review.Track(name, s)
	case running && fresh && current != s:
		return p.review.Changed(author, name, nil, s)
	}
	return p.review.Wrote(name, s, t.Undo)
}

// Release says that no buffer has the file any more. The review then has what the
// disk has.
func (p *Project) Release(path string) {
	name := p.Name(path)
	p.mu.Lock()
	author, held := p.held[name]
	delete(p.held, name)
	p.mu.Unlock()
	switch {
	case !held:
	case author != nil:
		p.add(&job{author: *author, files: []Told{{Path: p.Path(name)}}, sure: true})
	default:
		p.add(&job{user: true, files: []Told{{Path: p.Path(name)}}})
	}
}

// Held reports whether an editor has the file in a buffer.
func (p *Project) Held(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, held := p.held[name]
	return held
}

// Changed records that a change of an agent has reached a buffer, whose text is
// then text. before is the text that it had, if the editor knows.
func (p *Project) Changed(author review.Author, path string, before *string, text string) error {
	name := p.Name(path)
	p.mu.Lock()
	if _, held := p.held[name]; held {
		p.held[name] = nil
	}
	p.mu.Unlock()
	p.attributing.Lock()
	defer p.attributing.Unlock()
	was, ok := p.before(name)
	mode := was.Mode
	if was.Kind != review.Regular {
		mode = 0o644
		if disk, err := p.read(name); err == nil && disk.Kind == review.Regular {
			mode = disk.Mode
		}
	}
	if before != nil && (*before != "" || !ok || was.Kind != review.Absent) {
		was, ok = review.State{Kind: review.Regular, Text: *before, Mode: mode}, true
	}
	var old *review.State
	if ok {
		old = &was
	}
	return p.review.Changed(author, name, old, review.State{Kind: review.Regular, Text: text, Mode: mode})
}
