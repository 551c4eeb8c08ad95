package reviews

import "sync"

// line has things done one after the other, on a goroutine that ends with the last.
type line struct {
	start func(f func()) // a goroutine
	most  int            // things that wait; 0: any number

	mu      sync.Mutex
	tasks   []func()
	working bool
	closed  bool
}

// post has f done after everything that was posted before. It reports false if it is not.
func (l *line) post(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.most > 0 && len(l.tasks) >= l.most {
		return false
	}
	l.tasks = append(l.tasks, f)
	if !l.working {
		l.working = true
		l.start(l.run)
	}
	return true
}

func (l *line) run() {
	for {
		l.mu.Lock()
		if len(l.tasks) == 0 {
			l.working = false
			l.mu.Unlock()
			return
		}
		f := l.tasks[0]
		l.tasks = l.tasks[1:]
		l.mu.Unlock()
		f()
	}
}

// close refuses what is posted from now on.
func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}
