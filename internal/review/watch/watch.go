// Package watch says which files may have changed, on every system.
//
// It watches the folders of files that are known, and whole trees on request. It says only that something happened: the caller looks at the file.
// Editors that write another file and rename it over the first, folders that
// disappear and come back, and many writes in a row all lead to one notice.
package watch

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Options are settings of a Watcher. The zero value is the default.
type Options struct {
	// Settle is how long nothing must happen before a notice: 50 ms.
	Settle time.Duration
	// Delay is how long a notice waits at most: 500 ms.
	Delay time.Duration
	// Folders is how many folders are watched at most: 4,096, or 256 on systems
	// where each file in a watched folder is opened. Those of known files come
	// first.
	Folders int
	// Root is the folder of the project. Folders above it are watched only while
	// those below are missing.
	Root string
	// Skip leaves out folders below the roots, such as .git, with everything below.
	Skip func(folder string) bool
}

// Notice is what a Watcher has noticed.
type Notice struct {
	// Paths may have changed, appeared or gone, sorted. A folder stands for
	// everything below it.
	Paths []string
	// Rescan says that notices were lost, so that any file may have changed.
	Rescan bool
	// Err is why some folders are not watched, once for each reason.
	Err error
}

// ErrTooMany says that there are more folders than Options.Folders.
var ErrTooMany = errors.New("too many folders to watch")

const (
	maxPaths = 4096 // of a notice; above it a scan is cheaper
	maxQueue = 4096 // events that were not handled

	maxReasons = 100
)

// Watcher watches files. It is safe for concurrent use.
type Watcher struct {
	opts    Options
	fs      *fsnotify.Watcher
	notify  func(Notice)
	running sync.WaitGroup

	mu       sync.Mutex
	files    map[string]bool
	parents  map[string]int  // folders of files, with the number of files
	roots    []string        // whose trees are watched
	tree     map[string]bool // the folders of these trees
	above    map[string]bool // the parents and every folder above them
	watched  map[string]bool
	said     map[string]bool // errors that were in a notice
	pending  Notice
	paths    map[string]bool // of pending
	closed   bool
	closeErr error

	queueing sync.Mutex
	queue    []happening
	arrived  chan struct{} // something is in the queue, or an error in pending
	ended    chan struct{} // the system sends no more
}

// New returns a Watcher that calls notify, one call at a time. It watches nothing
// yet.
func New(opts Options, notify func(Notice)) (*Watcher, error) {
	if opts.Settle <= 0 {
		opts.Settle = 50 * time.Millisecond
	}
	if opts.Delay <= 0 {
		opts.Delay = 500 * time.Millisecond
	}
	if opts.Folders <= 0 {
		opts.Folders = 256
		if runtime.GOOS == "linux" || runtime.GOOS == "windows" {
			opts.Folders = 4096
		}
	}
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	w := &Watcher{
		opts: opts, fs: fs, notify: notify,
		files: make(map[string]bool), parents: make(map[string]int), tree: make(map[string]bool), above: make(map[string]bool),
		watched: make(map[string]bool), said: make(map[string]bool), paths: make(map[string]bool),
		arrived: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	notices := make(chan Notice)
	w.running.Go(w.pump)
	w.running.Go(func() { w.listen(notices) })
	w.running.Go(func() {
		for n := range notices {
			w.notify(n)
		}
	})
	return w, nil
}

// Close stops the Watcher and waits until notify has returned, so notify must not
// call it.
func (w *Watcher) Close() error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		w.closeErr = w.fs.Close()
	}
	w.mu.Unlock()
	w.running.Wait()
	return w.closeErr
}

// happening is an event or an error of the system.
type happening struct {
	event fsnotify.Event
	err   error
}

// pump takes events from the system as they come. It waits for nothing, because on
// some systems a folder cannot be added while an event waits.
func (w *Watcher) pump() {
	defer close(w.ended)
	events, errs := w.fs.Events, w.fs.Errors
	for events != nil || errs != nil {
		var h happening
		var ok bool
		select {
		case h.event, ok = <-events:
			if !ok {
				events = nil
				continue
			}
		case h.err, ok = <-errs:
			if !ok {
				errs = nil
				continue
			}
		}
		w.queueing.Lock()
		if n := len(w.queue); n < maxQueue {
			w.queue = append(w.queue, h)
		} else {
			w.queue[n-1] = happening{err: fsnotify.ErrEventOverflow}
		}
		w.queueing.Unlock()
		select {
		case w.arrived <- struct{}{}:
		default:
		}
	}
}

// listen handles events until the Watcher is closed, also while notify runs.
func (w *Watcher) listen(notices chan<- Notice) {
	defer close(notices)
	var first time.Time // of the events without a notice yet
	timer := time.NewTimer(w.opts.Delay)
	timer.Stop()
	defer timer.Stop()
	var out chan<- Notice // set when a notice is due
	var due Notice
	for {
		select {
		case <-w.ended:
			return
		case <-w.arrived:
			if !w.handle() {
				continue
			}
			now := time.Now()
			if first.IsZero() {
				first = now
			}
			timer.Reset(max(0, min(w.opts.Settle, first.Add(w.opts.Delay).Sub(now))))
		case <-timer.C:
			first = time.Time{}
			if n, some := w.collect(); some {
				due, out = merged(due, n), notices
			}
		case out <- due:
			due, out = Notice{}, nil
		}
	}
}

// handle handles what has arrived, and reports whether anything of it matters.
func (w *Watcher) handle() (happened bool) {
	w.queueing.Lock()
	queue := w.queue
	w.queue = nil
	w.queueing.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range queue {
		if h.err != nil {
			w.lost(h.err)
			happened = true
		} else if w.event(h.event) {
			happened = true
		}
	}
	return happened || w.pending.Err != nil
}

// merged returns one notice for two.
func merged(a, b Notice) Notice {
	n := Notice{Rescan: a.Rescan || b.Rescan, Err: errors.Join(a.Err, b.Err)}
	if n.Paths = append(a.Paths, b.Paths...); len(n.Paths) > maxPaths {
		n.Rescan = true
	}
	slices.Sort(n.Paths)
	if n.Paths = slices.Compact(n.Paths); n.Rescan {
		n.Paths = nil
	}
	return n
}

// collect takes what is pending.
func (w *Watcher) collect() (n Notice, some bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, w.pending = w.pending, Notice{}
	for path := range w.paths {
		n.Paths = append(n.Paths, path)
	}
	clear(w.paths)
	n = merged(n, Notice{})
	return n, n.Rescan || len(n.Paths) > 0 || n.Err != nil
}

// changed notes that a path may have changed. w.mu is held.
func (w *Watcher) changed(path string) {
	if w.pending.Rescan {
		return
	}
	if w.paths[path] = true; len(w.paths) > maxPaths {
		w.rescan()
	}
}

// rescan notes that any file may have changed. w.mu is held.
func (w *Watcher) rescan() {
	w.pending.Rescan = true
	clear(w.paths)
}

// failed notes why a folder is not watched, once for each reason. w.mu is held.
func (w *Watcher) failed(folder string, reason error) {
	if text := reason.Error(); !w.said[text] && len(w.said) < maxReasons {
		w.said[text] = true
		w.pending.Err = errors.Join(w.pending.Err, fmt.Errorf("watch %s: %w", folder, reason))
		select {
		case w.arrived <- struct{}{}:
		default:
		}
	}
}
