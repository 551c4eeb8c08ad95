// Package history builds the state of a session from its updates: messages, tool
// calls, terminals, plans, commands, mode, configuration, usage and activity.
//
// See https://agentclientprotocol.com/protocol/prompt-turn for the updates.
// Package servicesv2 adds the updates of version 2. Both versions use the same
// types: the type of version 1 wherever it has one.
package history

import (
	"cmp"
	"slices"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
)

// Limits bound the memory of a State; 0 means the default.
type Limits struct {
	Bytes   int // of the timeline, encoded, and as much again of plans; default 32 MiB
	Entries int // of the timeline; default 20,000
}

// Defaults of Limits.
const (
	DefaultBytes   = 32 << 20
	DefaultEntries = 20_000
)

func (l *Limits) bytes() int { return cmp.Or(l.Bytes, DefaultBytes) }

// Snapshot is a State at one moment. Nothing in it ever changes, and nothing in
// it may be changed.
type Snapshot struct {
	ID            acp.SessionID
	Timeline      []Entry         // oldest first
	Dropped       int             // entries no longer kept, because of the limits
	Plan          []acp.PlanEntry // the one updated last
	Plans         []Plan          // version 2: all of them, oldest first
	Activity      Activity        // version 2
	Commands      []acp.AvailableCommand
	Mode          acp.SessionModeID
	Modes         []acp.SessionMode
	ConfigOptions []acp.SessionConfigOption
	Usage         *acp.UsageUpdate
	Title         string
	UpdatedAt     string // as the agent wrote it
	Requests      []Request
}

// Request is an agent request that waits for an answer.
type Request struct {
	Serial uint64 // rises with each request of the session
	Method string
	Params any
}

// State accumulates the updates of one session. It is safe for concurrent use. It
// shares memory with the updates, so an update that was applied must not be
// changed.
type State struct {
	limits Limits

	mu     sync.Mutex
	now    Snapshot // without the timeline
	cached *Snapshot
	serial uint64

	items       []item // the timeline
	dropped     int
	bytes       int
	rest        map[string]int // bytes of what is not in the timeline
	messages    map[messageKey]*message
	calls       map[acp.ToolCallID]*toolCall
	forgot      bool // a tool call that is not in calls may have been announced
	compactions map[acp.CompactionID]*compaction
	terminals   map[acp.TerminalID]*terminal
	scratch     []byte
	turned      bool          // a turn began after the last item
	reported    chan struct{} // closed and replaced by each Activity
	done        chan struct{}
}

// New returns an empty State.
func New(id acp.SessionID, limits Limits) *State {
	limits.Bytes = limits.bytes()
	limits.Entries = cmp.Or(limits.Entries, DefaultEntries)
	s := &State{
		limits: limits, now: Snapshot{ID: id}, rest: make(map[string]int),
		reported: make(chan struct{}), done: make(chan struct{}),
	}
	s.clear()
	return s
}

func (s *State) clear() {
	s.items, s.bytes, s.dropped, s.cached = nil, 0, 0, nil
	s.messages = make(map[messageKey]*message)
	s.calls, s.forgot = make(map[acp.ToolCallID]*toolCall), false
	s.compactions = make(map[acp.CompactionID]*compaction)
	s.terminals = make(map[acp.TerminalID]*terminal)
}

// Start adopts the answer to session/new, session/load or session/resume.
func (s *State) Start(modes *acp.SessionModeState, options []acp.SessionConfigOption) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cached = nil
	if modes != nil {
		s.now.Mode, s.now.Modes = modes.CurrentModeID, modes.AvailableModes
	}
	if options != nil {
		s.now.ConfigOptions = options
	}
}

// Reset forgets the timeline and the plans, before they are replayed.
func (s *State) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.now.Plan, s.now.Plans, s.rest["plan"] = nil, nil, 0
}

// NewTurn notes that a prompt is sent: later text without a message id starts a
// new message and does not continue an earlier one.
func (s *State) NewTurn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turned = true
}

// Apply adds an update. Updates this version does not know change nothing.
func (s *State) Apply(update acp.SessionUpdate) {
	s.Edit(func(e Edit) { e.Apply(update) })
}

