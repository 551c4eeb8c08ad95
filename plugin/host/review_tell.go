package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/store"
)

const (
	maxHunkLines = 1000      // of a side of a hunk, that Lua gets
	maxHunkBytes = 256 << 10 // the same
	maxChanges   = 500       // whose texts are kept
	maxTexts     = 16 << 20  // bytes of these texts
)

// look tells Lua that the disk of a held file has changed.
func (p *reviewed) look(a review.Author, name string) {
	<-p.ready
	p.reviews.host.queue.push(p.stamp(new(object), a).str("path", p.Path(name)).item(kindLook))
}

// stamp adds who an author is.
func (p *reviewed) stamp(o *object, a review.Author) *object {
	agent, id := p.reviews.splitKey(a.Session)
	return o.optional("agent", agent).optional("sessionId", id).optional("toolCallId", a.ToolCall)
}

// event tells Neovim what has happened.
func (p *reviewed) event(e review.Event) {
	<-p.ready
	q := p.reviews.host.queue
	switch e.Kind {
	case review.Edited:
		p.remember(e)
		q.push(event(eventFileEdited, p.edited(e)))
		if !p.Held(e.Path) {
			q.push(p.stamp(new(object), e.Author).str("path", p.Path(e.Path)).item(kindHold))
		}
	case review.Updated:
		p.touch(e.Path)
	case review.Checkpointed:
		points := p.Review().Checkpoints()
		i := slices.IndexFunc(points, func(c review.Checkpoint) bool { return c.ID == e.Checkpoint })
		if i >= 0 {
			c := points[i]
			q.push(event(eventCheckpointCreated, p.stamp(new(object), review.Author{Session: c.Session}).
				str("root", p.Root()).str("id", c.ID).str("name", c.Name).optional("turn", c.Turn)))
		}
	}
}

// edited makes the data of FileEdited.
func (p *reviewed) edited(e review.Event) *object {
	added, removed := e.Lines()
	certainty := "exact"
	if e.Author.Inferred {
		certainty = "inferred"
	}
	return p.stamp(new(object), e.Author).optional("turn", e.Author.Turn).str("root", p.Root()).str("path", p.Path(e.Path)).
		str("source", e.Author.Source).str("fidelity", certainty).
		num("added", int64(added)).num("removed", int64(removed)).num("change", int64(e.Change))
}

// remember keeps the texts of a change for a while.
func (p *reviewed) remember(e review.Event) {
	size := func(e review.Event) int { return len(e.Before.Text) + len(e.After.Text) }
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changes, p.size = append(p.changes, e), p.size+size(e)
	for len(p.changes) > maxChanges || p.size > maxTexts && len(p.changes) > 1 {
		p.size -= size(p.changes[0])
		p.changes = slices.Delete(p.changes, 0, 1)
	}
}

