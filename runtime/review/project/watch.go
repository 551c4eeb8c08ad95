package project

import (
	"fmt"
	"time"

	"github.com/hermes-nvim/hermes/runtime/review/watch"
)

// toolTime is how long a change during a turn waits for the tool call that made
// it to say so. Then nobody has to infer whose it is.
const toolTime = time.Second

// Watch looks at the files under review whenever the system says that they have
// changed, not only when a tool call or a turn ends. What changed belongs to the
// running session, inferred, or to the user if none runs. stop ends it; call it
// before Close.
func (p *Project) Watch() (stop func(), err error) {
	w, err := watch.New(watch.Options{Root: p.root}, p.noticed)
	if err != nil {
		return nil, fmt.Errorf("review %s: %w", p.given, err)
	}
	p.watcher.Store(w)
	p.watch(p.review.Paths()...)
	return func() {
		p.watcher.Store(nil)
		w.Close()
	}, nil
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
	if _, running := p.Running(); running {
		time.AfterFunc(toolTime, func() { p.lookAt(n) })
	} else {
		p.lookAt(n)
	}
}

// lookAt looks at what was noticed.
func (p *Project) lookAt(n watch.Notice) {
	j := &job{user: true, scan: n.Rescan, files: toldOf(n.Paths)}
	if author, running := p.Running(); running {
		j.user, j.author = false, author
		j.author.Source, j.author.Inferred = "disk", true
	}
	p.add(j)
}
