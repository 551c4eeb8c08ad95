package project

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/internal/review/tree"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// The next user of the review gets to know, once, that a program ended before a turn was
// over.
func TestATurnThatNobodySawTheEndOfIsNamed(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var unseen []string
	r := newRig(t, "f", "a\n")
	stored := 0
	r.opts.OnUnseen = func(a review.Author, u Unrecorded) {
		mu.Lock()
		defer mu.Unlock()
		if u.Stored {
			stored++
		} else {
			unseen = append(unseen, a.Session)
		}
	}
	a := r.turn("done")
	r.ends(a)
	r.turn("cut off")
	r.must(r.Review().Compact())
	for day, want := range [][]string{{"cut off"}, {"cut off"}, {"cut off"}} {
		r.reopen()
		mu.Lock()
		if !slices.Equal(unseen, want) || stored != day {
			t.Errorf("unseen %q, want %q; %d days later, told of it %d times", unseen, want, day, stored)
		}
		mu.Unlock()
	}
}

// A prompt does not wait for its checkpoint for ever. Changes that its turn makes
// before the checkpoint are taken back with the rest.
func TestGoingBackToALateCheckpointTakesBackAllOfItsTurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "a\n")
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	r.add(&job{user: true, then: func(*tree.Snapshot) { <-release }})
	cancel()
	if err := r.Prompt(ctx, "s", "t", "go"); err == nil {
		t.Fatal("the checkpoint is not late")
	}
	author := review.Author{Session: "s", Turn: "t", Source: "write"}
	r.must(r.Write(author, r.path("f"), "agent\n", func() error { r.write("f", "agent\n"); return nil }))
	close(release)
	r.wait()
	r.ends(author)
	plan, err := r.Restore(t.Context(), r.Review().Checkpoints()[0].ID, RestoreOptions{})
	r.must(err)
	r.must(r.Apply(plan, nil))
	if got := r.disk("f").Text; got != "a\n" {
		t.Errorf("f is %q", got)
	}
}
