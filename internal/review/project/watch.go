package project

import (
	"fmt"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/watch"
)

// toolTime is how long a change during a turn waits for the tool call that made
// it to say so. Then nobody has to infer whose it is.
const toolTime = time.Second

const maxAnnounced = 1000 // files that programs outside are about to change

// Watch looks at the files under review whenever the system says that they have
// changed, not only when a tool call or a turn ends. The changes belong to the
// running session, inferred, or to the user if none runs. stop ends it; call it
// before Close.
func (p *Project) Watch() (stop func(), err error) {
	w, err := watch.New(watch.Options{Root: p.root}, p.noticed)
	if err != nil {
		return nil, fmt.Errorf("review %s: %w", p.given, err)
	}
	p.watcher.Store(w)
	p.watch(p.review.Paths()...)
	p.lookAt(p.known()) // something may have changed between the first look and now
	return func() {
		p.watcher.Store(nil)
		w.Close()
	}, nil
}

// known is a notice of all files that are known.
func (p *Project) known() watch.Notice {
	names := p.review.Paths()
	if len(names) > maxFiles {
		return watch.Notice{Rescan: true}
	}
	var n watch.Notice
	for _, name := range names {
		n.Paths = append(n.Paths, p.Path(name))
	}
	return n
}

// watch adds files to those that are watched, if any are.
func (p *Project) watch(names ...string) {
	w := p.watcher.Load()
	if w == nil {
		return
	}
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = p.Path(name)
	}
	w.Add(paths...)
}

func (p *Project) noticed(n watch.Notice) {
	if n.Err != nil {
		p.failed("not everything is watched", "", n.Err)
	}
	if !n.Rescan && len(n.Paths) == 0 {
		return
	}
	if _, running := p.Running(); running || p.areAnnounced(n.Paths) {
		time.AfterFunc(toolTime, func() { p.lookAt(n) })
	} else {
		p.lookAt(n)
	}
}

// announce notes that a program outside is about to change files, or has done it.
func (p *Project) announce(paths []string, soon bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, path := range paths {
		if name := p.Name(path); !soon {
			delete(p.announced, name)
		} else if len(p.announced) < maxAnnounced {
			p.announced[name] = true
		}
	}
}

// areAnnounced reports whether a program outside is about to change some files, and
// will report that.
func (p *Project) areAnnounced(paths []string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(paths, func(path string) bool { return p.announced[p.Name(path)] })
}

// lookSoon looks at a file that is not what was reported, unless another report says
// why before.
func (p *Project) lookSoon(path string) {
	time.AfterFunc(toolTime, func() { p.lookAt(watch.Notice{Paths: []string{path}}) })
}

// lookAt looks at what was noticed.
func (p *Project) lookAt(n watch.Notice) {
	p.addNotice(n)
	p.noticeCommit()
}

// addNotice has what was noticed looked at, for whoever works now.
func (p *Project) addNotice(n watch.Notice) {
	j := &job{user: true, scan: n.Rescan, files: toldOf(n.Paths)}
	p.mu.Lock() // no prompt comes between
	if author, running := p.runningLocked(); running {
		j.user, j.author = false, author
		j.author.Source, j.author.Inferred = "disk", true
	}
	p.addLocked(j)
	p.mu.Unlock()
}
