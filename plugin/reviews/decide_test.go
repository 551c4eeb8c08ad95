package reviews

import (
	"log/slog"
	"testing"

	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// A buffer cannot become a link, nor what else has no lines. The reason is about what the file is
// when it is that, and otherwise about what it would be.
func TestABufferStaysAFileWithLines(t *testing.T) {
	t.Parallel()
	file := review.State{Kind: review.Regular, Text: "text\n"}
	link := review.State{Kind: review.Link, Target: "f"}
	folder := review.State{Kind: review.Other, Target: "a folder"}
	h := Host{Editor: say.New(wire.NewQueue(1<<40, nil), slog.New(slog.DiscardHandler)), Context: t.Context(), Sessions: func() []Session { return nil }, Agents: func() []string { return nil }}
	p := newReviewed(New(h), t.TempDir())
	if p.tryOpen(t.TempDir()); p.err != nil {
		t.Fatal(p.err)
	}
	t.Cleanup(p.close)
	for _, c := range []struct {
		is, was review.State
		want    string
	}{
		{link, file, "it is a link now; close its buffer first"},
		{file, link, "it would be a link again; close its buffer first"},
		{link, link, "it is a link now; close its buffer first"},
		{folder, file, "it is not a file with lines now; close its buffer first"},
		{file, folder, "it would again not be a file with lines; close its buffer first"},
		{folder, link, "it is not a file with lines now; close its buffer first"},
		{link, folder, "it is a link now; close its buffer first"},
	} {
		if _, err := p.inBuffer(review.Change{Path: "f", Before: c.is, After: c.was}); err == nil || err.Error() != c.want {
			t.Errorf("from %v back to %v: %v, want %s", c.is.Kind, c.was.Kind, err, c.want)
		}
	}
}
