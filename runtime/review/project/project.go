// Package project keeps the review of a folder while agents work in it. It knows
// when to look at the disk, what was there before, and whose change it is.
//
// What a file was before comes from a snapshot of the folder, which is taken when
// a prompt is sent and when a turn ends. So a file need not be known before an
// agent changes it. Of a home folder, or one that contains it, no snapshot is
// taken; of such a folder, of files that git ignores and of files outside of the
// folder only those are under review that somebody has named before they changed.
//
// A change belongs to whoever is known to have made it. What is left when a tool
// call, a command or a turn ends belongs to that session, inferred. What is left
// when a prompt is sent belongs to the user.
package project

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
	"github.com/hermes-nvim/hermes/runtime/review/store"
	"github.com/hermes-nvim/hermes/runtime/review/tree"
	"github.com/hermes-nvim/hermes/runtime/review/watch"
)

// Options are settings of a Project. The zero value is the default.
type Options struct {
	// Program names this program to others that find the project in use.
	Program string
	// OnEvent is told what happens in the review. See review.Options.
	OnEvent func(review.Event)
	// OnLook is told that the disk has another text of a held file than the one
	// that was known, and whose it is. The editor reports with Changed what
	// becomes of it.
	OnLook func(author review.Author, name string)
	// Barrier waits until everything is known that the user did before the call,
	// such as saves. It may give up.
	Barrier func()
	// OnTrouble is told once when what happens cannot be stored, because the disk
	// is full for example, and with nil when everything is stored again. Until then
	// Flush must be called now and then. It must not call the Project.
	OnTrouble func(error)
	// OnAsk decides about a change that a program outside wants to make, and may wait
	// for the user; see feed.Server. Nil denies all of them.
	OnAsk func(ctx context.Context, r feed.Report) error
	// Logger is told what is not under review, and why. Nil: nobody is.
	Logger *slog.Logger
	// Apart are folders below this one, with links resolved, that have a review of
	// their own. Their files are not under review here.
	Apart []string
	// Limits bound the snapshots.
	Limits tree.Limits

	home string                          // of the user; tests have another
	wrap func(review.Store) review.Store // tests make it fail
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

	watcher atomic.Pointer[watch.Watcher] // or nil

	attributing sync.Mutex // is held while it is decided whose one file is

	mu       sync.Mutex
	closed   bool
	last     *tree.Snapshot // nil before the first
	clock    uint64         // counts scans and what is in later
	later    map[string]later
	writing  map[string]int // by Write, how many
	held     map[string]*review.Author
	running  map[string]review.Author // of the turns, by session
	started  []string                 // those sessions, in order
	jobs     []*job
	doing    *job // now, or nil
	working  bool
	records  int                // since the journal was made short
	opened   time.Time          // when it was first known what the files are
	earliest map[string]*string // of missed changes: what the files were, by path
	caughtUp func()             // records the missed changes of known files, once
	guessed  map[string]bool    // files with an inferred change since a turn began
	made     map[string]bool    // folders that agents have made
	troubled bool               // something could not be stored
	logged   map[string]bool
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
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	st, err := store.Open(store.Dir(state, real), store.Options{Program: opts.Program, Root: real})
	if err != nil {
		return nil, fmt.Errorf("review %s: %w", root, err)
	}
	p := &Project{
		root: real, given: root, state: state, opts: opts, log: opts.Logger.With("review", root), store: st,
		scans: !contains(real, opts.home),
		later: make(map[string]later), writing: make(map[string]int), held: make(map[string]*review.Author),
		running: make(map[string]review.Author), guessed: make(map[string]bool), logged: make(map[string]bool), earliest: make(map[string]*string),
	}
	apart := opts.Apart
	if state, err := filepath.EvalSymlinks(filepath.Dir(store.Dir(state, real))); err == nil {
		apart = append(slices.Clone(apart), state)
	}
	for _, folder := range apart {
		if skip, below := cut(real, folder); below {
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
	if r := st.Recovered(); r != nil {
		p.log.Warn("the end of the journal was cut", "bytes", r.Cut, "reason", r.Reason, "kept", r.Aside)
	}
	for _, err := range p.review.Lost() {
		p.log.Warn("lost", "error", err)
	}
	p.add(&job{user: true, scan: true, then: func(*tree.Snapshot) {
		p.mu.Lock()
		p.opened = time.Now()
		p.mu.Unlock()
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

// contains reports whether home is the folder or below it.
func contains(folder, home string) bool {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	if home == "" {
		return filepath.Dir(folder) == folder
	}
	_, below := cut(folder, home)
	return below || folder == home
}

// cut returns the name of a path below a folder.
func cut(folder, path string) (name string, below bool) {
	if !strings.HasSuffix(folder, string(filepath.Separator)) {
		folder += string(filepath.Separator)
	}
	name, below = strings.CutPrefix(path, folder)
	return name, below && name != ""
}

// Root returns the folder, with links resolved.
func (p *Project) Root() string { return p.root }

// Review returns what is under review, for everything that needs no look at the
// disk. Reject, Undo and Restore are those of the Project.
func (p *Project) Review() *review.Review { return p.review }

// Name returns the name that the file at a path has in the review: below the
// folder, with slashes, or an absolute path. Links are resolved, because the
// review knows a text by one name.
func (p *Project) Name(path string) string {
	path = p.abs(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return p.below(real)
	}
	return p.linkName(path)
}

// linkName is Name without resolving the last name of the path, which may be a
// link under review itself.
func (p *Project) linkName(path string) string {
	path = p.abs(path)
	dir, rest := filepath.Dir(path), filepath.Base(path)
	for {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return p.below(filepath.Join(real, rest))
		}
		above := filepath.Dir(dir)
		if above == dir {
			return p.below(path)
		}
		dir, rest = above, filepath.Join(filepath.Base(dir), rest)
	}
}

func (p *Project) abs(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.root, filepath.FromSlash(path))
	}
	return filepath.Clean(path)
}

func (p *Project) below(path string) string {
	if name, below := cut(p.root, path); below {
		return filepath.ToSlash(name)
	}
	return path
}

// Path returns the path of a name in the review.
func (p *Project) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.root, filepath.FromSlash(name))
}

// Scans reports whether snapshots of a folder are taken.
func Scans(folder string) bool {
	home, _ := os.UserHomeDir()
	return !contains(folder, home)
}

// Covers reports whether the snapshots of this folder have the files of another
// one, which is below it. Before the first snapshot that is assumed.
func (p *Project) Covers(folder string) bool {
	name, below := cut(p.root, folder)
	name = filepath.ToSlash(name)
	if !below || !p.scans || p.isApart(name) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last == nil || p.coveredLocked(name)
}

// isApart reports whether a name is git's own, of the state of reviews, or of
// another review.
func (p *Project) isApart(name string) bool {
	for _, skip := range p.skip {
		if name == skip || strings.HasPrefix(name, skip+"/") {
			return true
		}
	}
	for part := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		if strings.EqualFold(part, ".git") {
			return true
		}
	}
	return false
}