func (s *State) apply(update acp.SessionUpdate) {
	switch u := update.(type) {
	case *acp.UserMessageChunk:
		s.addChunk(User, (*acp.ContentChunk)(u))
	case *acp.AgentMessageChunk:
		s.addChunk(Agent, (*acp.ContentChunk)(u))
	case *acp.AgentThoughtChunk:
		s.addChunk(Thought, (*acp.ContentChunk)(u))
	case *acp.ToolCall:
		s.mergeCall(u.AsUpdate())
	case *acp.ToolCallUpdate:
		s.mergeCall(u)
	case *acp.CompactionUpdate:
		s.mergeCompaction(u)
	case *acp.CompactionSummaryChunk:
		s.addSummary(u)
	case *acp.Notice:
		s.add(&notice{view: &Notice{Severity: u.Severity, Title: u.Title, Description: u.Description.Or("")}, bytes: s.sizeOf(u)})
	case *acp.Plan:
		s.now.Plan, s.rest["plan"] = u.Entries, s.sizeOf(u)
	case *acp.AvailableCommandsUpdate:
		s.now.Commands, s.rest["commands"] = u.AvailableCommands, s.sizeOf(u)
	case *acp.CurrentModeUpdate:
		s.now.Mode, s.rest["mode"] = u.CurrentModeID, s.sizeOf(u)
	case *acp.ConfigOptionUpdate:
		s.now.ConfigOptions, s.rest["options"] = u.ConfigOptions, s.sizeOf(u)
	case *acp.SessionInfoUpdate:
		u.Title.Apply(&s.now.Title, "")
		u.UpdatedAt.Apply(&s.now.UpdatedAt, "")
		s.rest["title"] = len(s.now.Title) + len(s.now.UpdatedAt)
	case *acp.UsageUpdate:
		s.now.Usage, s.rest["usage"] = u, s.sizeOf(u)
	}
}

// Begin notes an agent request that waits for an answer. The returned function,
// which may be called more than once, ends the wait.
func (s *State) Begin(method string, params any) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cached = nil
	s.serial++
	serial := s.serial
	s.now.Requests = append(slices.Clip(s.now.Requests), Request{serial, method, params})
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.cached = nil
		s.now.Requests = slices.DeleteFunc(slices.Clone(s.now.Requests), func(r Request) bool { return r.Serial == serial })
	}
}

// Snapshot returns the state. It costs nothing if nothing has changed since the
// last one, and otherwise a pointer per entry of the timeline.
func (s *State) Snapshot() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cached == nil {
		snap := s.now
		snap.Dropped = s.dropped
		snap.Timeline = make([]Entry, len(s.items))
		for i, it := range s.items {
			snap.Timeline[i] = it.entry()
		}
		s.cached = &snap
	}
	return s.cached
}

// add puts an item at the end of the timeline.
func (s *State) add(it item) {
	s.items, s.turned = append(s.items, it), false
	s.resized(it, 0)
}

// resized updates the total size after an item of before bytes has changed. An
// item that would take up most of the limit loses content, so that it does not
// push out everything else.
func (s *State) resized(it item, before int) {
	if it.size() > s.limits.Bytes/4*3 {
		it.cut(s.limits.Bytes / 2)
	}
	s.bytes += it.size() - before
}

// shrink drops the oldest entries until the limits hold.
func (s *State) shrink() {
	drop := 0
	for len(s.items)-drop > 1 && (s.bytes > s.limits.Bytes || len(s.items)-drop > s.limits.Entries) {
		s.bytes -= s.items[drop].size()
		s.items[drop].forget(s)
		s.items[drop] = nil
		drop++
	}
	s.items = s.items[drop:]
	s.dropped += drop
}

// size is the approximate memory of the session, in bytes.
func (s *State) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := s.bytes + len(s.now.ID)
	for _, n := range s.rest {
		sum += n
	}
	return sum
}

// appender is implemented by every type of package acp.
type appender interface{ AppendJSON([]byte) []byte }

func (s *State) sizeOf(v appender) int {
	s.scratch = v.AppendJSON(s.scratch[:0])
	n := len(s.scratch)
	if cap(s.scratch) > 16<<10 {
		s.scratch = nil
	}
	return n
}
