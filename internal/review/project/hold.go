package project

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/runtime/review"
)

// Text is the text of a buffer, as an editor reports it.
type Text struct {
	Text     string
	Undo     bool // the difference is the editor's undo or redo
	Reloaded bool // the user has read the disk into the buffer, which others may have changed
}

// Hold says that an editor has the file in a buffer and what its text is there.
// From now on the review has the text of the buffer; a change on the disk is
// only a reason to look. Text that the review does not have is the user's,
// unless the buffer has just been read from the disk while an agent works.
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
	s := review.State{Kind: review.Regular, Text: t.Text, Mode: p.modeNow(name, current)}
	switch {
	case disk.Kind != review.Absent:
	case p.review.Deleted(name): // the buffer still has what the agent has deleted
		p.letGo(name, current)
		return nil
	case t.Text == "": // of a file that is not there yet
		s = review.State{}
	}
	p.mu.Lock()
	was, again := p.held[name]
	p.held[name] = new(inBuffer)
	p.mu.Unlock()
	if known && was.saves(t.Text) {
		return p.review.Wrote(name, s, t.Undo)
	}
	fresh := err == nil && disk.Text == t.Text && (t.Reloaded || !again)
	switch author, running := p.Running(); {
	case !known:
		return p.review.Track(name, s)
	case again && was.author != nil && fresh && current != s:
		return p.changedIn(*was, name, current, s)
	case running && fresh && current != s:
		return p.review.Found(author, name, nil, s, time.Now())
	case fresh || t.Reloaded && !running: // the disk may have moved on since the buffer was read
		return p.review.Synced(name, s, time.Now())
	}
	return p.review.Wrote(name, s, t.Undo)
}

// Taken says that an editor has read the text of the disk, Told.After, into a buffer that
// it holds from now on. Told.Before is used only if nothing else is known of the file. It
// reports false if the disk has another text by now, which is known already.
func (p *Project) Taken(author review.Author, user bool, t Told) bool {
	name := p.Name(t.Path)
	if p.isApart(name) {
		return true
	}
	p.attributing.Lock()
	defer p.attributing.Unlock()
	was, known := p.before(name)
	if !known && t.Before != nil {
		was, known = review.State{Kind: review.Regular, Text: *t.Before, Mode: p.modeNow(name, was)}, true
	}
	now := review.State{Kind: review.Regular, Text: *t.After, Mode: p.modeNow(name, was)}
	if disk, err := p.read(name); err == nil && known && disk == was && was != now {
		return false
	}
	p.note(name, now)
	p.found(&job{user: user}, author, name, was, known, now, time.Now())
	p.mu.Lock()
	p.held[name] = new(inBuffer)
	p.mu.Unlock()
	return true
}

// modeNow returns the permissions of a file that was in a state.
func (p *Project) modeNow(name string, was review.State) fs.FileMode {
	if was.Kind == review.Regular {
		return was.Mode
	}
	if disk, err := p.read(name); err == nil && disk.Kind == review.Regular {
		return disk.Mode
	}
	return 0o644
}

// Release says that no buffer has the file any more. The review then has what the
// disk has.
func (p *Project) Release(path string) {
	name := p.Name(path)
	p.mu.Lock()
	was, held := p.held[name]
	p.mu.Unlock()
	switch {
	case !held:
	case was.author != nil:
		p.Parted(*was.author, path)
	default:
		p.mu.Lock()
		delete(p.held, name)
		p.mu.Unlock()
		p.add(&job{user: true, files: []Told{{Path: p.Path(name)}}})
	}
}

// Parted says that an author has made something of the file that no buffer has. The review
// then has what the disk has.
func (p *Project) Parted(author review.Author, path string) {
	name := p.Name(path)
	p.attributing.Lock()
	defer p.attributing.Unlock()
	if p.Held(name) {
		disk, known := p.before(name)
		if !known {
			_, disk, _ = p.review.Known(name)
		}
		p.letGo(name, disk)
	}
	p.add(&job{author: author, files: []Told{{Path: p.Path(name)}}, sure: true})
}

// letGo follows a file on the disk again. disk is the state that it had when its buffer
// last had its text. Text that the user has not saved goes with the buffer.
func (p *Project) letGo(name string, disk review.State) {
	p.mu.Lock()
	if h := p.held[name]; h != nil && h.author != nil {
		disk = h.disk
	}
	delete(p.held, name)
	p.mu.Unlock()
	p.failed("let go of a buffer", name, p.review.Wrote(name, disk, false))
	if p.opts.OnRelease != nil {
		p.opts.OnRelease(name)
	}
}

