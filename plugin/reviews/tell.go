package reviews

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/review/project"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/review"
)

const (
	maxHunkLines = 1000      // of a side of a hunk, that Lua gets
	maxHunkBytes = 256 << 10 // the same
)

// look asks Lua to look at a held file that has changed on the disk.
func (p *Folder) look(a review.Author, name string) {
	<-p.Ready
	p.reviews.host.Push(wire.ItemOf(Look{Path: p.Path(name), origin: p.origin(a)}))
}

// release has Lua let go of a file, because no buffer can show what it is now.
func (p *Folder) release(name string) {
	<-p.Ready
	p.reviews.host.Push(wire.ItemOf(Release{p.Path(name)}))
}

// holdAll has Neovim hold the buffers of the files with pending hunks, now or when they
// are loaded.
func (p *Folder) holdAll() {
	for _, f := range p.Review().Files() {
		p.reviews.host.Push(wire.ItemOf(Hold{Path: p.Path(f.Path)}))
	}
}

// stamp adds who an author is.
func (p *Folder) stamp(o *wire.Object, a review.Author) *wire.Object {
	by := p.origin(a)
	return o.Optional("agent", by.Agent).Optional("sessionId", string(by.Session)).Optional("toolCallId", by.ToolCall)
}

func (p *Folder) origin(a review.Author) origin {
	agent, id := p.reviews.splitKey(a.Session)
	return origin{agent, acp.SessionID(id), a.ToolCall}
}

// event sends Neovim an event of the review.
func (p *Folder) event(e review.Event) {
	<-p.Ready
	q := p.reviews.host.Queue
	switch e.Kind {
	case review.Edited:
		p.remember(e)
		q.Push(p.edited(e).Item(events.FileEdited))
		if !p.Held(e.Path) {
			q.Push(wire.ItemOf(Hold{Path: p.Path(e.Path), origin: p.origin(e.Author)}))
		}
	case review.Updated:
		p.settleApproved(e.Path)
		p.touch(e.Path)
	case review.Checkpointed:
		points := p.Review().Checkpoints()
		i := slices.IndexFunc(points, func(c review.Checkpoint) bool { return c.ID == e.Checkpoint })
		if i >= 0 {
			c := points[i]
			q.Push(p.stamp(new(wire.Object), review.Author{Session: c.Session}).
				Str("root", p.Root()).Str("id", c.ID).Str("name", c.Name).Optional("turn", c.Turn).Item(events.CheckpointCreated))
		}
	}
}

// edited makes the data of FileEdited.
func (p *Folder) edited(e review.Event) *wire.Object {
	added, removed := e.Lines()
	certainty := "exact"
	if e.Author.Inferred {
		certainty = "inferred"
	}
	return p.stamp(new(wire.Object), e.Author).Optional("turn", e.Author.Turn).Str("root", p.Root()).Str("path", p.Path(e.Path)).
		Str("source", e.Author.Source).Str("fidelity", certainty).
		Num("added", int64(added)).Num("removed", int64(removed)).Num("change", int64(e.Change))
}

// remember keeps the texts of a change for a while.
func (p *Folder) remember(e review.Event) {
	size := func(e review.Event) int { return len(e.Before.Text) + len(e.After.Text) }
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changes, p.size = append(p.changes, e), p.size+size(e)
	for len(p.changes) > maxChanges || p.size > maxTexts && len(p.changes) > 1 {
		p.size -= size(p.changes[0])
		p.changes = slices.Delete(p.changes, 0, 1)
	}
}

// touch has the hunks of a file sent to Neovim soon, and the user's edits
// stored once nothing happens for a while.
func (p *Folder) touch(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dirty[name] = true
	if p.timer == nil {
		p.timer = time.AfterFunc(pushPeriod, p.tell)
	}
	if p.pause == nil {
		p.pause = time.AfterFunc(flushPause, p.flush)
	} else {
		p.pause.Reset(flushPause)
	}
}

