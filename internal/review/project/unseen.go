package project

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hermes-nvim/hermes/internal/review/tree"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// A file that changed and cannot be reviewed stays as it was last known. Its name is kept here,
// and the session that may have changed it has one more change that is not recorded.

// maxUnseen is how many files are named that are not under review.
const maxUnseen = 1000

// unseen is why a file cannot be reviewed.
type unseen struct {
	session string // that may have changed it, or "": the user
	err     error
}

var errNotKnown = errors.New("what it was before is not known")

// leftOutError says that no snapshot has what is at a place.
type leftOutError struct {
	reason tree.Reason
	before bool // the last one did not have it, and this one has
}

func (e leftOutError) Error() string {
	switch {
	case e.reason == tree.TooMany && e.before:
		return "the project had too many files before"
	case e.reason == tree.TooMany:
		return "the project has too many files"
	case e.reason == tree.TooDeep:
		return "it is too deep"
	case e.reason == tree.Special:
		return "it was not a file before"
	case e.before:
		return "it could not be read before"
	}
	return "it cannot be read"
}

// isSeen notes that a file which has changed cannot be reviewed, or nil, that it can.
func (p *Project) isSeen(j *job, author review.Author, name string, err error) {
	p.failed("not under review", name, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	was, noted := p.unseen[name]
	same := noted && err != nil && was.err.Error() == err.Error()
	switch {
	case err == nil:
		delete(p.unseen, name)
		return
	case same && (j.user || was.session == author.Session):
		return
	case noted || len(p.unseen) < maxUnseen:
		p.unseen[name] = unseen{author.Session, err}
	}
	if j.user {
		return
	}
	if j.unseen = append(j.unseen, name); len(j.unseen) == 1 {
		j.why, j.by = fmt.Sprintf("%s cannot be reviewed: %v", name, reasonOf(err)), author
	}
}

// changedUnseen is isSeen of a file that is known to have changed, once more.
func (p *Project) changedUnseen(j *job, name string, err error) {
	p.mu.Lock()
	delete(p.unseen, name)
	p.mu.Unlock()
	p.isSeen(j, j.authorOf(name), name, err)
}

// unknown notes that a file without a known state has changed, unless the reason why it is
// unknown is noted.
func (p *Project) unknown(j *job, author review.Author, name string) {
	p.mu.Lock()
	_, said := p.unseen[name]
	p.mu.Unlock()
	if !said {
		p.isSeen(j, author, name, errNotKnown)
	}
}

// reasonOf is an error without the name of the file.
func reasonOf(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// tellUnseen reports the files of a look that cannot be reviewed.
func (p *Project) tellUnseen(j *job) {
	n := len(j.unseen)
	if n == 0 {
		return
	}
	if n > 1 {
		j.why += fmt.Sprintf(" (%d more)", n-1)
	}
	p.countUnrecorded(j.by, n, j.why, false)
	j.unseen = nil
}

// leftOut notes what may have changed between two snapshots and is not in both of them.
func (p *Project) leftOut(j *job, last, now *tree.Snapshot) {
	if last == nil {
		return
	}
	p.mu.Lock()
	maps.DeleteFunc(p.unseen, func(name string, u unseen) bool {
		_, still := now.LeftOut(name)
		return errors.As(u.err, new(leftOutError)) && !still
	})
	p.mu.Unlock()
	if j.user {
		return
	}
	for _, l := range tree.Unseen(last, now) {
		if _, was := last.Entry(l.Path); was || p.isKnown(l.Path) {
			continue // it is looked at by itself
		}
		_, still := now.LeftOut(l.Path)
		p.isSeen(j, j.authorOf(l.Path), l.Path, leftOutError{l.Reason, !still})
	}
}

// Unseen returns the files, and the folders with files, of which something may have changed that
// could not be reviewed, sorted.
func (p *Project) Unseen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.unseen))
}
