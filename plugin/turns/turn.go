package turns

import (
	"strings"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// Turn is one prompt.
type Turn struct {
	ID     string // of the operation that it is
	Params *acp.PromptRequest
	Blocks []wire.Part // of the prompt, as Lua gets them; nil once it did
	Force  bool        // it goes out as it is, whatever the agent has announced

	Steering Steering // how it corrects the turn that runs; empty: it waits for its end

	after   <-chan struct{} // the request that came before it is answered; nil: none; set by begin
	calling bool            // the agent is being asked; under Turns.mu
	dropped chan struct{}   // closed when it was cancelled before that
	sent    chan struct{}   // closed when the prompt is on its way: later messages come after it
	over    chan struct{}   // closed when the agent is done with it
	stop    sync.Mutex      // held while a cancel is sent to the agent
	told    chan struct{}   // closed when Neovim knows, too
	broke   error           // how the connection broke in it, else nil; set before over is closed

	messages messages // for it, while it runs
	outcome  outcome  // what became of it, if it steers; under Turns.mu until it begins
	unwanted bool     // it was cancelled on its way into another turn; under Turns.mu
}

// NewTurn makes the turn of a prompt, which d has decoded of text.
func NewTurn(id string, d *jx.Dec, text []byte, p *acp.PromptRequest) *Turn {
	return &Turn{
		ID: id, Params: p, Blocks: blocksOf(d, text, p),
		dropped: make(chan struct{}), sent: make(chan struct{}), over: make(chan struct{}), told: make(chan struct{}),
	}
}

// ReadTurn makes the turn of the params of a prompt. It checks them by the schema, so that a
// mistake is named here and not by the agent.
func ReadTurn(id string, text []byte) (*Turn, error) {
	d, p := jx.New(text), new(acp.PromptRequest)
	if err := acp.Read(d, p); err != nil {
		return nil, wire.Invalid("%s: %v", acp.MethodSessionPrompt, err)
	}
	return NewTurn(id, d, text, p), nil
}

// blocksOf are the content blocks of a prompt as Lua gets them.
func blocksOf(d *jx.Dec, text []byte, p *acp.PromptRequest) []wire.Part {
	if list, ok := wire.Elements(text, "prompt", d.Odd()); ok && !d.Forgave() {
		return list
	}
	list := make([]wire.Part, 0, len(p.Prompt))
	for _, b := range p.Prompt {
		list = append(list, wire.ForLua(acp.AppendContentBlock(nil, b)))
	}
	return list
}

// cancelled is the result of a prompt that was cancelled before it was sent.
func (t *Turn) cancelled() []byte {
	return new(wire.Object).Str("stopReason", string(acp.StopReasonCancelled)).Optional("outcome", string(t.outcome)).JSON()
}

// Dropped is closed when the turn was cancelled before its prompt was sent.
func (t *Turn) Dropped() <-chan struct{} { return t.dropped }

// Sent is closed when the prompt is on its way.
func (t *Turn) Sent() <-chan struct{} { return t.sent }

// Told is closed when Neovim knows of the end.
func (t *Turn) Told() <-chan struct{} { return t.told }

// Text is the first text of the prompt.
func (t *Turn) Text() string {
	for _, b := range t.Params.Prompt {
		if t, ok := b.(*acp.TextContent); ok && strings.TrimSpace(t.Text) != "" {
			return t.Text
		}
	}
	return ""
}