// touch has Neovim told soon what is pending in a file, and the user's edits
// stored once nothing happens for a while.
func (p *reviewed) touch(name string) {
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
func (p *reviewed) flush() {
	p.mu.Lock()
	p.pause = nil
	p.mu.Unlock()
	err := p.Flush()
	if err == nil || errors.Is(err, store.ErrClosed) {
		return
	}
	p.reviews.host.log.Error("store the user's edits", "error", err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pause == nil && p.reviews.host.ctx.Err() == nil {
		p.pause = time.AfterFunc(retryPause, p.flush)
	}
}

// trouble tells the user that what happens in the review is not stored, or is
// stored again.
func (p *reviewed) trouble(err error) {
	if err == nil {
		p.reviews.host.notice("info", "the review of %s is stored again", p.given)
		return
	}
	p.reviews.host.notice("error", "the review of %s cannot be stored, and goes on in memory: %v", p.given, err)
}

// tell tells what is pending in the files that were touched.
func (p *reviewed) tell() {
	p.mu.Lock()
	dirty := p.dirty
	p.dirty, p.timer = make(map[string]bool), nil
	p.mu.Unlock()
	files := make(map[string]review.File)
	for _, f := range p.Review().Files() {
		files[f.Path] = f
	}
	q := p.reviews.host.queue
	for name := range dirty {
		f := files[name]
		var hunks []review.Hunk
		if p.Held(name) || f.Hunks > 0 {
			hunks = p.Review().Hunks(name)
		}
		short := shorten(hunks)
		p.mu.Lock()
		same := p.pushed[name] == short
		tick := p.ticks[name]
		if p.pushed[name] = short; short == "" {
			delete(p.pushed, name)
		}
		p.mu.Unlock()
		if same {
			continue
		}
		if p.Held(name) {
			raw := mustJSON(map[string]any{"path": p.Path(name), "tick": tick, "hunks": p.hunks(hunks, false)})
			it := from(raw).item(kindHunks)
			it.max = maxWrite
			q.push(it)
		}
		q.push(event(eventReviewUpdated, new(object).str("root", p.Root()).str("path", p.Path(name)).
			num("hunks", int64(f.Hunks)).num("added", int64(f.Added)).num("removed", int64(f.Removed)).
			strs("sessions", p.sessions(f.Sessions))))
	}
}

// shorten says what hunks are, without where they are.
func shorten(hunks []review.Hunk) string {
	var b strings.Builder
	for _, h := range hunks {
		sum := fnv.New64a()
		for _, l := range slices.Concat(h.Old, h.New) {
			sum.Write([]byte(l))
			sum.Write([]byte{0})
		}
		fmt.Fprintf(&b, "%d %s %s %d %d %d %x", h.ID, h.Kind, h.Session, len(h.Old), len(h.New), len(h.Authors), sum.Sum64())
		for _, l := range h.User {
			fmt.Fprintf(&b, " %d", l-h.Current.Start)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("json of our own: %v", err)) // strings and numbers
	}
	return raw
}

// sessions are the ids of sessions as agents know them.
func (p *reviewed) sessions(keys []string) []string {
	ids := make([]string, len(keys))
	for i, key := range keys {
		_, ids[i] = p.reviews.splitKey(key)
	}
	return ids
}

type rangeJSON struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

type authorJSON struct {
	Agent    string `json:"agent,omitempty"`
	Session  string `json:"sessionId,omitempty"`
	Turn     string `json:"turn,omitempty"`
	ToolCall string `json:"toolCallId,omitempty"`
	Source   string `json:"source,omitempty"`
	Inferred bool   `json:"inferred,omitempty"`
	At       string `json:"at,omitempty"`
}

func (p *reviewed) author(a review.Author) authorJSON {
	agent, id := p.reviews.splitKey(a.Session)
	return authorJSON{agent, id, a.Turn, a.ToolCall, a.Source, a.Inferred, stamped(a.At)}
}

func stamped(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

type hunkJSON struct {
	ID       uint64       `json:"id"`
	Path     string       `json:"path"`
	Kind     string       `json:"kind"`
	Agent    string       `json:"agent,omitempty"`
	Session  string       `json:"sessionId"`
	Base     rangeJSON    `json:"base"`
	Current  rangeJSON    `json:"current"`
	Old      []string     `json:"old"`
	New      []string     `json:"new,omitempty"`
	OldLines int          `json:"oldLines"`
	NewLines int          `json:"newLines"`
	User     []int        `json:"user"`
	Authors  []authorJSON `json:"authors"`
}

func (p *reviewed) hunks(hunks []review.Hunk, texts bool) []hunkJSON {
	out := make([]hunkJSON, 0, len(hunks))
	for _, h := range hunks {
		agent, id := p.reviews.splitKey(h.Session)
		to := hunkJSON{
			ID: h.ID, Path: p.Path(h.Path), Kind: string(h.Kind), Agent: agent, Session: id,
			Base: rangeJSON(h.Base), Current: rangeJSON(h.Current),
			Old: someLines(h.Old), OldLines: len(h.Old), NewLines: len(h.New), User: slices.Concat([]int{}, h.User),
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

type fileJSON struct {
	Path     string   `json:"path"`
	Root     string   `json:"root"`
	Base     string   `json:"base"`
	Current  string   `json:"current"`
	Hunks    int      `json:"hunks"`
	Added    int      `json:"added"`
	Removed  int      `json:"removed"`
	Sessions []string `json:"sessions"`
	From     string   `json:"from,omitempty"`
	To       string   `json:"to,omitempty"`
}

var kindNames = map[review.Kind]string{review.Absent: "absent", review.Regular: "regular", review.Link: "link"}

func (p *reviewed) file(f review.File) fileJSON {
	path := func(name string) string {
		if name == "" {
			return ""
		}
		return p.Path(name)
	}
	return fileJSON{
		p.Path(f.Path), p.Root(), kindNames[f.Base], kindNames[f.Current], f.Hunks, f.Added, f.Removed, p.sessions(f.Sessions),
		path(f.From), path(f.To),
	}
}

type stateJSON struct {
	Kind   string  `json:"kind"`
	Text   *string `json:"text,omitempty"`
	Mode   uint32  `json:"mode,omitempty"`
	Target string  `json:"target,omitempty"`
}

func stateOf(s review.State) stateJSON {
	to := stateJSON{Kind: kindNames[s.Kind], Mode: uint32(s.Mode), Target: s.Target}
	if s.Kind == review.Regular {
		to.Text = &s.Text
	}
	return to
}
