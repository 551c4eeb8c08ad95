// Package reviews has the folders under review as Neovim and the sessions of agents see
// them: the reports and questions of Lua about files, the messages to buffers, the
// reports and questions of programs in terminals, and who reviews a folder when several
// could.
package reviews

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/internal/pathname"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/review/project"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

const (
	PromptLimit  = 2 * time.Second       // how long a prompt waits for its checkpoint
	OpenLimit    = 10 * time.Second      // how long a prompt and a write wait until the review is open
	barrierLimit = 30 * time.Second      // how long a change waits for what the user did before it
	drawLimit    = time.Second           // how long an answer waits until Neovim shows what is new
	drainLimit   = time.Second           // how long Close waits for earlier operations
	pushPeriod   = 50 * time.Millisecond // between two lists of hunks
	flushPause   = time.Second           // without events until the user's edits are stored
	retryPause   = 10 * time.Second      // until a failed store is tried again
	expireAfter  = 90 * 24 * time.Hour   // of a project that nobody opens
)

// Config is the part of the configuration about reviews; nil is off.
type Config struct {
	Enabled bool     `json:"enabled"`
	Dir     string   `json:"dir"` // named review, where the state is
	Settle  []string `json:"settle,omitempty"`
}

// What settles a pending change, besides a decision.
const (
	settleApproval = "approval" // the user has allowed it, with its diff in sight
	settleCommit   = "commit"   // the user has committed it
)

// Reviews are the folders under review. Everything that Lua and the agents say
// about them is done in order by one goroutine, which waits for no look at the
// disk.
type Reviews struct {
	host Host

	on atomic.Bool

	mu       sync.Mutex
	state    string // directory; empty when reviews are off
	settleBy []string
	projects map[string]*Folder
	noted    map[string]bool // roots of which the user knows that they have no review
	expired  bool
	applied  atomic.Int64            // changes that Lua was asked to make so far
	barriers int64                   // so far
	reached  map[int64]chan struct{} // closed when Lua passes the barrier, and removed

	closed sync.WaitGroup // of those that are being closed

	order   line
	closing bool
}

// Folder is one folder under review, or one that is about to be.
type Folder struct {
	*project.Project // set when ready is closed, unless there is an error
	reviews          *Reviews
	Given            string
	Ready            chan struct{}
	err              error
	ends             []func()      // what reports changes from outside
	reports          *reporter     // to whoever has the review instead
	given            chan struct{} // has something when the review was given to this program
	warned           atomic.Bool   // the user knows that another program keeps it
	instead          chan struct{} // closed when another Folder has taken the place of this one

	mu       sync.Mutex
	ticks    map[string]int64  // of held buffers
	pushed   map[string]string // what the hunks of held files were, in short
	dirty    map[string]bool   // files whose hunks are to be sent
	timer    *time.Timer       // for tell
	pause    *time.Timer       // for flush
	changes  []review.Event    // the newest, with their texts
	size     int               // of these texts
	last     []uint32          // decisions, for undo
	approved approvals
	applies  map[int64]*apply // that wait for Lua

	told   atomic.Int64 // events about questions of programs in terminals
	asking atomic.Int64 // programs that wait for an answer

	said map[string]bool // reasons for that, by session

	deciding sync.Mutex // one decision after the other
}

func New(h Host) *Reviews {
	return &Reviews{
		host: h, order: line{start: h.Start},
		projects: make(map[string]*Folder), noted: make(map[string]bool), reached: make(map[int64]chan struct{}),
	}
}

// Post has f done after everything that was posted before.
func (r *Reviews) Post(f func()) { r.order.post(f) }

