package compact

import (
	"cmp"
	"context"
	"errors"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// The sizes that decide about compaction.
const (
	fullPercent   = 80     // of the context window, from which on a conversation is compacted
	SmallWindow   = 4096   // tokens; a smaller one has no room for a summary
	UnknownWindow = 32_000 // tokens that a model has whose window nobody knows
)

// Keeper keeps a conversation within the context window.
type Keeper struct {
	Window func() int                // the size in tokens; 0: unknown
	Learn  func(size int)            // hears a size that the endpoint has named in a refusal
	Tokens func([]model.Message) int // what a history has, as well as that is known
	// Compact makes a history shorter for a window of a size.
	Compact func(ctx context.Context, history []model.Message, size int) ([]model.Message, error)
}

// Shortener returns what a turn calls before each request, and when the endpoint says that
// the conversation is too long. If a summary fails, the turn goes on with the whole
// conversation.
func (k Keeper) Shortener() func(context.Context, []model.Message, *model.OverflowError) []model.Message {
	failed := false
	return func(ctx context.Context, history []model.Message, full *model.OverflowError) []model.Message {
		if full != nil {
			return k.makeRoom(ctx, history, full)
		}
		size := k.Window()
		if failed || size < SmallWindow || k.Tokens(history) < size*fullPercent/100 {
			return history
		}
		shorter, err := k.Compact(ctx, history, size)
		if err != nil {
			failed = true
			return history
		}
		return shorter
	}
}

// makeRoom makes room in a window that the endpoint calls full. If it does not say how large
// that is, it is smaller than the conversation, and so is the half that the next try has.
func (k Keeper) makeRoom(ctx context.Context, history []model.Message, full *model.OverflowError) []model.Message {
	size := full.Window
	if size > 0 {
		k.Learn(size)
	} else {
		size = min(cmp.Or(k.Window(), UnknownWindow), Tokens(history)*fullPercent/100)
	}
	shorter, err := k.shorten(ctx, history, size, SmallWindow/4)
	if err != nil {
		return history
	}
	return shorter
}

// Shorten makes a history shorter because the user wants it, however much room there is: what
// is known of the window may be wrong.
func (k Keeper) Shorten(ctx context.Context, history []model.Message) ([]model.Message, error) {
	size := min(cmp.Or(k.Window(), UnknownWindow), Tokens(history))
	return k.shorten(ctx, history, max(size, SmallWindow), SmallWindow)
}

// shorten compacts for a window of a size, and of smaller ones if that is not short enough. Below
// least it goes on only because the endpoint refuses the summary.
func (k Keeper) shorten(ctx context.Context, history []model.Message, size, least int) ([]model.Message, error) {
	for {
		shorter, err := k.Compact(ctx, history, size)
		if err == nil {
			return shorter, nil
		}
		size /= 2
		var full *model.OverflowError
		switch {
		case errors.As(err, &full) && size >= SmallWindow/4:
			if full.Window > 0 {
				k.Learn(full.Window)
				size = min(size, full.Window)
			}
		case !errors.Is(err, ErrShort) || size < least:
			return nil, err
		}
	}
}
