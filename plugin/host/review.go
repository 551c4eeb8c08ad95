package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/project"
	"github.com/hermes-nvim/hermes/runtime/review/store"
)

// Kinds of items about files under review, for Lua's buffers.
const (
	kindHold    = "hold"    // a file that a buffer should be held for
	kindLook    = "look"    // the disk of a held file has changed
	kindHunks   = "hunks"   // of a held file
	kindApply   = "apply"   // a decision changes a held file
	kindBarrier = "barrier" // Lua sends what it has not sent yet, and then that it has
)

const (
	promptLimit  = 2 * time.Second       // how long a prompt waits for its checkpoint
	barrierLimit = time.Second           // how long a change waits for what the user did before it
	pushPeriod   = 50 * time.Millisecond // between two lists of hunks
	flushPause   = time.Second           // without events until the user's edits are stored
	retryPause   = 10 * time.Second      // until what could not be stored is tried again
	expireAfter  = 90 * 24 * time.Hour   // of a project that nobody opens
)

// reviewConfig is the part of the configuration about reviews; nil is off.
type reviewConfig struct {
	Enabled bool   `json:"enabled"`
	Dir     string `json:"dir"` // named review, where the state is
}

// reviews are the folders under review. Everything that Lua and the agents say
// about them is done in order by one goroutine, which waits for no look at the
// disk.
type reviews struct {
	host *Host

	on atomic.Bool

	mu       sync.Mutex
	state    string // directory; empty when reviews are off
	projects map[string]*reviewed
	noted    map[string]bool // roots of which the user knows that they have no review
	expired  bool
	barriers int64                   // so far
	reached  map[int64]chan struct{} // closed when Lua passes the barrier, and removed

	closed sync.WaitGroup // of those that are being closed

	tasks   []func()
	working bool
	closing bool
}

// reviewed is one folder under review, or one that is about to be.
type reviewed struct {
	*project.Project // set when ready is closed, unless there is an error
	reviews          *reviews
	given            string
	ready            chan struct{}
	err              error
	ends             []func() // what reports changes from outside

	mu      sync.Mutex
	ticks   map[string]int64  // of held buffers
	pushed  map[string]string // what the hunks of held files were, in short
	dirty   map[string]bool   // files of which something is to be told
	timer   *time.Timer       // that tells it
	pause   *time.Timer       // that stores the user's edits
	changes []review.Event    // the newest, with their texts
	size    int               // of these texts
	last    []uint32          // decisions, for undo
	applies map[int64]*apply  // that wait for Lua
	applied int64             // the last of them

	deciding sync.Mutex // one decision after the other
}

func newReviews(h *Host) *reviews {
	return &reviews{host: h, projects: make(map[string]*reviewed), noted: make(map[string]bool), reached: make(map[int64]chan struct{})}
}

// post has f done after everything that was posted before.
func (r *reviews) post(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing {
		return
	}
	r.tasks = append(r.tasks, f)
	if !r.working {
		r.working = true
		r.host.start(r.run)
	}
}

func (r *reviews) run() {
	for {
		r.mu.Lock()
		if len(r.tasks) == 0 {
			r.working = false
			r.mu.Unlock()
			return
		}
		f := r.tasks[0]
		r.tasks = r.tasks[1:]
		r.mu.Unlock()
		f()
	}
}

// drain waits until everything is done that was posted before.
func (r *reviews) drain(ctx context.Context) {
	done := make(chan struct{})
	r.post(func() { close(done) })
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// isOn reports whether files are under review at all.
func (r *reviews) isOn() bool { return r != nil && r.on.Load() }

// configure turns reviews on or off.
func (r *reviews) configure(c *reviewConfig) {
	state := ""
	if c != nil && c.Enabled && c.Dir != "" {
		state = filepath.Dir(c.Dir)
	}
	r.mu.Lock()
	was := r.state
	r.state = state
	r.on.Store(state != "")
	closing := map[string]*reviewed{}
	if was != state {
		closing, r.projects, r.noted = r.projects, make(map[string]*reviewed), make(map[string]bool)
	}
	r.mu.Unlock()
	for _, p := range closing {
		r.closed.Add(1)
		r.host.start(func() {
			defer r.closed.Done()
			p.close()
		})
	}
	if was == state || state == "" {
		return
	}
	for _, first := range r.host.all() {
		for _, c := range first.pool.all() {
			for _, s := range c.open() {
				r.open(s.root())
			}
		}
	}
}

// root is the working folder.
func (s *session) root() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.roots) == 0 {
		return ""
	}
	return s.roots[0]
}

// open opens the review of a folder unless it is open; nil if there is none.
func (r *reviews) open(root string) *reviewed {
	if !filepath.IsAbs(root) {
		return nil
	}
	root = filepath.Clean(root)
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == "" || r.closing {
		return nil
	}
	if p := r.around(root); p != nil {
		return p
	}
	p := &reviewed{
		reviews: r, given: root, ready: make(chan struct{}),
		ticks: make(map[string]int64), pushed: make(map[string]string), dirty: make(map[string]bool),
		applies: make(map[int64]*apply),
	}
	r.projects[root] = p
	state, expire := r.state, !r.expired
	r.expired = true
	r.host.start(func() {
		p.open(state)
		if !expire {
			return
		}
		if gone, err := store.Expire(state, time.Now().Add(-expireAfter)); err != nil || len(gone) > 0 {
			r.host.log.Info("old reviews", "removed", len(gone), "error", err)
		}
	})
	return p
}

