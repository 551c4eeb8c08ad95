package project

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// faulty is a store whose writes fail as long as there is an error.
type faulty struct {
	review.Store
	err atomic.Pointer[store.Error]
}

func (f *faulty) Put(data []byte) (store.Hash, error) {
	if err := f.err.Load(); err != nil {
		return store.Hash{}, err
	}
	return f.Store.Put(data)
}

func (f *faulty) Append(record []byte) error {
	if err := f.err.Load(); err != nil {
		return err
	}
	return f.Store.Append(record)
}

func (f *faulty) Compact(records iter.Seq[[]byte]) error {
	if err := f.err.Load(); err != nil {
		return err
	}
	return f.Store.Compact(records)
}

func TestWhatCannotBeStoredIsToldOnceAndStoredLater(t *testing.T) {
	t.Parallel()
	for cause, advice := range map[error]string{
		syscall.ENOSPC: "free space on that disk",
		syscall.EIO:    "the disk itself reports a failure",
		store.ErrFull:  "drop old checkpoints",
	} {
		t.Run(cause.Error(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "f", "a\nb\nc\n", "g", "a\n")
			r.must(r.Close())
			var told []string
			disk := &faulty{}
			r.opts.wrap = func(s review.Store) review.Store { disk.Store = s; return disk }
			r.opts.OnTrouble = func(err error) { told = append(told, fmt.Sprint(err)) }
			r.open()
			a := r.turn("s")
			disk.err.Store(&store.Error{Op: "append to", Path: "journal", Err: cause})
			r.write("f", "a\nB\nc\n", "new", "n\n")
			r.ends(a)
			r.must(r.Review().Edited("f", review.Edit{Start: 3, End: 3, Lines: []string{"mine\n"}}, false))
			r.write("f", "a\nB\nc\nmine\n")
			_, err := r.Review().Accept(review.Selection{Path: "new"})
			if err == nil {
				t.Error("no error")
			}
			if err := r.Prompt(t.Context(), "s", "next", "again"); err == nil {
				t.Error("a checkpoint was made")
			}
			a = review.Author{Session: "s", Turn: "next"}
			r.write("g", "A\n")
			r.ends(a)
			r.is("f s disk? b>B", "g s disk? a>A")
			if err := r.Flush(); err == nil {
				t.Error("it was stored")
			}
			if len(told) != 1 || !strings.Contains(told[0], cause.Error()) || !strings.Contains(told[0], advice) {
				t.Errorf("told %q", told)
			}
			disk.err.Store(nil)
			r.must(r.Flush())
			if want := "<nil>"; len(told) != 2 || told[1] != want {
				t.Errorf("told %q", told)
			}
			r.must(r.Flush())
			disk.err.Store(&store.Error{Op: "append to", Path: "journal", Err: cause})
			r.ends(r.turnAnyway("s"))
			if len(told) != 3 {
				t.Errorf("told %q", told)
			}
			disk.err.Store(nil)
			r.opts.wrap = nil
			r.reopen()
			r.is("f s disk? b>B", "g s disk? a>A")
			if base, _, _ := r.Review().Known("f"); base.Text != "a\nb\nc\nmine\n" {
				t.Errorf("the base is %q", base.Text)
			}
			if !slices.Contains(r.Review().Paths(), "new") {
				t.Error("a file is forgotten")
			}
		})
	}
}

// turnAnyway begins a turn that gets no checkpoint.
func (r *rig) turnAnyway(session string) review.Author {
	r.t.Helper()
	r.Prompt(r.t.Context(), session, "without", "do it")
	return review.Author{Session: session, Turn: "without"}
}
