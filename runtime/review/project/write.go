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
	if err == nil {
		p.note(name, after)
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

// beginWrite notes what a file is before a write. What has changed in it without
// being noticed is attributed to the same session.
func (p *Project) beginWrite(j *job, name, text string) (before review.State, ok bool) {
	author := j.author
	p.attributing.Lock()
	defer p.attributing.Unlock()
	p.mu.Lock()
	p.writing[name]++
	_, held := p.held[name]
	p.mu.Unlock()
	now, err := p.read(name)
	if held || err != nil {
		p.isSeen(j, author, name, err)
		return now, false
	}
	if was, ok := p.before(name); ok && isMissing(was, now) {
		now = was // somebody has begun to write it
	} else if ok && was != now {
		unnoticed := author
		unnoticed.ToolCall, unnoticed.Source, unnoticed.Inferred = "", "disk", true
		p.failed("record a change", name, p.review.Changed(unnoticed, name, &was, now))
	}
	p.failed("track", name, p.review.Track(name, now))
	mode := now.Mode
	if now.Kind != review.Regular {
		mode = 0o644
	}
	p.failed("intend", name, p.review.Intend(author, name, review.State{Kind: review.Regular, Text: text, Mode: mode}))
	return now, true
}

// UserWrote notes that the user has saved a file.
func (p *Project) UserWrote(path string) { p.userSaved(path, nil) }

// userSaved is UserWrote for a version that the file need no longer be. What has followed
// is not the user's.
func (p *Project) userSaved(path string, as *feed.Version) {
	name := p.Name(path)
	if p.isApart(name) {
		return
	}
	p.attributing.Lock()
	defer p.attributing.Unlock()
	seen := time.Now()
	s, err := p.read(name)
	if err != nil {
		return
	}
	before, known := p.before(name)
	if known && isMissing(before, s) {
		p.add(&job{user: true, files: []Told{{Path: path}}})
		return
	}
	if text, known := p.textOf(as); known && text != nil && s.Kind == review.Regular && s.Text != *text {
		s.Text = *text
		author, busy := p.Running()
		defer p.add(&job{author: author, user: !busy, files: []Told{{Path: path}}})
	}
	p.note(name, s)
	p.mu.Lock()
	buffer, held := p.held[name]
	elsewhere := held && as != nil && s.Kind == review.Regular
	switch {
	case elsewhere && buffer.author != nil: // an agent's change has not reached the buffer yet either
		trace := buffer.trace
		if trace == nil {
			trace = review.NewTrace(buffer.disk.Text).Reported(buffer.disk.Text, before.Text)
		}
		buffer.trace = trace.Saved(s.Text)
	case elsewhere:
		buffer.users = &s.Text
	}
	p.mu.Unlock()
	switch {
	case !held:
		p.failed("record a save", name, p.review.Synced(name, s, seen))
	case elsewhere && p.opts.OnLook != nil:
		p.opts.OnLook(review.Author{}, name)
	}
}