// event counts what the journal gets, and passes it on.
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

// once logs a line about a file once.
func (p *Project) once(name, line string, args ...any) {
	p.mu.Lock()
	logged := p.logged[name+line]
	p.logged[name+line] = true
	p.mu.Unlock()
	if !logged {
		p.log.Warn(line, append([]any{"file", name}, args...)...)
	}
}

// failed logs an error of the review, which goes on.
func (p *Project) failed(what, name string, err error) {
	if err != nil {
		p.once(name, what, "error", err)
	}
}

// Prompt looks for what the user has changed since the last turn, makes a
// checkpoint and begins a turn. It returns when that is done or ctx ends; then it
// is done later.
func (p *Project) Prompt(ctx context.Context, session, turn, name string) error {
	author := review.Author{Session: session, Turn: turn, Source: "disk", Inferred: true}
	var err error
	j := &job{user: true, scan: true, done: make(chan struct{})}
	p.mu.Lock()
	if others := slices.DeleteFunc(slices.Clone(p.started), func(s string) bool { return s == session }); len(others) > 0 {
		j.user, j.author = false, p.running[others[len(others)-1]]
	}
	p.running[session] = author
	p.started = append(slices.DeleteFunc(p.started, func(s string) bool { return s == session }), session)
	p.mu.Unlock()
	j.then = func(now *tree.Snapshot) {
		p.mu.Lock()
		clear(p.guessed)
		p.mu.Unlock()
		c := review.Checkpoint{Name: title(name), Session: session, Turn: turn}
		if now != nil {
			if c.Tree, err = now.Save(p.store); err != nil {
				p.log.Warn("the checkpoint has no snapshot", "error", err)
			}
		}
		_, err = p.review.Checkpoint(c)
		p.review.StartTurn(session, turn)
	}
	if !p.add(j) {
		return fmt.Errorf("review %s: %w", p.given, os.ErrClosed)
	}
	select {
	case <-j.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("review %s: make a checkpoint: %w", p.given, context.Cause(ctx))
	}
}