// flush stores the user's edits, and what could not be stored before.
func (p *Folder) flush() {
	p.mu.Lock()
	p.pause = nil
	p.mu.Unlock()
	err := p.Flush()
	if err == nil || errors.Is(err, store.ErrClosed) {
		return
	}
	p.reviews.host.Log.Error("store the user's edits", "error", err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pause == nil && p.reviews.host.Context.Err() == nil {
		p.pause = time.AfterFunc(retryPause, p.flush)
	}
}

// trouble notifies the user that the review cannot be stored, or is stored
// again.
func (p *Folder) trouble(err error) {
	if err == nil {
		p.reviews.host.Notice("info", "the review of %s is stored again", p.Given)
		return
	}
	p.reviews.host.Notice("error", "the review of %s cannot be stored, and goes on in memory: %v", p.Given, err)
}

// maxSaid is how many reasons for unseen changes the user gets to see.
const maxSaid = 20

// missed reports that something may have changed unseen. The user gets one notice for each
// reason. Reasons that an earlier program has reported are only counted.
func (p *Folder) missed(a review.Author, u project.Unrecorded) {
	<-p.Ready
	reason := cmp.Or(u.Reason, u.Limit)
	p.mu.Lock()
	key := a.Session + "\x00" + reason
	news := !u.Stored && !p.said[key] && len(p.said) < maxSaid
	if news {
		p.said[key] = true
	}
	p.mu.Unlock()
	h := p.reviews.host
	data := p.stamp(new(wire.Object), a).Str("root", p.Root()).Str("reason", reason).Num("count", int64(u.Count))
	if u.Limit != "" {
		data.Str("limit", u.Limit)
	}
	h.Queue.Push(data.Item(events.ChangesUnseen))
	if news {
		agent, _ := p.reviews.splitKey(a.Session)
		h.Notice("warn", "not all changes of %s are recorded: %s", agent, reason)
	}
}

// tell sends the pending hunks of the files that were touched.
func (p *Folder) tell() {
	p.mu.Lock()
	dirty := p.dirty
	p.dirty, p.timer = make(map[string]bool), nil
	p.mu.Unlock()
	files := make(map[string]review.File)
	for _, f := range p.Review().Files() {
		files[f.Path] = f
	}
	q := p.reviews.host.Queue
	for name := range dirty {
		f := files[name]
		var hunks []review.Hunk
		if p.Held(name) || f.Hunks > 0 {
			hunks = p.Review().Hunks(name)
		}
		short := shorten(hunks)
		p.mu.Lock()
		pushed, known := p.pushed[name]
		tick := p.ticks[name]
		held := p.Held(name)
		if p.pushed[name] = short; short == "" && !held {
			delete(p.pushed, name)
		}
		p.mu.Unlock()
		if pushed == short && (known || !held) {
			continue
		}
		if !held && pushed == "" {
			q.Push(wire.ItemOf(Hold{Path: p.Path(name)})) // what went away may come back
		}
		if held {
			it := wire.ItemOf(Hunks{p.Path(name), tick, p.hunks(hunks, false)})
			it.Max = wire.MaxWrite
			q.Push(it)
		}
		q.Push(new(wire.Object).Str("root", p.Root()).Str("path", p.Path(name)).
			Num("hunks", int64(f.Hunks)).Num("added", int64(f.Added)).Num("removed", int64(f.Removed)).
			Strs("sessions", p.sessions(f.Sessions)).Item(events.ReviewUpdated))
	}
}

// shorten says what hunks are, without where they are.
func shorten(hunks []review.Hunk) string {
	var b strings.Builder
	for _, h := range hunks {
		sum := fnv.New64a()
		for _, l := range slices.Concat(h.Old, h.New, h.Others) {
			sum.Write([]byte(l))
			sum.Write([]byte{0})
		}
		fmt.Fprintf(&b, "%d %d %s %s %d %d %d %x", h.ID, h.Version, h.Kind, h.Session, len(h.Old), len(h.New), len(h.Authors), sum.Sum64())
		for _, l := range h.User {
			fmt.Fprintf(&b, " %d", l-h.Current.Start)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// sessions are the ids of sessions as agents know them.
func (p *Folder) sessions(keys []string) []string {
	ids := make([]string, len(keys))
	for i, key := range keys {
		_, ids[i] = p.reviews.splitKey(key)
	}
	return ids
}

func (p *Folder) author(a review.Author) authorJSON {
	agent, id := p.reviews.splitKey(a.Session)
	return authorJSON{agent, id, a.Turn, a.ToolCall, a.Source, a.Inferred, stamped(a.At)}
}

func stamped(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func (p *Folder) hunks(hunks []review.Hunk, texts bool) []hunkJSON {
	out := make([]hunkJSON, 0, len(hunks))
	for _, h := range hunks {
		agent, id := p.reviews.splitKey(h.Session)
		to := hunkJSON{
			ID: h.ID, Version: h.Version, Path: p.Path(h.Path), Kind: string(h.Kind), Agent: agent, Session: id,
			Base: rangeJSON(h.Base), Current: rangeJSON(h.Current),
			Old: someLines(h.Old), OldLines: len(h.Old), NewLines: len(h.New), User: slices.Concat([]int{}, h.User), Was: h.Was, Is: h.Is, Others: someLines(h.Others),
		}
		if texts {
			to.New = someLines(h.New)
		}
		for _, a := range h.Authors {
			to.Authors = append(to.Authors, p.author(a))
		}
		out = append(out, to)
	}
	return out
}

// someLines are the first lines, as far as Lua gets them.
func someLines(lines []string) []string {
	size := 0
	for i, l := range lines {
		if size += len(l); i == maxHunkLines || size > maxHunkBytes {
			return lines[:i]
		}
	}
	return slices.Concat([]string{}, lines)
}

var kindNames = map[review.Kind]string{review.Absent: "absent", review.Regular: "regular", review.Link: "link", review.Other: "other"}

func (p *Folder) file(f review.File) fileJSON {
	path := func(name string) string {
		if name == "" {
			return ""
		}
		return p.Path(name)
	}
	return fileJSON{
		p.Path(f.Path), p.Root(), kindNames[f.Base], kindNames[f.Current], f.Hunks, f.Added, f.Removed, p.sessions(f.Sessions),
		path(f.From), path(f.To), false,
	}
}

func stateOf(s review.State) stateJSON {
	to := stateJSON{Kind: kindNames[s.Kind], Mode: uint32(s.Mode), Target: s.Target}
	if s.Kind == review.Regular {
		to.Text = &s.Text
	}
	return to
}