// drain waits until everything is done that was posted before.
func (r *Reviews) drain(ctx context.Context) {
	done := make(chan struct{})
	r.Post(func() { close(done) })
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// StateDir is where the state of reviews is kept, empty while they are off.
func (r *Reviews) StateDir() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// IsOn reports whether files are under review at all.
func (r *Reviews) IsOn() bool { return r != nil && r.on.Load() }

// Configure turns reviews on or off.
func (r *Reviews) Configure(c *Config) {
	state := ""
	if c != nil && c.Enabled && c.Dir != "" {
		state = filepath.Dir(c.Dir)
	}
	r.mu.Lock()
	was := r.state
	r.state, r.settleBy = state, nil
	if c != nil {
		r.settleBy = c.Settle
	}
	r.on.Store(state != "")
	closing := map[string]*Folder{}
	if was != state {
		closing, r.projects, r.noted = r.projects, make(map[string]*Folder), make(map[string]bool)
	}
	r.mu.Unlock()
	for _, p := range closing {
		r.closed.Add(1)
		r.host.Start(func() {
			defer r.closed.Done()
			p.close()
		})
	}
	if was == state || state == "" {
		return
	}
	for _, s := range r.host.Sessions() {
		r.Open(s.Root())
	}
}

// Open opens the review of a folder unless it is open; nil if there is none.
func (r *Reviews) Open(root string) *Folder {
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
	p := newReviewed(r, root)
	r.projects[root] = p
	state, expire := r.state, !r.expired
	r.expired = true
	r.host.Start(func() {
		p.open(state)
		if !expire {
			return
		}
		if gone, err := store.Expire(state, time.Now().Add(-expireAfter)); err != nil || len(gone) > 0 {
			r.host.Log.Info("old reviews", "removed", len(gone), "error", err)
		}
	})
	return p
}

// openNow opens the review of a folder, unless a folder above it has one, and waits
// until it is open. If another program has it, that one is asked for it.
func (r *Reviews) openNow(folder string) (opened, error) {
	p := r.Claim(r.host.Context, r.Open(folder))
	if p == nil {
		return opened{}, wire.Invalid("review: %q is not an absolute path", folder)
	}
	if !p.IsOpen() {
		return opened{}, p.err
	}
	return opened{p.Root()}, nil
}

func newReviewed(r *Reviews, root string) *Folder {
	return &Folder{
		reviews: r, Given: root, Ready: make(chan struct{}),
		ticks: make(map[string]int64), pushed: make(map[string]string), dirty: make(map[string]bool),
		applies: make(map[int64]*apply), said: make(map[string]bool),
		given: make(chan struct{}, 1), instead: make(chan struct{}),
	}
}

func (p *Folder) open(state string) {
	h := p.reviews.host
	p.reviews.closed.Wait()
	p.tryOpen(state)
	var locked *store.LockedError
	if errors.As(p.err, &locked) {
		p.reviews.wait(p, state, locked, lockPause)
		return
	}
	if p.err == nil {
		p.holdAll()
		return
	}
	h.Log.Warn("no review", "folder", p.Given, "error", p.err)
	if p.isNews() {
		h.Notice("warn", "no review of what agents change here: %v", p.err)
	}
}

// tryOpen opens the review, or notes why not.
func (p *Folder) tryOpen(state string) {
	defer close(p.Ready)
	h := p.reviews.host
	p.reports = p.reviews.newReporter(p.Given, feed.Path(store.Dir(state, p.Given)))
	p.Project, p.err = project.Open(state, p.Given, project.Options{
		Program: program, Logger: h.Log, Settle: p.reviews.settles(settleCommit),
		OnEvent: p.event, OnLook: p.look, OnRelease: p.release, OnTrouble: p.trouble, OnUnseen: p.missed, OnAsk: p.ask, OnYield: p.yield, Barrier: p.barrier, Apart: p.reviews.foldersBelow(p.Given),
	})
	if p.err != nil {
		return
	}
	if end, err := p.Listen(); err != nil {
		h.Log.Warn("programs outside cannot report changes", "error", err)
	} else {
		p.ends = append(p.ends, end)
	}
	if end, err := p.Watch(); err != nil {
		h.Log.Warn("files are looked at only when something is known to have changed", "error", err)
	} else {
		p.ends = append(p.ends, end)
	}
}

// isNews reports whether the user does not know yet that the folder has no review.
func (p *Folder) isNews() bool {
	if _, err := os.Stat(p.Given); err != nil {
		return false
	}
	p.reviews.mu.Lock()
	defer p.reviews.mu.Unlock()
	noted := p.reviews.noted[p.Given]
	p.reviews.noted[p.Given] = true
	return !noted
}

// IsOpen waits until the review is open, or was not opened. That takes as long as
// reading the journal.
func (p *Folder) IsOpen() bool {
	if p == nil {
		return false
	}
	<-p.Ready
	return p.err == nil
}

// IsReady is is, without waiting.
func (p *Folder) IsReady() bool {
	select {
	case <-p.Ready:
		return p.err == nil
	default:
		return false
	}
}

// IsKnown reports whether it is known who has the review: this program or another one.
func (p *Folder) IsKnown() bool {
	select {
	case <-p.Ready:
		return true
	default:
		return false
	}
}

func (p *Folder) close() {
	if !p.IsOpen() {
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
		p.reviews.host.Log.Error("close a review", "error", err)
	}
}

// Close stores and closes all reviews.
func (r *Reviews) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), drainLimit)
	defer cancel()
	r.drain(ctx)
	r.order.close()
	r.mu.Lock()
	r.closing = true
	projects := r.projects
	r.projects = make(map[string]*Folder)
	for id, done := range r.reached { // Neovim sends nothing more
		delete(r.reached, id)
		close(done)
	}
	r.mu.Unlock()
	var group sync.WaitGroup
	for _, p := range projects {
		group.Go(p.close)
	}
	group.Wait()
}

