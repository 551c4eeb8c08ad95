package history

import (
	"strings"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/acp"
)

// Entry is a *Message, *ToolCall, *Terminal, *Notice or *Compaction.
type Entry interface{ isEntry() }

// Role says whose message it is.
type Role string

// The roles.
const (
	User    Role = "user"
	Agent   Role = "agent"
	Thought Role = "thought"
)

// Message is one message, joined from its chunks: those with its id or, from
// agents that send no ids, consecutive chunks of one role.
type Message struct {
	ID        acp.MessageID // may be empty
	Role      Role
	Content   []acp.ContentBlock // adjoining plain text is one block
	Truncated bool               // the beginning is no longer kept
}

// Text returns the text blocks of the message, one after the other.
func (m *Message) Text() string {
	var b strings.Builder
	for _, c := range m.Content {
		if t, ok := c.(*acp.TextContent); ok {
			if len(m.Content) == 1 {
				return t.Text
			}
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// ToolCall is a tool call with everything from its updates so far.
type ToolCall struct {
	acp.ToolCall
	Truncated    bool      // something is missing, such as content and raw data too large to keep
	Capabilities acp.Extra // version 2: what the client may do to it now, such as "cancel"
}

// Notice is a message of the agent to the user outside the conversation.
type Notice struct {
	Severity    acp.NoticeSeverity
	Title       string
	Description string
}

// Compaction is one shortening of the context by the agent.
type Compaction struct {
	ID      acp.CompactionID
	Status  acp.CompactionStatus
	Summary []acp.ContentBlock
	Error   string
}

func (*Message) isEntry()    {}
func (*ToolCall) isEntry()   {}
func (*Notice) isEntry()     {}
func (*Compaction) isEntry() {}

// item is the changing side of an Entry.
type item interface {
	entry() Entry // does not change afterwards
	size() int
	cut(limit int)   // drops content until size is at most about limit
	forget(s *State) // removes the item from the index
}

type messageKey struct {
	id   acp.MessageID
	role Role
}

// message keeps plain text in a builder. The strings of the builder share its
// memory and do not change while it grows, so a snapshot copies no text.
type message struct {
	key       messageKey
	blocks    []block
	bytes     int
	truncated bool
	view      *Message
}

type block struct {
	text  *strings.Builder // plain text
	other acp.ContentBlock
	bytes int
}

// message returns the message with an id; it creates one if there is none.
func (s *State) message(role Role, id acp.MessageID) *message {
	key := messageKey{id, role}
	m := s.messages[key]
	if m == nil {
		m = &message{key: key}
		s.messages[key] = m
		s.add(m)
	}
	return m
}

func (s *State) addChunk(role Role, c *acp.ContentChunk) {
	var m *message
	if id := c.MessageID.Or(""); id != "" {
		m = s.message(role, id)
	} else if m = s.continued(role); m == nil {
		m = &message{key: messageKey{"", role}}
		s.add(m)
	}
	before := m.size()
	m.append(s, c.Content)
	s.resized(m, before)
}

// continued returns the message without an id at the end of the timeline, nil if
// there is none in this turn.
func (s *State) continued(role Role) *message {
	if n := len(s.items); n > 0 && !s.turned {
		if last, ok := s.items[n-1].(*message); ok && last.key == (messageKey{"", role}) {
			return last
		}
	}
	return nil
}

func (m *message) append(s *State, c acp.ContentBlock) {
	m.view = nil
	text, ok := c.(*acp.TextContent)
	if !ok || text.Annotations != nil || text.Meta != nil || text.Extra != nil {
		n := s.blockSize(c)
		m.blocks = append(m.blocks, block{other: c, bytes: n})
		m.bytes += n
		return
	}
	n := len(m.blocks)
	if n == 0 || m.blocks[n-1].text == nil {
		m.blocks = append(m.blocks, block{text: new(strings.Builder)})
		m.bytes += overhead
		n++
	}
	m.blocks[n-1].text.WriteString(text.Text)
	m.blocks[n-1].bytes += len(text.Text)
	m.bytes += len(text.Text)
}

// overhead is what a block costs besides its content, roughly.
const overhead = 64

func (s *State) blockSize(c acp.ContentBlock) int {
	return overhead + len(acp.AppendContentBlock(s.scratch[:0], c))
}

func (m *message) entry() Entry {
	if m.view == nil {
		v := &Message{ID: m.key.id, Role: m.key.role, Content: make([]acp.ContentBlock, len(m.blocks)), Truncated: m.truncated}
		for i, b := range m.blocks {
			v.Content[i] = b.other
			if b.text != nil {
				v.Content[i] = &acp.TextContent{Text: b.text.String()}
			}
		}
		m.view = v
	}
	return m.view
}

func (m *message) size() int { return m.bytes + len(m.key.id) }

func (m *message) cut(limit int) {
	m.view, m.truncated = nil, true
	for len(m.blocks) > 0 && m.bytes > limit {
		first := &m.blocks[0]
		if keep := limit - (m.bytes - first.bytes); keep > 0 && first.text != nil {
			text := first.text.String()[first.bytes-keep:]
			for len(text) > 0 && !utf8.RuneStart(text[0]) {
				text = text[1:]
			}
			first.text = new(strings.Builder)
			first.text.WriteString(text)
			m.bytes += len(text) - first.bytes
			first.bytes = len(text)
			return
		}
		m.bytes -= first.bytes
		if first.text != nil {
			m.bytes -= overhead
		}
		*first = block{} // the list still refers to it
		m.blocks = m.blocks[1:]
	}
}

func (m *message) forget(s *State) { delete(s.messages, m.key) }

type toolCall struct {
	view  *ToolCall
	bytes int
}

// merge returns call with the members that are present in u replaced; lists are
// replaced whole.
func merge(call acp.ToolCall, u *acp.ToolCallUpdate) acp.ToolCall {
	call.ToolCallID = u.ToolCallID
	call.Title = u.Title.Or(call.Title)
	if u.Name.OK {
		call.Name = u.Name
	}
	if u.Kind.OK {
		call.Kind = u.Kind
	}
	if u.Status.OK {
		call.Status = u.Status
	}
	if u.Content != nil {
		call.Content = u.Content
	}
	if u.Locations != nil {
		call.Locations = u.Locations
	}
	if u.RawInput != nil {
		call.RawInput = u.RawInput
	}
	if u.RawOutput != nil {
		call.RawOutput = u.RawOutput
	}
	if u.Meta != nil {
		call.Meta = u.Meta
	}
	if u.Extra != nil {
		call.Extra = u.Extra
	}
	return call
}

// toolCall returns a tool call of version 2; it creates one if there is none.
func (s *State) toolCall(id acp.ToolCallID) *toolCall {
	c := s.calls[id]
	if c == nil {
		c = &toolCall{view: &ToolCall{ToolCall: acp.ToolCall{
			ToolCallID: id, Status: acp.Some(acp.ToolCallStatusPending), Kind: acp.Some(acp.ToolKindOther),
		}}}
		s.calls[id] = c
		s.add(c)
	}
	return c
}

// mergeCall is an upsert: agents send updates for calls they never announced,
// and announce calls twice.
func (s *State) mergeCall(u *acp.ToolCallUpdate) {
	c := s.calls[u.ToolCallID]
	if c == nil {
		c = &toolCall{view: &ToolCall{ToolCall: acp.ToolCall{Status: acp.Some(acp.ToolCallStatusPending)}}}
		s.calls[u.ToolCallID] = c
		s.add(c)
	}
	before := c.bytes
	v := *c.view
	v.ToolCall = merge(v.ToolCall, u)
	c.view = &v
	c.bytes = s.sizeOf(&c.view.ToolCall)
	s.resized(c, before)
}

// ToolCall returns a tool call, nil when there is none with this id.
func (s *State) ToolCall(id acp.ToolCallID) *ToolCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[id]; c != nil {
		return c.view
	}
	return nil
}

// Merge returns u completed with what earlier updates said about the call,
// without changing the state. A permission request often names little more than
// the id. If whole is false, part of the call is missing, because it was too large
// to keep or was not received completely.
func (s *State) Merge(u *acp.ToolCallUpdate) (call *acp.ToolCallUpdate, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[u.ToolCallID]
	if c == nil {
		return u, !s.forgot
	}
	merged := merge(c.view.ToolCall, u)
	return merged.AsUpdate(), !c.view.Truncated
}

// Truncate notes that the last update of a tool call was not received completely.
// Even its id may be missing.
func (s *State) Truncate(id acp.ToolCallID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgot = true
	if c := s.calls[id]; c != nil && !c.view.Truncated {
		v := *c.view
		v.Truncated = true
		c.view, s.cached = &v, nil
	}
}

func (c *toolCall) entry() Entry { return c.view }
func (c *toolCall) size() int    { return c.bytes }

func (c *toolCall) cut(limit int) {
	v := *c.view
	v.Content, v.RawInput, v.RawOutput, v.Meta, v.Extra, v.Truncated = nil, nil, nil, nil, nil, true
	if len(v.Title) > limit {
		v.Title = shortened(v.Title, limit)
	}
	c.view, c.bytes = &v, len(v.ToolCall.AppendJSON(nil))
}

func (c *toolCall) forget(s *State) {
	delete(s.calls, c.view.ToolCallID)
	s.forgot = true
}

type notice struct {
	view  *Notice
	bytes int
}

func (n *notice) entry() Entry  { return n.view }
func (n *notice) size() int     { return n.bytes }
func (n *notice) forget(*State) {}
func (n *notice) cut(limit int) {
	n.view = &Notice{Severity: n.view.Severity, Title: shortened(n.view.Title, limit)}
	n.bytes = len(n.view.Title)
}

// shortened returns a copy of the beginning of text, so that the rest can be freed.
func shortened(text string, limit int) string {
	return strings.Clone(strings.ToValidUTF8(text[:min(limit, len(text))], ""))
}

type compaction struct {
	view  *Compaction
	bytes int
}

func (s *State) compaction(id acp.CompactionID) *compaction {
	c := s.compactions[id]
	if c == nil {
		c = &compaction{view: &Compaction{ID: id, Status: acp.CompactionStatusInProgress}}
		s.compactions[id] = c
		s.add(c)
	}
	v := *c.view
	c.view = &v
	return c
}

func (s *State) mergeCompaction(u *acp.CompactionUpdate) {
	c := s.compaction(u.CompactionID)
	before := c.size()
	c.view.Status = u.Status
	u.Summary.Apply(&c.view.Summary, nil)
	u.Error.Apply(&c.view.Error, "")
	c.bytes = len(c.view.Error)
	for _, b := range c.view.Summary {
		c.bytes += s.blockSize(b)
	}
	s.resized(c, before)
}

func (s *State) addSummary(u *acp.CompactionSummaryChunk) {
	c := s.compaction(u.CompactionID)
	before := c.size()
	c.view.Summary = append(c.view.Summary, u.Content) // earlier views end before it
	c.bytes += s.blockSize(u.Content)
	s.resized(c, before)
}

func (c *compaction) entry() Entry    { return c.view }
func (c *compaction) size() int       { return c.bytes + len(c.view.ID) }
func (c *compaction) forget(s *State) { delete(s.compactions, c.view.ID) }
func (c *compaction) cut(int) {
	v := *c.view
	v.Summary, v.Error = nil, ""
	c.view, c.bytes = &v, 0
}
