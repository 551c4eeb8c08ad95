package project

import (
	"errors"

	"github.com/hermes-nvim/hermes/internal/review/committed"
	"github.com/hermes-nvim/hermes/internal/review/tree"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// Changes that the user commits are accepted, if Options.Settle says so. Commits that
// are made while an agent works may be the agent's, and accept nothing.

// settleCommitted accepts what the last commit has as the files have it, if it is new.
func (p *Project) settleCommitted() {
	if !p.opts.Settle {
		return
	}
	repository, ok := committed.Open(p.root)
	if !ok {
		return
	}
	p.watch(repository.Log())
	head := repository.Head()
	_, running := p.Running()
	p.mu.Lock()
	was := p.head
	p.head = head
	p.mu.Unlock()
	if head == was || was == "" || head == "" || running {
		return
	}
	for _, f := range p.review.Files() {
		if isAbs(f.Path) {
			continue
		}
		text, exists, err := repository.File(head, f.Path)
		switch {
		case err != nil:
			p.log.Debug("a commit is not compared", "file", f.Path, "error", err)
		case exists:
			p.failed("accept what was committed", f.Path, p.review.AcceptCommitted(f.Path, text))
		case f.Current == review.Absent:
			if _, err := p.review.Accept(review.Selection{Path: f.Path}); !errors.Is(err, review.ErrNothing) {
				p.failed("accept what was committed", f.Path, err)
			}
		}
	}
}

// noticeCommit has the last commit compared after what was asked for before.
func (p *Project) noticeCommit() {
	if p.opts.Settle {
		p.add(&job{user: true, then: func(*tree.Snapshot) { p.settleCommitted() }})
	}
}
