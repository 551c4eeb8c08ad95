package agentv2

import (
	"context"
	"strconv"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// modeOption is the config option that stands for the modes of version 1.
const modeOption v2.SessionConfigID = "mode"

// begin starts the work on a prompt, with the id of the user's message; false if the
// session is at work already.
func (s *session) begin() (context.Context, v2.MessageID, bool) {
	s.work.Lock()
	defer s.work.Unlock()
	if s.stop != nil {
		return nil, "", false
	}
	ctx, stop := context.WithCancelCause(context.Background())
	s.stop = stop
	s.mu.Lock()
	defer s.mu.Unlock()
	return ctx, s.newMessage(""), true
}

func (s *session) atWork() bool {
	s.work.Lock()
	defer s.work.Unlock()
	return s.stop != nil
}

func (s *session) end() {
	s.work.Lock()
	s.stop(nil)
	s.stop = nil
	s.work.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kind = ""
}

func (s *session) cancel() { s.cancelFor(rpc.ErrSessionCancelled) }

func (s *session) cancelFor(cause error) {
	s.work.Lock()
	defer s.work.Unlock()
	if s.stop != nil {
		s.stop(cause)
	}
}

// newMessage makes the id of a message of a kind. s.mu is held.
func (s *session) newMessage(kind string) v2.MessageID {
	s.messages++
	s.kind, s.message = kind, v2.MessageID("message-"+strconv.Itoa(s.messages))
	return s.message
}

// messageOf returns the id of the message that a chunk of a kind belongs to: the
// agent's own id, the id of the chunk before it, or a new one. s.mu is held.
func (s *session) messageOf(kind string, own acp.Opt[acp.MessageID]) v2.MessageID {
	if id, ok := own.Get(); ok {
		s.kind = ""
		return v2.MessageID(id)
	}
	if s.kind == kind {
		return s.message
	}
	return s.newMessage(kind)
}

// start keeps what a session begins with, and returns its config options.
func (s *session) start(modes *acp.SessionModeState, options []acp.SessionConfigOption) []v2.SessionConfigOption {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.modes, s.options = modes, options
	return s.allOptions()
}

func (s *session) setOptions(options []acp.SessionConfigOption) []v2.SessionConfigOption {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options = options
	return s.allOptions()
}

// hasModes reports whether the modes are an option that the agent does not know.
func (s *session) hasModes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.modes != nil && !s.knows(modeOption)
}

func (s *session) knows(id v2.SessionConfigID) bool {
	for _, o := range s.options {
		if v2.SessionConfigID(o.ID) == id || o.Category.OK && o.Category.V == acp.SessionConfigOptionCategoryMode {
			return true
		}
	}
	return false
}

func (s *session) setMode(id acp.SessionModeID) []v2.SessionConfigOption {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.currentMode(id)
	return s.allOptions()
}

func (s *session) currentMode(id acp.SessionModeID) {
	if s.modes != nil {
		now := *s.modes // the agent's may be shared
		now.CurrentModeID = id
		s.modes = &now
	}
}

// allOptions returns the options of the agent, and its modes as one more. s.mu is held.
func (s *session) allOptions() []v2.SessionConfigOption {
	list := options(s.options)
	if s.modes == nil || len(s.modes.AvailableModes) == 0 || s.knows(modeOption) {
		return list
	}
	var values v2.SessionConfigSelectOptionsUngrouped
	for _, m := range s.modes.AvailableModes {
		values = append(values, v2.SessionConfigSelectOption{Value: v2.SessionConfigValueID(m.ID), Name: m.Name, Description: m.Description})
	}
	return append(list, v2.SessionConfigOption{
		ConfigID: modeOption, Name: "Mode", Category: acp.Some(v2.SessionConfigOptionCategoryMode),
		Variant: v2.NewSessionConfigSelect(v2.SessionConfigValueID(s.modes.CurrentModeID), values),
	})
}
