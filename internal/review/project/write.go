package project

import (
	"time"

	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// Write is for a file that this program writes for a session: it notes what the
// file is before and after write. text is what the file probably becomes.
func (p *Project) Write(author review.Author, path, text string, write func() error) error {
	name := p.Name(path)
	if p.isApart(name) {
		err := write()
		if err == nil {
			p.noticeSteering(author, path)
		}
		return err
	}
	j := &job{author: author}
	defer p.tellUnseen(j)
	before, ok := p.beginWrite(j, name, text)
	defer p.written(name)
	if err := write(); err != nil || !ok {
		return err
	}
	p.attributing.Lock()
	defer p.attributing.Unlock()
	after, err := p.read(name)
	p.isSeen(j, author, name, err)
	if err != nil {
		return nil
	}
	p.note(name, after)
	if p.Held(name) {
		p.found(j, author, name, before, true, after, time.Now())
	} else {
		p.failed("record a write", name, p.review.Changed(author, name, &before, after))
	}
	return nil
}

// written says that a write of a file has ended.
func (p *Project) written(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.writing[name]--; p.writing[name] == 0 {
		delete(p.writing, name)
	}
}

// beginWrite notes what a file is before a write. Changes in it that nobody has
// noticed are attributed to the same session.
func (p *Project) beginWrite(j *job, name, text string) (before review.State, ok bool) {
	author := j.author
	p.attributing.Lock()
	defer p.attributing.Unlock()
	p.mu.Lock()
	p.writing[name]++
	_, held := p.held[name]
	p.mu.Unlock()
	now, err := p.read(name)
	if err != nil {
		p.isSeen(j, author, name, err)
		return now, false
	}
	was, ok := p.before(name)
	if held {
		if !ok {
			was = now
		}
		return was, true
	}
	if ok && isMissing(was, now) {
		now = was // somebody has begun to write it
	} else if ok && was != now {
		p.failed("record a change", name, p.review.Changed(unnoticed(author), name, &was, now))
	}
	p.failed("track", name, p.review.Track(name, now))
	mode := now.Mode
	if now.Kind != review.Regular {
		mode = 0o644
	}
	p.failed("intend", name, p.review.Intend(author, name, review.State{Kind: review.Regular, Text: text, Mode: mode}))
	return now, true
}

// unnoticed returns the author of what somebody did in a turn without saying so.
func unnoticed(author review.Author) review.Author {
	author.ToolCall, author.Source, author.Inferred = "", "disk", true
	return author
}

// UserWrote notes that the user has saved a file. It has the text that it has now.
func (p *Project) UserWrote(path string) { p.userSaved(path, nil, nil) }

// UserSaved notes that the user has saved a file in this editor, whatever has become of it
// since. before and text are what it was before and after, before is nil if there was no file.
// If text is nil, the file had the text of the buffer that the editor holds; if it holds none,
// it is what it is now.
func (p *Project) UserSaved(path string, before, text *string) {
	switch {
	case p.bufferSaved(path, text):
	case text == nil:
		p.userSaved(path, nil, nil)
	default:
		p.userSaved(path, &feed.Version{Text: before, Absent: before == nil}, &feed.Version{Text: text})
	}
}

// bufferSaved is UserSaved for a file that the editor holds. It reports false for another.
func (p *Project) bufferSaved(path string, text *string) bool {
	name := p.Name(path)
	p.attributing.Lock()
	defer p.attributing.Unlock()
	_, saved, known := p.review.Known(name)
	if !known || saved.Kind != review.Regular || !p.Held(name) {
		return false
	}
	if text != nil {
		saved.Text = *text
	}
	now, err := p.read(name)
	if now.Kind == review.Regular {
		saved.Mode = now.Mode
	}
	p.note(name, saved)
	if err != nil || now != saved {
		p.lookAfterSave(path)
	}
	return true
}

// lookAfterSave finds out what has become of a file since the user has saved it.
func (p *Project) lookAfterSave(path string) {
	author, busy := p.Running()
	p.add(&job{author: author, user: !busy, files: []Told{{Path: path}}})
}

// userSaved is UserWrote for a version that the file may no longer have. Later changes
// are not the user's. was is the version before the save, nil if it is not known.
func (p *Project) userSaved(path string, was, as *feed.Version) {
	name := p.Name(path)
	if p.isApart(name) {
		return
	}
	p.attributing.Lock()
	defer p.attributing.Unlock()
	seen := time.Now()
	text, told := p.textOf(as)
	s, err := p.read(name)
	if err != nil && !(told && text != nil) {
		return
	}
	known, ok := p.before(name)
	now := s
	author, busy := p.Running()
	isText := s.Kind != review.Link || ok && known.Kind == review.Regular // who saves writes through a link
	switch {
	case told && text != nil && isText:
		if s.Kind != review.Regular || s.Text != *text {
			s = review.State{Kind: review.Regular, Text: *text, Mode: p.modeNow(name, known)}
			defer p.lookAfterSave(path)
		}
	case ok && isMissing(known, s): // somebody has begun to write it
		p.add(&job{user: true, files: []Told{{Path: path}}})
		return
	}
	before, told := p.textOf(was)
	told = told && as != nil && s.Kind == review.Regular
	isFound := told && (p.isSaveFound(name, before, s) || ok && known == now)
	if !isFound {
		if told && before != nil && ok && busy {
			known = p.missedBefore(unnoticed(author), name, known, *before)
		}
		p.note(name, s)
	}
	p.mu.Lock()
	buffer, held := p.held[name]
	elsewhere := held && as != nil && s.Kind == review.Regular
	switch {
	case elsewhere && buffer.author != nil: // an agent's change has not reached the buffer yet either
		trace := buffer.trace
		if trace == nil {
			trace = review.NewTrace(buffer.disk.Text).Reported(buffer.disk.Text, known.Text)
		}
		if told && before != nil {
			trace = trace.Found(*before)
		}
		buffer.trace = trace.Saved(s.Text)
	case elsewhere:
		buffer.users = &s.Text
	}
	p.mu.Unlock()
	switch {
	case !held && !isFound:
		p.failed("record a save", name, p.review.Synced(name, s, seen))
	case elsewhere && p.opts.OnLook != nil:
		p.opts.OnLook(review.Author{}, name)
	}
}

// isSaveFound reports whether the review had found a save of the user before it was
// reported, and makes sure that the change is the user's there. before is nil if there was
// no file.
func (p *Project) isSaveFound(name string, before *string, after review.State) bool {
	was := review.State{Kind: review.Absent}
	if before != nil {
		was = after
		was.Text = *before
	}
	found, err := p.review.Saved(name, was, after)
	p.failed("record a save", name, err)
	return found
}

// missedBefore records what had become of a file before the user saved it, and returns that.
func (p *Project) missedBefore(author review.Author, name string, known review.State, text string) review.State {
	was := known
	was.Text = text
	if known.Kind != review.Regular || was == known {
		return known
	}
	p.mu.Lock()
	b, held := p.held[name]
	if held && b.author == nil {
		p.held[name] = &inBuffer{author: &author, disk: known}
	}
	p.mu.Unlock()
	if !held {
		p.failed("record a change", name, p.review.Changed(author, name, &known, was))
	}
	return was
}