// Told is what a tool call says of a file.
type Told struct {
	Path string
	// Before and After are its texts, if the tool call has them. They count only
	// if nothing else is known, and if After is what the file is.
	Before, After *string
	missed        bool // it happened before it was known what the files are
}

// Expect notes what files are that an agent is about to change. It reads those
// that no snapshot has.
func (p *Project) Expect(paths ...string) {
	for _, path := range paths {
		for _, name := range p.names(path) {
			if p.covered(name) || p.isKnown(name) {
				continue
			}
			if s, err := p.read(name); err == nil {
				p.failed("track", name, p.review.Track(name, s))
			}
		}
	}
}

// names returns the names under which a path that an agent told is under review:
// its own, and if that is of a link inside of the folder, that of the file.
func (p *Project) names(path string) []string {
	name, target := p.linkName(path), p.Name(path)
	if p.isApart(name) || p.isApart(target) {
		return nil
	}
	if target == name || isAbs(target) {
		return []string{name}
	}
	return []string{name, target}
}

// Look looks at files that a session has changed by a tool call.
func (p *Project) Look(author review.Author, files ...Told) {
	p.add(&job{author: author, files: files})
}

// Scan looks at all files, after something that may have changed any of them.
// What changed is the author's.
func (p *Project) Scan(author review.Author) {
	p.add(&job{author: author, scan: true})
}

// TurnEnded is a Scan after the last thing that a turn did.
func (p *Project) TurnEnded(author review.Author) {
	p.add(&job{author: author, scan: true, then: func(*tree.Snapshot) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.running[author.Session].Turn == author.Turn {
			delete(p.running, author.Session)
			p.started = slices.DeleteFunc(p.started, func(s string) bool { return s == author.Session })
		}
	}})
}

// Running returns the session that was prompted last of those whose turns have
// not ended.
func (p *Project) Running() (author review.Author, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.started) == 0 {
		return author, false
	}
	return p.running[p.started[len(p.started)-1]], true
}

// Write is for a file that this program writes for a session: it notes what the
// file is before and after write. text is what the file probably becomes.
func (p *Project) Write(author review.Author, path, text string, write func() error) error {
	name := p.Name(path)
	if p.isApart(name) {
		return write()
	}
	before, ok := p.beginWrite(author, name, text)
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.writing[name]--; p.writing[name] == 0 {
			delete(p.writing, name)
		}
	}()
	if err := write(); err != nil || !ok {
		return err
	}
	p.attributing.Lock()
	defer p.attributing.Unlock()
	after, err := p.read(name)
	if err == nil {
		p.note(name, after)
		err = p.review.Changed(author, name, &before, after)
	}
	p.failed("record a write", name, err)
	return nil
}

// beginWrite notes what a file is before a write. What has changed in it without
// being noticed is attributed to the same session.
func (p *Project) beginWrite(author review.Author, name, text string) (before review.State, ok bool) {
	p.attributing.Lock()
	defer p.attributing.Unlock()
	p.mu.Lock()
	p.writing[name]++
	_, held := p.held[name]
	p.mu.Unlock()
	now, err := p.read(name)
	if held || err != nil {
		p.failed("not under review", name, err)
		return now, false
	}
	if was, ok := p.before(name); ok && was != now {
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
func (p *Project) UserWrote(path string) {
	name := p.Name(path)
	if p.isApart(name) {
		return
	}
	p.attributing.Lock()
	defer p.attributing.Unlock()
	s, err := p.read(name)
	if err != nil {
		return
	}
	p.note(name, s)
	p.mu.Lock()
	_, held := p.held[name]
	p.mu.Unlock()
	if !held {
		p.failed("record a save", name, p.review.Wrote(name, s, false))
	}
}

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
	end.Stop()
	p.stop()
	if err := errors.Join(p.Flush(), p.store.Close()); err != nil {
		return fmt.Errorf("close the review of %s: %w", p.given, err)
	}
	return nil
}
