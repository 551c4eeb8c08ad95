package project

import (
	"maps"
	"slices"
)

// maxUnseen is how many files are named that are not under review.
const maxUnseen = 1000

// isSeen notes that a file which has changed cannot be reviewed, or nil, that it can.
func (p *Project) isSeen(name string, err error) {
	p.failed("not under review", name, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		delete(p.unseen, name)
	} else if len(p.unseen) < maxUnseen {
		p.unseen[name] = err
	}
}

// Unseen returns the files of which something may have changed that could not be
// reviewed, sorted.
func (p *Project) Unseen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.unseen))
}
