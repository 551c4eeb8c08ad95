// Package project keeps the review of a folder while agents work in it. It knows
// when to look at the disk, what was there before, and whose change it is.
//
// The state of a file before a change comes from a snapshot of the folder, which is taken
// when a prompt is sent and when a turn ends. So a file need not be known before an agent
// changes it. No snapshot is taken of a home folder, or of one that contains it, unless
// Options.Home says so. Files of such a folder, files that git ignores and files outside
// of the folder are under review only if somebody has named them before they changed.
//
// A change belongs to whoever is known to have made it. Other changes that are
// found when a tool call, a command or a turn ends belong to that session,
// inferred. Changes that are found when a prompt is sent belong to the user.
package project

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/review/tree"
	"github.com/hermes-nvim/hermes/internal/review/watch"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// Options are settings of a Project. The zero value is the default.
type Options struct {
	// Program names this program to others that find the project in use.
	Program string
	// OnEvent gets the events of the review. See review.Options.
	OnEvent func(review.Event)
	// OnLook is called when the disk has another text of a held file than the one
	// that was known, with the author of that text. The editor reports with
	// Changed what becomes of it.
	OnLook func(author review.Author, name string)
	// OnRelease is called when the disk has something at the name of a held file that
	// no buffer can have, such as nothing. The file is not held any more.
	OnRelease func(name string)
	// Barrier waits until everything is known that the user did before the call,
	// such as saves. It may give up, also when ctx ends.
	Barrier func(ctx context.Context)
	// OnTrouble is called once when the review cannot be stored, for example
	// because the disk is full, and with nil when everything is stored again. Until
	// then Flush must be called now and then. It must not call the Project.
	OnTrouble func(error)
	// OnAsk decides about a change that a program outside wants to make, and may wait
	// for the user; see feed.Server. Nil denies all of them.
	OnAsk func(ctx context.Context, r feed.Report) error
	// OnYield gives up the review to another program that asks for it; see feed.Server.
	// Nil: it is kept.
	OnYield func(to feed.Program) (then func(), err error)
	// OnUnseen is called when an agent may have changed something that nobody has
	// seen. u has all that is known of its session.
	OnUnseen func(author review.Author, u Unrecorded)
	// Logger gets what is not under review, and why. Nil: nothing is logged.
	Logger *slog.Logger
	// Apart are folders below this one, with links resolved, that have a review of
	// their own. Their files are not under review here.
	Apart []string
	// Settle accepts what the user commits with git.
	Settle bool
	// Limits bound the snapshots.
	Limits tree.Limits
	// Home takes snapshots of a home folder, and of folders that contain one, too.
	Home bool

	home   string // of the user; tests have another
	settle settling
	wrap   func(review.Store) review.Store // tests make it fail
}

// Project is a folder under review. It is safe for concurrent use. Methods that
// look at the disk return at once, except Prompt, Write and Wait; the looks
// follow in their order.
type Project struct {
	root    string // links resolved
	given   string // as it was given
	state   string
	opts    Options
	log     *slog.Logger
	store   *store.Store
	review  *review.Review
	scanner *tree.Scanner
	scans   bool
	skip    []string // folders below this one that are apart, such as the state directory
	ctx     context.Context
	stop    context.CancelFunc
	work    sync.WaitGroup

	watcher  atomic.Pointer[watch.Watcher] // or nil
	late     atomic.Pointer[feed.Server]   // whose programs may know more than they have reported; nil before Listen
	replayed atomic.Pointer[chan struct{}] // closed when the journals are known; nil before Listen

	attributing sync.Mutex // is held while it is decided whose one file is

	obeys map[string]string // what git obeyed at the last look at all files; for that look alone

	mu        sync.Mutex
	closed    bool
	last      *tree.Snapshot // nil before the first
	clock     uint64         // counts scans and entries of later
	later     map[string]later
	writing   map[string]int       // by Write and ApplyOne, how many
	gone      map[string]time.Time // files without the text that they had, and since when
	held      map[string]*inBuffer
	vouchers  map[string]*voucher      // of the goroutine that handles reports
	elsewhere []string                 // folders of journals that are not in the state directory
	running   map[string]review.Author // of the turns, by session
	started   []string                 // those sessions, in order
	joined    map[string]*joining      // by session
	jobs      []*job
	doing     *job // now, or nil
	working   bool
	records   int               // since the journal was made short
	left      int               // records of files, when it was
	began     time.Time         // when this program had the project
	opened    time.Time         // when it was first known what the files are
	earliest  map[string]Told   // of missed changes: what the files were, by path
	chained   map[string]bool   // files that are known from exact missed changes alone
	redone    map[string]bool   // files whose missed changes are recorded, if they were in a journal,
	caught    map[string]uint64 // and the last report of each that had them, by producer
	announced map[string]bool   // files that programs outside are about to change
	caughtUp  func()            // records the missed changes of known files, once
	went      []moved           // files that are gone since the last prompt, and
	came      []moved           // those that are new, whose other name is not known
	guessed   map[string]bool   // files with an inferred change since a turn began
	made      map[string]bool   // folders that agents have made
	troubled  bool              // something could not be stored
	head      string            // the last commit that is known
	logged    map[string]bool
	unseen    map[string]unseen // files that changed and cannot be reviewed

	unrecorded []Unrecorded // the newest last
	unsaved    bool         // that is
}

// later is what is known of a file since the last snapshot.
type later struct {
	at    uint64
	state review.State
}