// OnDisk notes what an editor has read of a file that it holds.
func (p *Project) OnDisk(path, text string) {
	name := p.Name(path)
	p.attributing.Lock()
	defer p.attributing.Unlock()
	if _, current, known := p.review.Known(name); known && current.Kind == review.Regular {
		p.note(name, review.State{Kind: review.Regular, Text: text, Mode: current.Mode})
	}
}

// Unsaved returns a file whose text is another one in the editor than on the disk, "" if
// there is none.
func (p *Project) Unsaved() string {
	p.mu.Lock()
	names := slices.Sorted(maps.Keys(p.held))
	p.mu.Unlock()
	for _, name := range names {
		_, current, known := p.review.Known(name)
		if disk, err := p.read(name); known && (err != nil || disk.Kind != current.Kind || disk.Text != current.Text) {
			return name
		}
	}
	return ""
}

// Held reports whether an editor has the file in a buffer.
func (p *Project) Held(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, held := p.held[name]
	return held
}

// Awaited returns whose change of a file the editor is showing; see Options.OnLook. It
// is nil if there is none.
func (p *Project) Awaited(path string) *review.Author {
	name := p.Name(path)
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.held[name]; h != nil {
		return h.author
	}
	return nil
}

// Changed records that a change of an agent has reached a buffer, whose text is
// then text. before is the text that it had, if the editor knows.
func (p *Project) Changed(author review.Author, path string, before *string, text string) error {
	name := p.Name(path)
	buffer := inBuffer{author: &author}
	p.mu.Lock()
	if h, held := p.held[name]; held {
		buffer.trace = h.trace
		p.held[name] = new(inBuffer)
	}
	p.mu.Unlock()
	p.attributing.Lock()
	defer p.attributing.Unlock()
	was, ok := p.before(name)
	mode := p.modeNow(name, was)
	if before != nil && (*before != "" || !ok || was.Kind != review.Absent) {
		was, ok = review.State{Kind: review.Regular, Text: *before, Mode: mode}, true
	}
	now := review.State{Kind: review.Regular, Text: text, Mode: mode}
	p.guess(name, author.Inferred)
	if !ok {
		return p.review.Changed(author, name, nil, now)
	}
	return p.changedIn(buffer, name, was, now)
}

// inBuffer is what is known of a file that an editor has in a buffer.
type inBuffer struct {
	author *review.Author // of a change on the disk that has not reached the buffer
	disk   review.State   // what it had before that
	trace  *review.Trace  // of the changes that have not, nil if nothing is known exactly
	users  *string        // what the user has made of it with another editor
}

// saves reports whether the disk has a text because of the user, who has another editor.
func (b *inBuffer) saves(disk string) bool { return b != nil && b.users != nil && *b.users == disk }

// Saved says that a held file has a text on the disk because of the user, who has saved it
// with another editor. The buffer need not have it yet.
func (p *Project) Saved(path, disk string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held[p.Name(path)].saves(disk)
}

// Merged records what has become of a buffer with what the user has saved with another
// editor.
func (p *Project) Merged(path, text string) error {
	name := p.Name(path)
	p.attributing.Lock()
	defer p.attributing.Unlock()
	_, current, _ := p.review.Known(name)
	p.mu.Lock()
	p.held[name] = new(inBuffer)
	p.mu.Unlock()
	return p.review.Wrote(name, review.State{Kind: review.Regular, Text: text, Mode: p.modeNow(name, current)}, false)
}

// wait notes a change on the disk that the editor is to bring into the buffer. trace
// is given the trace so far.
func (p *Project) wait(author review.Author, name string, disk review.State, trace func(*review.Trace) *review.Trace) {
	p.mu.Lock()
	if h := p.held[name]; h != nil {
		if h.author != nil {
			disk = h.disk
		}
		p.held[name] = &inBuffer{author: &author, disk: disk, trace: trace(h.trace)}
	}
	p.mu.Unlock()
	if p.opts.OnLook != nil {
		p.opts.OnLook(author, name)
	}
}

// changedIn records a change that has reached a buffer. was is used only if the
// file is not known.
func (p *Project) changedIn(b inBuffer, name string, was, now review.State) error {
	if _, current, known := p.review.Known(name); known {
		was = current
	}
	users := was
	if b.trace != nil && was.Kind == review.Regular {
		users.Text = b.trace.Users(was.Text)
	}
	if users != was {
		if err := errors.Join(p.review.Track(name, was), p.review.Wrote(name, users, false)); err != nil {
			return err
		}
	}
	return p.review.Changed(*b.author, name, &users, now)
}
