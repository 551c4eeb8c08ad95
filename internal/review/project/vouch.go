package project

import (
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// Anybody may report anything, so the old text of a file in a report is a claim. The
// reports of the shim are more: it keeps them in a journal, with the contents, in the
// state directory, where an agent that is confined cannot write. A text that such a
// journal has, too, is as good as seen.

// maxVouchers is how many journals are open at once.
const maxVouchers = 8

// voucher reads along in the journal whose reports come.
type voucher struct {
	*journal.Reader
	last journal.Event
}

// vouch returns the journal that has a report, nil if there is none. The journal can
// be used until the next call.
func (p *Project) vouch(r feed.Report) *journal.Reader {
	if r.Seq == 0 || !strings.HasPrefix(r.Producer, "shim ") {
		return nil
	}
	v := p.vouchers[r.Producer]
	if v == nil || v.last.Seq > r.Seq {
		p.forgetVouchers(maxVouchers - 1)
		if v = p.openVoucher(r.Producer); v == nil {
			return nil
		}
		p.vouchers[r.Producer] = v
	}
	for v.last.Seq < r.Seq {
		e, err := v.Next()
		if err != nil {
			return nil
		}
		if e.Seq != 0 {
			v.last = e
		}
	}
	if e := v.last; e.Seq != r.Seq || e.Path != r.Path || e.From != r.From && r.Kind == feed.Rename || e.Inferred || !agree(e.Before, r.Before) || !agree(e.After, r.After) {
		return nil
	}
	return v.Reader
}

// agree reports whether a report has the version of a journal.
func agree(v *journal.Version, said *feed.Version) bool {
	switch {
	case v == nil || v.Dir || v.Link != "" || said == nil:
		return (v == nil || v.Dir || v.Link != "") && said == nil
	case v.Absent || said.Absent:
		return v.Absent == said.Absent
	}
	hash := said.Hash
	if said.Text != nil {
		hash = store.HashOf([]byte(*said.Text))
	}
	return hash == v.Hash
}

func (p *Project) openVoucher(producer string) *voucher {
	dirs := p.journals()
	for i := len(dirs) - 1; i >= 0; i-- {
		r, err := journal.Open(dirs[i])
		if err != nil {
			continue
		}
		if e, err := r.Next(); err == nil && e.Op == journal.Start && e.Text == producer {
			return &voucher{Reader: r}
		}
		r.Close()
	}
	return nil
}

// forgetVouchers closes journals until a number of them is left.
func (p *Project) forgetVouchers(left int) {
	for producer, v := range p.vouchers {
		if len(p.vouchers) <= left {
			return
		}
		v.Close()
		delete(p.vouchers, producer)
	}
}

// reportedExactly records a change of which a journal has both contents.
func (p *Project) reportedExactly(j *job, author review.Author, name string, told Told) {
	// The journal says what the file was, so only the edits of a buffer are waited for:
	// an editor that is busy does not hold up the files that it does not have.
	p.attributing.Lock()
	if p.Held(name) {
		p.attributing.Unlock()
		p.barrier(j)
		p.attributing.Lock()
	}
	defer p.attributing.Unlock()
	p.mu.Lock()
	busy := p.writing[name] > 0
	_, held := p.held[name]
	p.mu.Unlock()
	if busy {
		return // who writes it reports it
	}
	known, ok := p.before(name)
	like := known
	if disk, err := p.read(name); err == nil && disk.Kind == review.Regular {
		like = disk
	}
	before, after := told.states(like)
	p.note(name, after)
	if held && after.Kind != review.Regular {
		p.letGo(name, before)
	} else if _, current, _ := p.review.Known(name); held && current != after {
		p.wait(author, name, before, func(t *review.Trace) *review.Trace {
			switch {
			case t == nil && ok:
				t = review.NewTrace(known.Text)
			case t == nil:
				t = review.NewTrace(before.Text)
			}
			return t.Reported(before.Text, after.Text)
		})
		return
	}
	p.failed("record a change", name, p.review.Reported(author, name, before, after))
	j.moving(name, before, after)
	if disk, err := p.read(name); err == nil && disk != after {
		p.lookSoon(p.Path(name))
	}
}

// chain sets told to what a journal says of the files of a report. It returns false if
// the journal does not say it, or if the change was missed and the file was known
// before from elsewhere, so that the order of the journal does not hold for it.
func (p *Project) chain(r feed.Report, in *journal.Reader, told *[]Told) bool {
	var all []Told
	missed := p.began.Sub(r.At) >= time.Millisecond // as reports say it
	late := false
	ok := p.told(r, func(v *feed.Version) (*string, bool) {
		if v == nil || v.Absent || v.Text != nil {
			return p.textOf(v)
		}
		return textFrom(in.Content, v.Hash)
	}, func(t Told) {
		name := p.Name(t.Path)
		known := p.isKnown(name)
		p.mu.Lock()
		defer p.mu.Unlock()
		if missed && !known {
			p.chained[name] = true
		}
		late = late || missed && !p.chained[name]
		t.exact = true
		all = append(all, t)
	})
	if !ok || late {
		return false
	}
	*told = all
	return true
}