// openNow opens the review of a folder, unless a folder above it has one, and waits
// until it is open.
func (r *reviews) openNow(folder string) (any, error) {
	p := r.open(folder)
	if p == nil {
		return nil, invalid("review: %q is not an absolute path", folder)
	}
	if !p.is() {
		return nil, p.err
	}
	return map[string]any{"root": p.Root()}, nil
}

func (p *reviewed) open(state string) {
	defer close(p.ready)
	h := p.reviews.host
	p.reviews.closed.Wait()
	p.Project, p.err = project.Open(state, p.given, project.Options{
		Program: "Hermes in Neovim", Logger: h.log,
		OnEvent: p.event, OnLook: p.look, OnTrouble: p.trouble, OnAsk: p.ask, Barrier: p.barrier, Apart: p.reviews.below(p.given),
	})
	if p.err == nil {
		if end, err := p.Listen(); err != nil {
			h.log.Warn("programs outside cannot report changes", "error", err)
		} else {
			p.ends = append(p.ends, end)
		}
		if end, err := p.Watch(); err != nil {
			h.log.Warn("files are looked at only when something is known to have changed", "error", err)
		} else {
			p.ends = append(p.ends, end)
		}
		return
	}
	h.log.Warn("no review", "folder", p.given, "error", p.err)
	p.reviews.mu.Lock()
	noted := p.reviews.noted[p.given]
	p.reviews.noted[p.given] = true
	p.reviews.mu.Unlock()
	if _, err := os.Stat(p.given); err == nil && !noted {
		h.notice("warn", "no review of what agents change here: %v", p.err)
	}
}

// is waits until the review is open, or was not opened. That takes as long as
// reading the journal.
func (p *reviewed) is() bool {
	if p == nil {
		return false
	}
	<-p.ready
	return p.err == nil
}

func (p *reviewed) close() {
	if !p.is() {
		return
	}
	p.mu.Lock()
	for _, t := range []*time.Timer{p.timer, p.pause} {
		if t != nil {
			t.Stop()
		}
	}
	p.mu.Unlock()
	for _, end := range p.ends {
		end()
	}
	if err := p.Close(); err != nil {
		p.reviews.host.log.Error("close a review", "error", err)
	}
}

// close stores and closes all reviews.
func (r *reviews) close() {
	ctx, cancel := context.WithTimeout(context.Background(), barrierLimit)
	defer cancel()
	r.drain(ctx)
	r.mu.Lock()
	r.closing = true
	projects := r.projects
	r.projects = make(map[string]*reviewed)
	r.mu.Unlock()
	var group sync.WaitGroup
	for _, p := range projects {
		group.Go(p.close)
	}
	group.Wait()
}

// all returns the open reviews.
func (r *reviews) all() []*reviewed {
	r.mu.Lock()
	var list []*reviewed
	for _, p := range r.projects {
		list = append(list, p)
	}
	r.mu.Unlock()
	open := list[:0]
	for _, p := range list {
		if p.is() {
			open = append(open, p)
		}
	}
	return open
}

// of returns the review that a path belongs to: the one that knows it, or whose
// folder is the nearest above it. nil if there is none.
func (r *reviews) of(path string) *reviewed {
	var best *reviewed
	known := false
	for _, p := range r.all() {
		name := p.Name(path)
		_, _, knows := p.Review().Known(name)
		if filepath.IsAbs(name) && !knows {
			continue
		}
		if best == nil || knows && !known || knows == known && len(p.Root()) > len(best.Root()) {
			best, known = p, knows
		}
	}
	return best
}

// sessionKey names a session in a review; two agents may use one id.
func sessionKey(agent string, id acp.SessionID) string { return agent + "/" + string(id) }

// splitKey is the inverse of sessionKey. An agent whose name has a slash must be
// connected.
func (r *reviews) splitKey(key string) (agent, id string) {
	for _, c := range r.host.all() {
		if strings.HasPrefix(key, c.name+"/") && len(c.name) > len(agent) {
			agent = c.name
		}
	}
	if agent != "" {
		return agent, key[len(agent)+1:]
	}
	agent, id, _ = strings.Cut(key, "/")
	return agent, id
}

// author is who makes the changes of the session's turn.
func (s *session) author() review.Author {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := review.Author{Session: sessionKey(s.conn.name, s.id)}
	if s.turn != nil {
		a.Turn = s.turn.id
	}
	return a
}

// barrier waits until what the user did before the call is known.
func (p *reviewed) barrier() { p.reviews.barrier(false) }

// barrier is that of all reviews. look has Neovim also show what is new on the disk.
// Neovim sends an operation when it is done: the answer to what is delivered to it would
// overtake the operations that it has sent before.
func (r *reviews) barrier(look bool) {
	ctx, cancel := context.WithTimeout(r.host.ctx, barrierLimit)
	defer cancel()
	done := make(chan struct{})
	r.mu.Lock()
	r.barriers++
	id := r.barriers
	r.reached[id] = done
	r.mu.Unlock()
	r.host.queue.push(new(object).num("id", id).flag("look", look).item(kindBarrier))
	select {
	case <-done:
	case <-ctx.Done():
		r.passed(id)
	}
}

// passed ends a barrier.
func (r *reviews) passed(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if done := r.reached[id]; done != nil {
		delete(r.reached, id)
		close(done)
	}
}