// all returns the open reviews.
func (r *Reviews) all() []*Folder { return r.below("") }

// below returns the open reviews of the folders in another one, and waits for those that
// are being opened; "" has all folders.
func (r *Reviews) below(folder string) []*Folder {
	r.mu.Lock()
	var list []*Folder
	for given, p := range r.projects {
		if _, in := pathname.Below(folder, given); in || folder == "" {
			list = append(list, p)
		}
	}
	r.mu.Unlock()
	open := list[:0]
	for _, p := range list {
		if p.IsOpen() {
			open = append(open, p)
		}
	}
	return open
}

// of returns the review that a path belongs to: the one that knows it, or whose
// folder is the nearest above it. nil if there is none.
func (r *Reviews) of(path string) *Folder {
	var best *Folder
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

// SessionKey names a session in a review; two agents may use one id.
func SessionKey(agent string, id acp.SessionID) string { return agent + "/" + string(id) }

// splitKey is the inverse of sessionKey. An agent whose name has a slash must be
// connected. A program that reports without a session is a session of its own, so
// that what it changed can be named like anything else.
func (r *Reviews) splitKey(key string) (agent, id string) {
	for _, name := range r.host.Agents() {
		if strings.HasPrefix(key, name+"/") && len(name) > len(agent) {
			agent = name
		}
	}
	if agent != "" {
		return agent, key[len(agent)+1:]
	}
	agent, id, found := strings.Cut(key, "/")
	if !found {
		id = agent
	}
	return agent, id
}

// barrier waits until what the user did before the call is known.
func (p *Folder) barrier(ctx context.Context) {
	if p.reviews.barrier(ctx, false, barrierLimit) || ctx.Err() != nil {
		return
	}
	const text = "Neovim has been busy for %s; what you save meanwhile in %s may be shown as a change of an agent"
	p.mu.Lock()
	said := p.said[text]
	p.said[text] = true
	p.mu.Unlock()
	if !said {
		p.reviews.host.Notice("warn", text, barrierLimit, p.Given)
	}
}

// barrier waits until all earlier operations of Neovim are here. look has Neovim also
// show what is new on the disk. Neovim sends an operation of its own for this, because
// an answer to a delivery would overtake the operations that it has sent before. barrier
// reports false if Neovim did not do so within a limit.
func (r *Reviews) barrier(ctx context.Context, look bool, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan struct{})
	r.mu.Lock()
	if r.closing {
		r.mu.Unlock()
		return true
	}
	r.barriers++
	id := r.barriers
	r.reached[id] = done
	r.mu.Unlock()
	r.host.Push(wire.ItemOf(Barrier{ID: id, Look: look}))
	select {
	case <-done:
		return true
	case <-ctx.Done():
		r.passed(id)
		return false
	}
}

// passed ends a barrier.
func (r *Reviews) passed(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if done := r.reached[id]; done != nil {
		delete(r.reached, id)
		close(done)
	}
}