// Open opens the review of a folder, whose state is kept below a state directory,
// and begins to look at its files. If another program has it open, the error is a
// *store.LockedError.
func Open(state, root string, opts Options) (*Project, error) {
	real, err := filepath.Abs(root)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err == nil {
		err = isDir(real)
	}
	if err != nil {
		return nil, fmt.Errorf("review %s: %w", root, err)
	}
	if opts.home == "" {
		opts.home, _ = os.UserHomeDir()
	}
	opts.settle.setDefaults()
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	st, err := store.Open(store.Dir(state, real), store.Options{Program: opts.Program, Root: real})
	if err != nil {
		return nil, fmt.Errorf("review %s: %w", root, err)
	}
	p := &Project{
		root: real, given: root, state: state, opts: opts, log: opts.Logger.With("review", root), store: st,
		scans: opts.Home || !contains(real, opts.home),
		later: make(map[string]later), writing: make(map[string]int), gone: make(map[string]time.Time), held: make(map[string]*inBuffer), vouchers: make(map[string]*voucher),
		running: make(map[string]review.Author), joined: make(map[string]*joining), guessed: make(map[string]bool), logged: make(map[string]bool), earliest: make(map[string]Told),
		began: time.Now(), chained: make(map[string]bool), unseen: make(map[string]unseen), redone: make(map[string]bool), caught: make(map[string]uint64), announced: make(map[string]bool),
	}
	apart := opts.Apart
	if state, err := filepath.EvalSymlinks(filepath.Dir(store.Dir(state, real))); err == nil {
		apart = append(slices.Clone(apart), state)
	}
	for _, folder := range apart {
		if skip, below := pathname.Below(real, folder); below {
			p.skip = append(p.skip, filepath.ToSlash(skip))
		}
	}
	p.loadFolders()
	p.scanner = tree.New(real, st, tree.Options{Limits: opts.Limits, Skip: p.skip})
	p.ctx, p.stop = context.WithCancel(context.Background())
	kept := review.Store(st)
	if opts.wrap != nil {
		kept = opts.wrap(kept)
	}
	p.review, err = review.Open(keeper{kept, p.trouble}, review.Options{OnEvent: p.event})
	if err != nil {
		p.stop()
		st.Close()
		return nil, fmt.Errorf("review %s: %w", root, err)
	}
	p.caughtUp = sync.OnceFunc(p.catchUp)
	earlier := UnrecordedIn(st)
	p.unrecorded = slices.Clone(earlier)
	if r := st.Recovered(); r != nil {
		p.log.Warn("the end of the journal was cut", "bytes", r.Cut, "reason", r.Reason, "kept", r.Aside)
	}
	for _, err := range p.review.Lost() {
		p.log.Warn("lost", "error", err)
	}
	interrupted := p.review.Working()
	p.add(&job{user: true, scan: true, then: func(*tree.Snapshot) {
		p.mu.Lock()
		p.opened = time.Now()
		p.mu.Unlock()
		for _, u := range earlier {
			if u.Stored = true; opts.OnUnseen != nil {
				opts.OnUnseen(review.Author{Session: u.Session}, u)
			}
		}
		for _, session := range interrupted {
			p.failed("store that a turn is over", "", p.review.Works(session, false))
			p.notRecorded(review.Author{Session: session}, "Hermes ended before the turn did; what was changed in the end counts as yours", false)
		}
		p.saveUnrecorded()
		p.settleCommitted()
	}})
	return p, nil
}

var errNotDir = errors.New("not a directory")

func isDir(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return errNotDir
	}
	return err
}

// Root returns the folder, with links resolved.
func (p *Project) Root() string { return p.root }

// Review returns the review, for everything that needs no look at the disk. For
// Reject, Undo and Restore use the methods of the Project.
func (p *Project) Review() *review.Review { return p.review }

// event counts the records of the journal, and passes events on.
func (p *Project) event(e review.Event) {
	p.mu.Lock()
	p.records++
	p.mu.Unlock()
	if e.Path != "" {
		p.watch(e.Path)
	}
	if p.opts.OnEvent != nil {
		p.opts.OnEvent(e)
	}
}

// once logs a line about a file, or about none, once.
func (p *Project) once(name, line string, args ...any) {
	p.mu.Lock()
	logged := p.logged[name+line]
	p.logged[name+line] = true
	p.mu.Unlock()
	if name != "" {
		args = append([]any{"file", name}, args...)
	}
	if !logged {
		p.log.Warn(line, args...)
	}
}

// failed logs an error of the review, which goes on.
func (p *Project) failed(what, name string, err error) {
	if err != nil {
		p.once(name, what, "error", err)
	}
}

// Wait waits until everything was looked at that was asked for before.
func (p *Project) Wait(ctx context.Context) error {
	j := &job{done: make(chan struct{}), then: func(*tree.Snapshot) {}}
	if !p.add(j) {
		return nil
	}
	select {
	case <-j.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("review %s: %w", p.given, context.Cause(ctx))
	}
}

// closeTime bounds how long Close waits for looks that were asked for.
const closeTime = 2 * time.Second

// Close ends the looks, after those that were asked for if they are done soon,
// stores everything and closes the review.
func (p *Project) Close() error {
	p.mu.Lock()
	closed := p.closed
	p.closed = true
	p.mu.Unlock()
	if closed {
		return nil
	}
	end := time.AfterFunc(closeTime, p.stop)
	p.work.Wait()
	p.saveUnrecorded()
	end.Stop()
	p.stop()
	if err := errors.Join(p.Flush(), p.store.Close()); err != nil {
		return fmt.Errorf("close the review of %s: %w", p.given, err)
	}
	return nil
}
