package process

import (
	"context"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/terminal"
)

// here is a command that the agent runs itself.
type here struct {
	manager *terminal.Manager
	term    acp.TerminalID

	mu  sync.Mutex
	out window
}

// here starts a command where the backend says.
func (r *Registry) here(ctx context.Context, id string, c Command, exited func(s terminal.Status, lost bool)) (child, error) {
	argv, dir, err := r.opts.Backend.Command(ctx, id, c)
	if err != nil {
		return nil, err
	}
	h := &here{}
	opts := terminal.Options{
		Env: environment(r.opts.Backend, r.opts.Environment), Shell: terminal.ShellNever, Keeper: r.opts.Keeper, Input: true, MaxOutput: 1,
		OnData: func(_ acp.TerminalID, text string, skipped int) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.out.add(text, skipped)
		},
		OnExit: func(_ acp.TerminalID, s terminal.Status) { exited(s, false) },
	}
	if c.PTY {
		opts.PTY = &terminal.Size{Rows: 24, Cols: 80}
	}
	h.manager = terminal.New(opts)
	h.term, err = h.manager.Create(ctx, terminal.Request{Command: argv[0], Args: argv[1:], Dir: dir})
	return h, err
}

func (h *here) news() news {
	h.mu.Lock()
	defer h.mu.Unlock()
	text, skipped := h.out.news()
	return news{Text: text, Skipped: skipped}
}

func (h *here) log() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.out.kept)
}

func (h *here) write(ctx context.Context, text string) error {
	return h.manager.Write(ctx, h.term, text)
}

func (h *here) end() error { return h.manager.Close() }
