
import (
	"context"
	"encoding/json"
	"github.com/hermes-nvim/hermes/acp/internal/jx"
)

type RawMessage = json.RawMessage
type appendFunc func([]byte) []byte

func (f appendFunc) AppendJSON(b []byte) []byte {
	return f(b)
}

type WriteTextFileRequest struct {
	SessionID SessionID  `json:"sessionId"`
	Path      string     `json:"path"`
	Content   string     `json:"content"`
	Meta      RawMessage `json:"_meta,omitzero"`
}

func (v *WriteTextFileRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "path":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Path = d.Str()
		case "content":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			v.Content = d.Str()
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x7 != 0x7 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		case seen&0x2 == 0:
			d.Missing(m, "path")
		case seen&0x4 == 0:
			d.Missing(m, "content")
		}
	}
}
func (v *WriteTextFileRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *WriteTextFileRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = WriteTextFileRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *WriteTextFileRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v WriteTextFileRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *WriteTextFileRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	b = jx.Comma(b)
	b = append(b, `"path":`...)
	b = jx.AppendString(b, v.Path)
	b = jx.Comma(b)
	b = append(b, `"content":`...)
	b = jx.AppendString(b, v.Content)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SessionID string
type ReadTextFileRequest struct {
	SessionID SessionID   `json:"sessionId"`
	Path      string      `json:"path"`
	Line      Opt[uint32] `json:"line,omitzero"`
	Limit     Opt[uint32] `json:"limit,omitzero"`
	Meta      RawMessage  `json:"_meta,omitzero"`
}

func (v *ReadTextFileRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "path":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Path = d.Str()
		case "line":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				v.Line.V = uint32(d.Int(0, 4294967295))
				v.Line.OK = true
			}
		case "limit":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				v.Limit.V = uint32(d.Int(0, 4294967295))
				v.Limit.OK = true
			}
		case "_meta":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		case seen&0x2 == 0:
			d.Missing(m, "path")
		}
	}
}
func (v *ReadTextFileRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ReadTextFileRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ReadTextFileRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ReadTextFileRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ReadTextFileRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ReadTextFileRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	b = jx.Comma(b)
	b = append(b, `"path":`...)
	b = jx.AppendString(b, v.Path)
	if v.Line.OK {
		b = jx.Comma(b)
		b = append(b, `"line":`...)
		b = jx.AppendUint(b, uint64(v.Line.V))
	}
	if v.Limit.OK {
		b = jx.Comma(b)
		b = append(b, `"limit":`...)
		b = jx.AppendUint(b, uint64(v.Limit.V))
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type RequestPermissionRequest struct {
	SessionID SessionID          `json:"sessionId"`
	ToolCall  ToolCallUpdate     `json:"toolCall"`
	Options   []PermissionOption `json:"options"`
	Meta      RawMessage         `json:"_meta,omitzero"`
}

func (v *RequestPermissionRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "toolCall":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.ToolCall.decodeJX(d)
		case "options":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if d.Array() {
				v.Options = []PermissionOption{}
				for d.More(']') {
					var e PermissionOption
					e.decodeJX(d)
					v.Options = append(v.Options, e)
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x7 != 0x7 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		case seen&0x2 == 0:
			d.Missing(m, "toolCall")
		case seen&0x4 == 0:
			d.Missing(m, "options")
		}
	}
}
func (v *RequestPermissionRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *RequestPermissionRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = RequestPermissionRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *RequestPermissionRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v RequestPermissionRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *RequestPermissionRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	b = jx.Comma(b)
	b = append(b, `"toolCall":`...)
	b = v.ToolCall.appendJX(b)
	b = jx.Comma(b)
	b = append(b, `"options":`...)
	b = append(b, '[')
	for i := range v.Options {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.Options[i].appendJX(b)
	}
	b = append(b, ']')
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ToolCallUpdate struct {
	ToolCallID ToolCallID          `json:"toolCallId"`
	Kind       Opt[ToolKind]       `json:"kind,omitzero"`
	Status     Opt[ToolCallStatus] `json:"status,omitzero"`
	Title      Opt[string]         `json:"title,omitzero"`
	Name       Opt[string]         `json:"name,omitzero"`
	Content    []ToolCallContent   `json:"content,omitzero"`
	Locations  []ToolCallLocation  `json:"locations,omitzero"`
	RawInput   RawMessage          `json:"rawInput,omitzero"`
	RawOutput  RawMessage          `json:"rawOutput,omitzero"`
	Meta       RawMessage          `json:"_meta,omitzero"`
}

func (v *ToolCallUpdate) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "toolCallId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.ToolCallID = ToolCallID(d.Str())
		case "kind":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.Kind.V.decodeJX(d)
				v.Kind.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Kind = Opt[ToolKind]{}
				}
			}
		case "status":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.Status.V.decodeJX(d)
				v.Status.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Status = Opt[ToolCallStatus]{}
				}
			}
		case "title":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				v.Title.V = d.Str()
				v.Title.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Title = Opt[string]{}
				}
			}
		case "name":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				mk := d.Mark()
				v.Name.V = d.Str()
				v.Name.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Name = Opt[string]{}
				}
			}
		case "content":
			if seen&0x20 != 0 {
				d.Dup()
			}
			seen |= 0x20
			if !d.Null() {
				mk := d.Mark()
				if d.Array() {
					v.Content = []ToolCallContent{}
					for d.More(']') {
						mk := d.Mark()
						var e ToolCallContent
						e = decodeToolCallContent(d)
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.Content = append(v.Content, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.Content = nil
				}
			}
		case "locations":
			if seen&0x40 != 0 {
				d.Dup()
			}
			seen |= 0x40
			if !d.Null() {
				mk := d.Mark()
				if d.Array() {
					v.Locations = []ToolCallLocation{}
					for d.More(']') {
						mk := d.Mark()
						var e ToolCallLocation
						e.decodeJX(d)
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.Locations = append(v.Locations, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.Locations = nil
				}
			}
		case "rawInput":
			if seen&0x80 != 0 {
				d.Dup()
			}
			seen |= 0x80
			{
				mk := d.Mark()
				v.RawInput = d.Raw()
				if d.Failed() && d.Recover(mk) {
					v.RawInput = nil
				}
			}
		case "rawOutput":
			if seen&0x100 != 0 {
				d.Dup()
			}
			seen |= 0x100
			{
				mk := d.Mark()
				v.RawOutput = d.Raw()
				if d.Failed() && d.Recover(mk) {
					v.RawOutput = nil
				}
			}
		case "_meta":
			if seen&0x200 != 0 {
				d.Dup()
			}
			seen |= 0x200
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "toolCallId")
		}
	}
}
func (v *ToolCallUpdate) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ToolCallUpdate) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ToolCallUpdate{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ToolCallUpdate) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ToolCallUpdate) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ToolCallUpdate) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"toolCallId":`...)
	b = jx.AppendString(b, string(v.ToolCallID))
	if v.Kind.OK {
		b = jx.Comma(b)
		b = append(b, `"kind":`...)
		b = jx.AppendString(b, string(v.Kind.V))
	}
	if v.Status.OK {
		b = jx.Comma(b)
		b = append(b, `"status":`...)
		b = jx.AppendString(b, string(v.Status.V))
	}
	if v.Title.OK {
		b = jx.Comma(b)
		b = append(b, `"title":`...)
		b = jx.AppendString(b, v.Title.V)
	}
	if v.Name.OK {
		b = jx.Comma(b)
		b = append(b, `"name":`...)
		b = jx.AppendString(b, v.Name.V)
	}
	if v.Content != nil {
		b = jx.Comma(b)
		b = append(b, `"content":`...)
		b = append(b, '[')
		for i := range v.Content {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendToolCallContent(b, v.Content[i])
		}
		b = append(b, ']')
	}
	if v.Locations != nil {
		b = jx.Comma(b)
		b = append(b, `"locations":`...)
		b = append(b, '[')
		for i := range v.Locations {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.Locations[i].appendJX(b)
		}
		b = append(b, ']')
	}
	if v.RawInput != nil {
		b = jx.Comma(b)
		b = append(b, `"rawInput":`...)
		b = jx.AppendRaw(b, v.RawInput)
	}
	if v.RawOutput != nil {
		b = jx.Comma(b)
		b = append(b, `"rawOutput":`...)
		b = jx.AppendRaw(b, v.RawOutput)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ToolCallID string
type ToolKind string

const (
	ToolKindRead       ToolKind = "read"
	ToolKindEdit       ToolKind = "edit"
	ToolKindDelete     ToolKind = "delete"
	ToolKindMove       ToolKind = "move"
	ToolKindSearch     ToolKind = "search"
	ToolKindExecute    ToolKind = "execute"
	ToolKindThink      ToolKind = "think"
	ToolKindFetch      ToolKind = "fetch"
	ToolKindSwitchMode ToolKind = "switch_mode"
	ToolKindOther      ToolKind = "other"
)

func (v *ToolKind) decodeJX(d *jx.Dec) {
	m := d.Mark()
	_ = m
	s := d.StrBytes()
	switch string(s) {
	case "read":
		*v = ToolKindRead
	case "edit":
		*v = ToolKindEdit
	case "delete":
		*v = ToolKindDelete
	case "move":
		*v = ToolKindMove
	case "search":
		*v = ToolKindSearch
	case "execute":
		*v = ToolKindExecute
	case "think":
		*v = ToolKindThink
	case "fetch":
		*v = ToolKindFetch
	case "switch_mode":
		*v = ToolKindSwitchMode
	case "other":
		*v = ToolKindOther
	default:
		if !d.Failed() {
			d.BadTag(m, "ToolKind", s)
		}
	}
}

type ToolCallStatus string

const (
	ToolCallStatusPending    ToolCallStatus = "pending"
	ToolCallStatusInProgress ToolCallStatus = "in_progress"
	ToolCallStatusCompleted  ToolCallStatus = "completed"
	ToolCallStatusFailed     ToolCallStatus = "failed"
)

func (v *ToolCallStatus) decodeJX(d *jx.Dec) {
	m := d.Mark()
	_ = m
	s := d.StrBytes()
	switch string(s) {
	case "pending":
		*v = ToolCallStatusPending
	case "in_progress":
		*v = ToolCallStatusInProgress
	case "completed":
		*v = ToolCallStatusCompleted
	case "failed":
		*v = ToolCallStatusFailed
	default:
		if !d.Failed() {
			d.BadTag(m, "ToolCallStatus", s)
		}
	}
}

type ToolCallContent interface {
	isToolCallContent()
	appendMembers([]byte) []byte
}

// ToolCallContentOther is a variant this version does not know; it is kept as received.
type ToolCallContentOther struct {
	Tag string
	Raw RawMessage
}

func (v *ToolCallContentOther) appendMembers(b []byte) []byte {
	return jx.AppendMembers(b, v.Raw)
}
func decodeToolCallContent(d *jx.Dec) ToolCallContent {
	m := d.Mark()
	_ = m
	tag, found := d.Tag("type")
	if !found {
		if !d.Failed() {
			if d.Peek() == '{' {
				d.Missing(m, "type")
			} else {
				d.Obj()
			}
		}
		return nil
	}
	switch string(tag) {
	case "content":
		x := new(Content)
		x.decodeJX(d)
		return x
	case "diff":
		x := new(Diff)
		x.decodeJX(d)
		return x
	case "terminal":
		x := new(Terminal)
		x.decodeJX(d)
		return x
	}
	r := d.Raw()
	if d.Failed() {
		return nil
	}
	return &ToolCallContentOther{Tag: string(tag), Raw: r}
}
func appendToolCallContentMembers(b []byte, v ToolCallContent) []byte {
	if v == nil {
		return b
	}
	switch v.(type) {
	case *Content:
		b = append(jx.Comma(b), `"type":"content"`...)
	case *Diff:
		b = append(jx.Comma(b), `"type":"diff"`...)
	case *Terminal:
		b = append(jx.Comma(b), `"type":"terminal"`...)
	}
	return v.appendMembers(b)
}
func appendToolCallContent(b []byte, v ToolCallContent) []byte {
	if o, ok := v.(*ToolCallContentOther); ok {
		return append(b, o.Raw...)
	}
	b = append(b, '{')
	b = appendToolCallContentMembers(b, v)
	return append(b, '}')
}

// DecodeToolCallContent reads one value, for use outside a generated struct.
func DecodeToolCallContent(b []byte) (ToolCallContent, error) {
	d := jx.New(b)
	v := decodeToolCallContent(d)
	d.End()
	return v, d.Err()
}
func AppendToolCallContent(b []byte, v ToolCallContent) []byte {
	return appendToolCallContent(b, v)
}

type ContentBlock interface {
	isContentBlock()
	appendMembers([]byte) []byte
}

// ContentBlockOther is a variant this version does not know; it is kept as received.
type ContentBlockOther struct {
	Tag string
	Raw RawMessage
}

func (v *ContentBlockOther) appendMembers(b []byte) []byte {
	return jx.AppendMembers(b, v.Raw)
}
func decodeContentBlock(d *jx.Dec) ContentBlock {
	m := d.Mark()
	_ = m
	tag, found := d.Tag("type")
	if !found {
		if !d.Failed() {
			if d.Peek() == '{' {
				d.Missing(m, "type")
			} else {
				d.Obj()
			}
		}
		return nil
	}
	switch string(tag) {
	case "text":
		x := new(TextContent)
		x.decodeJX(d)
		return x
	case "image":
		x := new(ImageContent)
		x.decodeJX(d)
		return x
	case "audio":
		x := new(AudioContent)
		x.decodeJX(d)
		return x
	case "resource_link":
		x := new(ResourceLink)
		x.decodeJX(d)
		return x
	case "resource":
		x := new(EmbeddedResource)
		x.decodeJX(d)
		return x
	}
	r := d.Raw()
	if d.Failed() {
		return nil
	}
	return &ContentBlockOther{Tag: string(tag), Raw: r}
}
func appendContentBlockMembers(b []byte, v ContentBlock) []byte {
	if v == nil {
		return b
	}
	switch v.(type) {
	case *TextContent:
		b = append(jx.Comma(b), `"type":"text"`...)
	case *ImageContent:
		b = append(jx.Comma(b), `"type":"image"`...)
	case *AudioContent:
		b = append(jx.Comma(b), `"type":"audio"`...)
	case *ResourceLink:
		b = append(jx.Comma(b), `"type":"resource_link"`...)
	case *EmbeddedResource:
		b = append(jx.Comma(b), `"type":"resource"`...)
	}
	return v.appendMembers(b)
}
func appendContentBlock(b []byte, v ContentBlock) []byte {
	if o, ok := v.(*ContentBlockOther); ok {
		return append(b, o.Raw...)
	}
	b = append(b, '{')
	b = appendContentBlockMembers(b, v)
	return append(b, '}')
}

// DecodeContentBlock reads one value, for use outside a generated struct.
func DecodeContentBlock(b []byte) (ContentBlock, error) {
	d := jx.New(b)
	v := decodeContentBlock(d)
	d.End()
	return v, d.Err()
}
func AppendContentBlock(b []byte, v ContentBlock) []byte {
	return appendContentBlock(b, v)
}

type Annotations struct {
	Audience     []Role       `json:"audience,omitzero"`
	LastModified Opt[string]  `json:"lastModified,omitzero"`
	Priority     Opt[float64] `json:"priority,omitzero"`
	Meta         RawMessage   `json:"_meta,omitzero"`
}

func (v *Annotations) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "audience":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Array() {
					v.Audience = []Role{}
					for d.More(']') {
						mk := d.Mark()
						var e Role
						e.decodeJX(d)
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.Audience = append(v.Audience, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.Audience = nil
				}
			}
		case "lastModified":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.LastModified.V = d.Str()
				v.LastModified.OK = true
				if d.Failed() && d.Recover(mk) {
					v.LastModified = Opt[string]{}
				}
			}
		case "priority":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.Priority.V = d.Float()
				v.Priority.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Priority = Opt[float64]{}
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *Annotations) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *Annotations) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = Annotations{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *Annotations) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v Annotations) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *Annotations) appendMembers(b []byte) []byte {
	if v.Audience != nil {
		b = jx.Comma(b)
		b = append(b, `"audience":`...)
		b = append(b, '[')
		for i := range v.Audience {
			if i > 0 {
				b = append(b, ',')
			}
			b = jx.AppendString(b, string(v.Audience[i]))
		}
		b = append(b, ']')
	}
	if v.LastModified.OK {
		b = jx.Comma(b)
		b = append(b, `"lastModified":`...)
		b = jx.AppendString(b, v.LastModified.V)
	}
	if v.Priority.OK {
		b = jx.Comma(b)
		b = append(b, `"priority":`...)
		b = jx.AppendFloat(b, v.Priority.V)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type Role string

const (
	RoleAssistant Role = "assistant"
	RoleUser      Role = "user"
)

func (v *Role) decodeJX(d *jx.Dec) {
	m := d.Mark()
	_ = m
	s := d.StrBytes()
	switch string(s) {
	case "assistant":
		*v = RoleAssistant
	case "user":
		*v = RoleUser
	default:
		if !d.Failed() {
			d.BadTag(m, "Role", s)
		}
	}
}

type TextContent struct {
	Annotations *Annotations `json:"annotations,omitzero"`
	Text        string       `json:"text"`
	Meta        RawMessage   `json:"_meta,omitzero"`
}

func (v *TextContent) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "annotations":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.Annotations = new(Annotations)
				v.Annotations.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Annotations = nil
				}
			}
		case "text":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Text = d.Str()
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x2 != 0x2 {
		switch {
		case seen&0x2 == 0:
			d.Missing(m, "text")
		}
	}
}
func (v *TextContent) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *TextContent) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = TextContent{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *TextContent) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v TextContent) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *TextContent) appendMembers(b []byte) []byte {
	if v.Annotations != nil {
		b = jx.Comma(b)
		b = append(b, `"annotations":`...)
		b = v.Annotations.appendJX(b)
	}
	b = jx.Comma(b)
	b = append(b, `"text":`...)
	b = jx.AppendString(b, v.Text)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ImageContent struct {
	Annotations *Annotations `json:"annotations,omitzero"`
	Data        string       `json:"data"`
	MimeType    string       `json:"mimeType"`
	URI         Opt[string]  `json:"uri,omitzero"`
	Meta        RawMessage   `json:"_meta,omitzero"`
}

func (v *ImageContent) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "annotations":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.Annotations = new(Annotations)
				v.Annotations.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Annotations = nil
				}
			}
		case "data":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Data = d.Str()
		case "mimeType":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			v.MimeType = d.Str()
		case "uri":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				v.URI.V = d.Str()
				v.URI.OK = true
				if d.Failed() && d.Recover(mk) {
					v.URI = Opt[string]{}
				}
			}
		case "_meta":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x6 != 0x6 {
		switch {
		case seen&0x2 == 0:
			d.Missing(m, "data")
		case seen&0x4 == 0:
			d.Missing(m, "mimeType")
		}
	}
}
func (v *ImageContent) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ImageContent) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ImageContent{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ImageContent) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ImageContent) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ImageContent) appendMembers(b []byte) []byte {
	if v.Annotations != nil {
		b = jx.Comma(b)
		b = append(b, `"annotations":`...)
		b = v.Annotations.appendJX(b)
	}
	b = jx.Comma(b)
	b = append(b, `"data":`...)
	b = jx.AppendString(b, v.Data)
	b = jx.Comma(b)
	b = append(b, `"mimeType":`...)
	b = jx.AppendString(b, v.MimeType)
	if v.URI.OK {
		b = jx.Comma(b)
		b = append(b, `"uri":`...)
		b = jx.AppendString(b, v.URI.V)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type AudioContent struct {
	Annotations *Annotations `json:"annotations,omitzero"`
	Data        string       `json:"data"`
	MimeType    string       `json:"mimeType"`
	Meta        RawMessage   `json:"_meta,omitzero"`
}

func (v *AudioContent) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "annotations":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.Annotations = new(Annotations)
				v.Annotations.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Annotations = nil
				}
			}
		case "data":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Data = d.Str()
		case "mimeType":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			v.MimeType = d.Str()
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x6 != 0x6 {
		switch {
		case seen&0x2 == 0:
			d.Missing(m, "data")
		case seen&0x4 == 0:
			d.Missing(m, "mimeType")
		}
	}
}
func (v *AudioContent) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *AudioContent) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = AudioContent{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *AudioContent) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v AudioContent) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *AudioContent) appendMembers(b []byte) []byte {
	if v.Annotations != nil {
		b = jx.Comma(b)
		b = append(b, `"annotations":`...)
		b = v.Annotations.appendJX(b)
	}
	b = jx.Comma(b)
	b = append(b, `"data":`...)
	b = jx.AppendString(b, v.Data)
	b = jx.Comma(b)
	b = append(b, `"mimeType":`...)
	b = jx.AppendString(b, v.MimeType)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ResourceLink struct {
	Annotations *Annotations `json:"annotations,omitzero"`
	Description Opt[string]  `json:"description,omitzero"`
	MimeType    Opt[string]  `json:"mimeType,omitzero"`
	Name        string       `json:"name"`
	Size        Opt[int64]   `json:"size,omitzero"`
	Title       Opt[string]  `json:"title,omitzero"`
	URI         string       `json:"uri"`
	Meta        RawMessage   `json:"_meta,omitzero"`
}

func (v *ResourceLink) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "annotations":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.Annotations = new(Annotations)
				v.Annotations.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Annotations = nil
				}
			}
		case "description":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.Description.V = d.Str()
				v.Description.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Description = Opt[string]{}
				}
			}
		case "mimeType":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.MimeType.V = d.Str()
				v.MimeType.OK = true
				if d.Failed() && d.Recover(mk) {
					v.MimeType = Opt[string]{}
				}
			}
		case "name":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			v.Name = d.Str()
		case "size":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				mk := d.Mark()
				v.Size.V = int64(d.Int(-9223372036854775808, 9223372036854775807))
				v.Size.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Size = Opt[int64]{}
				}
			}
		case "title":
			if seen&0x20 != 0 {
				d.Dup()
			}
			seen |= 0x20
			if !d.Null() {
				mk := d.Mark()
				v.Title.V = d.Str()
				v.Title.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Title = Opt[string]{}
				}
			}
		case "uri":
			if seen&0x40 != 0 {
				d.Dup()
			}
			seen |= 0x40
			v.URI = d.Str()
		case "_meta":
			if seen&0x80 != 0 {
				d.Dup()
			}
			seen |= 0x80
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x48 != 0x48 {
		switch {
		case seen&0x8 == 0:
			d.Missing(m, "name")
		case seen&0x40 == 0:
			d.Missing(m, "uri")
		}
	}
}
func (v *ResourceLink) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ResourceLink) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ResourceLink{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ResourceLink) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ResourceLink) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ResourceLink) appendMembers(b []byte) []byte {
	if v.Annotations != nil {
		b = jx.Comma(b)
		b = append(b, `"annotations":`...)
		b = v.Annotations.appendJX(b)
	}
	if v.Description.OK {
		b = jx.Comma(b)
		b = append(b, `"description":`...)
		b = jx.AppendString(b, v.Description.V)
	}
	if v.MimeType.OK {
		b = jx.Comma(b)
		b = append(b, `"mimeType":`...)
		b = jx.AppendString(b, v.MimeType.V)
	}
	b = jx.Comma(b)
	b = append(b, `"name":`...)
	b = jx.AppendString(b, v.Name)
	if v.Size.OK {
		b = jx.Comma(b)
		b = append(b, `"size":`...)
		b = jx.AppendInt(b, int64(v.Size.V))
	}
	if v.Title.OK {
		b = jx.Comma(b)
		b = append(b, `"title":`...)
		b = jx.AppendString(b, v.Title.V)
	}
	b = jx.Comma(b)
	b = append(b, `"uri":`...)
	b = jx.AppendString(b, v.URI)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type EmbeddedResourceResource interface {
	isEmbeddedResourceResource()
	appendMembers([]byte) []byte
}

// EmbeddedResourceResourceOther is a variant this version does not know; it is kept as received.
type EmbeddedResourceResourceOther struct {
	Tag string
	Raw RawMessage
}

func (v *EmbeddedResourceResourceOther) appendMembers(b []byte) []byte {
	return jx.AppendMembers(b, v.Raw)
}
func decodeEmbeddedResourceResource(d *jx.Dec) EmbeddedResourceResource {
	m := d.Mark()
	_ = m
	var tag []byte
	_ = m
	if d.HasKeys("text", "uri") {
		x := new(TextResourceContents)
		x.decodeJX(d)
		return x
	}
	if d.HasKeys("blob", "uri") {
		x := new(BlobResourceContents)
		x.decodeJX(d)
		return x
	}
	r := d.Raw()
	if d.Failed() {
		return nil
	}
	return &EmbeddedResourceResourceOther{Tag: string(tag), Raw: r}
}
func appendEmbeddedResourceResourceMembers(b []byte, v EmbeddedResourceResource) []byte {
	if v == nil {
		return b
	}
	return v.appendMembers(b)
}
func appendEmbeddedResourceResource(b []byte, v EmbeddedResourceResource) []byte {
	if o, ok := v.(*EmbeddedResourceResourceOther); ok {
		return append(b, o.Raw...)
	}
	b = append(b, '{')
	b = appendEmbeddedResourceResourceMembers(b, v)
	return append(b, '}')
}

// DecodeEmbeddedResourceResource reads one value, for use outside a generated struct.
func DecodeEmbeddedResourceResource(b []byte) (EmbeddedResourceResource, error) {
	d := jx.New(b)
	v := decodeEmbeddedResourceResource(d)
	d.End()
	return v, d.Err()
}
func AppendEmbeddedResourceResource(b []byte, v EmbeddedResourceResource) []byte {
	return appendEmbeddedResourceResource(b, v)
}

type TextResourceContents struct {
	MimeType Opt[string] `json:"mimeType,omitzero"`
	Text     string      `json:"text"`
	URI      string      `json:"uri"`
	Meta     RawMessage  `json:"_meta,omitzero"`
}

func (v *TextResourceContents) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "mimeType":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.MimeType.V = d.Str()
				v.MimeType.OK = true
				if d.Failed() && d.Recover(mk) {
					v.MimeType = Opt[string]{}
				}
			}
		case "text":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Text = d.Str()
		case "uri":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			v.URI = d.Str()
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x6 != 0x6 {
		switch {
		case seen&0x2 == 0:
			d.Missing(m, "text")
		case seen&0x4 == 0:
			d.Missing(m, "uri")
		}
	}
}
func (v *TextResourceContents) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *TextResourceContents) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = TextResourceContents{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *TextResourceContents) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v TextResourceContents) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *TextResourceContents) appendMembers(b []byte) []byte {
	if v.MimeType.OK {
		b = jx.Comma(b)
		b = append(b, `"mimeType":`...)
		b = jx.AppendString(b, v.MimeType.V)
	}
	b = jx.Comma(b)
	b = append(b, `"text":`...)
	b = jx.AppendString(b, v.Text)
	b = jx.Comma(b)
	b = append(b, `"uri":`...)
	b = jx.AppendString(b, v.URI)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type BlobResourceContents struct {
	Blob     string      `json:"blob"`
	MimeType Opt[string] `json:"mimeType,omitzero"`
	URI      string      `json:"uri"`
	Meta     RawMessage  `json:"_meta,omitzero"`
}

func (v *BlobResourceContents) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "blob":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Blob = d.Str()
		case "mimeType":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.MimeType.V = d.Str()
				v.MimeType.OK = true
				if d.Failed() && d.Recover(mk) {
					v.MimeType = Opt[string]{}
				}
			}
		case "uri":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			v.URI = d.Str()
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x5 != 0x5 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "blob")
		case seen&0x4 == 0:
			d.Missing(m, "uri")
		}
	}
}
func (v *BlobResourceContents) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *BlobResourceContents) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = BlobResourceContents{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *BlobResourceContents) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v BlobResourceContents) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *BlobResourceContents) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"blob":`...)
	b = jx.AppendString(b, v.Blob)
	if v.MimeType.OK {
		b = jx.Comma(b)
		b = append(b, `"mimeType":`...)
		b = jx.AppendString(b, v.MimeType.V)
	}
	b = jx.Comma(b)
	b = append(b, `"uri":`...)
	b = jx.AppendString(b, v.URI)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type EmbeddedResource struct {
	Annotations *Annotations             `json:"annotations,omitzero"`
	Resource    EmbeddedResourceResource `json:"resource"`
	Meta        RawMessage               `json:"_meta,omitzero"`
}

func (v *EmbeddedResource) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "annotations":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.Annotations = new(Annotations)
				v.Annotations.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Annotations = nil
				}
			}
		case "resource":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Resource = decodeEmbeddedResourceResource(d)
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x2 != 0x2 {
		switch {
		case seen&0x2 == 0:
			d.Missing(m, "resource")
		}
	}
}
func (v *EmbeddedResource) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *EmbeddedResource) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = EmbeddedResource{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *EmbeddedResource) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v EmbeddedResource) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *EmbeddedResource) appendMembers(b []byte) []byte {
	if v.Annotations != nil {
		b = jx.Comma(b)
		b = append(b, `"annotations":`...)
		b = v.Annotations.appendJX(b)
	}
	b = jx.Comma(b)
	b = append(b, `"resource":`...)
	b = appendEmbeddedResourceResource(b, v.Resource)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type Content struct {
	Content ContentBlock `json:"content"`
	Meta    RawMessage   `json:"_meta,omitzero"`
}

func (v *Content) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "content":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Content = decodeContentBlock(d)
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "content")
		}
	}
}
func (v *Content) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *Content) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = Content{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *Content) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v Content) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *Content) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"content":`...)
	b = appendContentBlock(b, v.Content)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type Diff struct {
	Path    string      `json:"path"`
	OldText Opt[string] `json:"oldText,omitzero"`
	NewText string      `json:"newText"`
	Meta    RawMessage  `json:"_meta,omitzero"`
}

func (v *Diff) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "path":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Path = d.Str()
		case "oldText":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.OldText.V = d.Str()
				v.OldText.OK = true
				if d.Failed() && d.Recover(mk) {
					v.OldText = Opt[string]{}
				}
			}
		case "newText":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			v.NewText = d.Str()
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x5 != 0x5 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "path")
		case seen&0x4 == 0:
			d.Missing(m, "newText")
		}
	}
}
func (v *Diff) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *Diff) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = Diff{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *Diff) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v Diff) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *Diff) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"path":`...)
	b = jx.AppendString(b, v.Path)
	if v.OldText.OK {
		b = jx.Comma(b)
		b = append(b, `"oldText":`...)
		b = jx.AppendString(b, v.OldText.V)
	}
	b = jx.Comma(b)
	b = append(b, `"newText":`...)
	b = jx.AppendString(b, v.NewText)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type TerminalID string
type Terminal struct {
	TerminalID TerminalID `json:"terminalId"`
	Meta       RawMessage `json:"_meta,omitzero"`
}

func (v *Terminal) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "terminalId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.TerminalID = TerminalID(d.Str())
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "terminalId")
		}
	}
}
func (v *Terminal) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *Terminal) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = Terminal{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *Terminal) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v Terminal) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *Terminal) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"terminalId":`...)
	b = jx.AppendString(b, string(v.TerminalID))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ToolCallLocation struct {
	Path string      `json:"path"`
	Line Opt[uint32] `json:"line,omitzero"`
	Meta RawMessage  `json:"_meta,omitzero"`
}

func (v *ToolCallLocation) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "path":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Path = d.Str()
		case "line":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.Line.V = uint32(d.Int(0, 4294967295))
				v.Line.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Line = Opt[uint32]{}
				}
			}
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "path")
		}
	}
}
func (v *ToolCallLocation) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ToolCallLocation) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ToolCallLocation{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ToolCallLocation) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ToolCallLocation) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ToolCallLocation) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"path":`...)
	b = jx.AppendString(b, v.Path)
	if v.Line.OK {
		b = jx.Comma(b)
		b = append(b, `"line":`...)
		b = jx.AppendUint(b, uint64(v.Line.V))
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type PermissionOption struct {
	OptionID PermissionOptionID   `json:"optionId"`
	Name     string               `json:"name"`
	Kind     PermissionOptionKind `json:"kind"`
	Meta     RawMessage           `json:"_meta,omitzero"`
}

func (v *PermissionOption) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "optionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.OptionID = PermissionOptionID(d.Str())
		case "name":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Name = d.Str()
		case "kind":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			v.Kind.decodeJX(d)
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x7 != 0x7 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "optionId")
		case seen&0x2 == 0:
			d.Missing(m, "name")
		case seen&0x4 == 0:
			d.Missing(m, "kind")
		}
	}
}
func (v *PermissionOption) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *PermissionOption) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = PermissionOption{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *PermissionOption) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v PermissionOption) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *PermissionOption) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"optionId":`...)
	b = jx.AppendString(b, string(v.OptionID))
	b = jx.Comma(b)
	b = append(b, `"name":`...)
	b = jx.AppendString(b, v.Name)
	b = jx.Comma(b)
	b = append(b, `"kind":`...)
	b = jx.AppendString(b, string(v.Kind))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type PermissionOptionID string
type PermissionOptionKind string

const (
	PermissionOptionKindAllowOnce    PermissionOptionKind = "allow_once"
	PermissionOptionKindAllowAlways  PermissionOptionKind = "allow_always"
	PermissionOptionKindRejectOnce   PermissionOptionKind = "reject_once"
	PermissionOptionKindRejectAlways PermissionOptionKind = "reject_always"
)

func (v *PermissionOptionKind) decodeJX(d *jx.Dec) {
	m := d.Mark()
	_ = m
	s := d.StrBytes()
	switch string(s) {
	case "allow_once":
		*v = PermissionOptionKindAllowOnce
	case "allow_always":
		*v = PermissionOptionKindAllowAlways
	case "reject_once":
		*v = PermissionOptionKindRejectOnce
	case "reject_always":
		*v = PermissionOptionKindRejectAlways
	default:
		if !d.Failed() {
			d.BadTag(m, "PermissionOptionKind", s)
		}
	}
}

type CreateTerminalRequest struct {
	SessionID       SessionID     `json:"sessionId"`
	Command         string        `json:"command"`
	Args            []string      `json:"args,omitzero"`
	Env             []EnvVariable `json:"env,omitzero"`
	Cwd             Opt[string]   `json:"cwd,omitzero"`
	OutputByteLimit Opt[uint64]   `json:"outputByteLimit,omitzero"`
	Meta            RawMessage    `json:"_meta,omitzero"`
}

func (v *CreateTerminalRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "command":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Command = d.Str()
		case "args":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				if d.Array() {
					v.Args = []string{}
					for d.More(']') {
						var e string
						e = d.Str()
						v.Args = append(v.Args, e)
					}
				}
			}
		case "env":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				if d.Array() {
					v.Env = []EnvVariable{}
					for d.More(']') {
						var e EnvVariable
						e.decodeJX(d)
						v.Env = append(v.Env, e)
					}
				}
			}
		case "cwd":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				v.Cwd.V = d.Str()
				v.Cwd.OK = true
			}
		case "outputByteLimit":
			if seen&0x20 != 0 {
				d.Dup()
			}
			seen |= 0x20
			if !d.Null() {
				v.OutputByteLimit.V = d.Uint64()
				v.OutputByteLimit.OK = true
			}
		case "_meta":
			if seen&0x40 != 0 {
				d.Dup()
			}
			seen |= 0x40
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		case seen&0x2 == 0:
			d.Missing(m, "command")
		}
	}
}
func (v *CreateTerminalRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *CreateTerminalRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = CreateTerminalRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *CreateTerminalRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v CreateTerminalRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *CreateTerminalRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	b = jx.Comma(b)
	b = append(b, `"command":`...)
	b = jx.AppendString(b, v.Command)
	if v.Args != nil {
		b = jx.Comma(b)
		b = append(b, `"args":`...)
		b = append(b, '[')
		for i := range v.Args {
			if i > 0 {
				b = append(b, ',')
			}
			b = jx.AppendString(b, v.Args[i])
		}
		b = append(b, ']')
	}
	if v.Env != nil {
		b = jx.Comma(b)
		b = append(b, `"env":`...)
		b = append(b, '[')
		for i := range v.Env {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.Env[i].appendJX(b)
		}
		b = append(b, ']')
	}
	if v.Cwd.OK {
		b = jx.Comma(b)
		b = append(b, `"cwd":`...)
		b = jx.AppendString(b, v.Cwd.V)
	}
	if v.OutputByteLimit.OK {
		b = jx.Comma(b)
		b = append(b, `"outputByteLimit":`...)
		b = jx.AppendUint(b, uint64(v.OutputByteLimit.V))
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type EnvVariable struct {
	Name  string     `json:"name"`
	Value string     `json:"value"`
	Meta  RawMessage `json:"_meta,omitzero"`
}

func (v *EnvVariable) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "name":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Name = d.Str()
		case "value":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Value = d.Str()
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "name")
		case seen&0x2 == 0:
			d.Missing(m, "value")
		}
	}
}
func (v *EnvVariable) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *EnvVariable) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = EnvVariable{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *EnvVariable) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v EnvVariable) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *EnvVariable) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"name":`...)
	b = jx.AppendString(b, v.Name)
	b = jx.Comma(b)
	b = append(b, `"value":`...)
	b = jx.AppendString(b, v.Value)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type TerminalOutputRequest struct {
	SessionID  SessionID  `json:"sessionId"`
	TerminalID TerminalID `json:"terminalId"`
	Meta       RawMessage `json:"_meta,omitzero"`
}

func (v *TerminalOutputRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "terminalId":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.TerminalID = TerminalID(d.Str())
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		case seen&0x2 == 0:
			d.Missing(m, "terminalId")
		}
	}
}
func (v *TerminalOutputRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *TerminalOutputRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = TerminalOutputRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *TerminalOutputRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v TerminalOutputRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *TerminalOutputRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	b = jx.Comma(b)
	b = append(b, `"terminalId":`...)
	b = jx.AppendString(b, string(v.TerminalID))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ReleaseTerminalRequest struct {
	SessionID  SessionID  `json:"sessionId"`
	TerminalID TerminalID `json:"terminalId"`
	Meta       RawMessage `json:"_meta,omitzero"`
}

func (v *ReleaseTerminalRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "terminalId":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.TerminalID = TerminalID(d.Str())
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		case seen&0x2 == 0:
			d.Missing(m, "terminalId")
		}
	}
}
func (v *ReleaseTerminalRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ReleaseTerminalRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ReleaseTerminalRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ReleaseTerminalRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ReleaseTerminalRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ReleaseTerminalRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	b = jx.Comma(b)
	b = append(b, `"terminalId":`...)
	b = jx.AppendString(b, string(v.TerminalID))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type WaitForTerminalExitRequest struct {
	SessionID  SessionID  `json:"sessionId"`
	TerminalID TerminalID `json:"terminalId"`
	Meta       RawMessage `json:"_meta,omitzero"`
}

func (v *WaitForTerminalExitRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "terminalId":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.TerminalID = TerminalID(d.Str())
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		case seen&0x2 == 0:
			d.Missing(m, "terminalId")
		}
	}
}
func (v *WaitForTerminalExitRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *WaitForTerminalExitRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = WaitForTerminalExitRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *WaitForTerminalExitRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v WaitForTerminalExitRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *WaitForTerminalExitRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	b = jx.Comma(b)
	b = append(b, `"terminalId":`...)
	b = jx.AppendString(b, string(v.TerminalID))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type KillTerminalRequest struct {
	SessionID  SessionID  `json:"sessionId"`
	TerminalID TerminalID `json:"terminalId"`
	Meta       RawMessage `json:"_meta,omitzero"`
}

func (v *KillTerminalRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "terminalId":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.TerminalID = TerminalID(d.Str())
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		case seen&0x2 == 0:
			d.Missing(m, "terminalId")
		}
	}
}
func (v *KillTerminalRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *KillTerminalRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = KillTerminalRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *KillTerminalRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v KillTerminalRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *KillTerminalRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	b = jx.Comma(b)
	b = append(b, `"terminalId":`...)
	b = jx.AppendString(b, string(v.TerminalID))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type CreateElicitationRequestVariant interface {
	isCreateElicitationRequestVariant()
	appendMembers([]byte) []byte
}

// CreateElicitationRequestVariantOther is a variant this version does not know; it is kept as received.
type CreateElicitationRequestVariantOther struct {
	Tag string
	Raw RawMessage
}

func (v *CreateElicitationRequestVariantOther) appendMembers(b []byte) []byte {
	return jx.AppendMembers(b, v.Raw)
}
func decodeCreateElicitationRequestVariant(d *jx.Dec) CreateElicitationRequestVariant {
	m := d.Mark()
	_ = m
	tag, found := d.Tag("mode")
	if !found {
		if !d.Failed() {
			if d.Peek() == '{' {
				d.Missing(m, "mode")
			} else {
				d.Obj()
			}
		}
		return nil
	}
	switch string(tag) {
	case "form":
		x := new(ElicitationFormMode)
		x.decodeJX(d)
		return x
	case "url":
		x := new(ElicitationURLMode)
		x.decodeJX(d)
		return x
	}
	r := d.Raw()
	if d.Failed() {
		return nil
	}
	return &CreateElicitationRequestVariantOther{Tag: string(tag), Raw: r}
}
func appendCreateElicitationRequestVariantMembers(b []byte, v CreateElicitationRequestVariant) []byte {
	if v == nil {
		return b
	}
	switch v.(type) {
	case *ElicitationFormMode:
		b = append(jx.Comma(b), `"mode":"form"`...)
	case *ElicitationURLMode:
		b = append(jx.Comma(b), `"mode":"url"`...)
	}
	return v.appendMembers(b)
}
func appendCreateElicitationRequestVariant(b []byte, v CreateElicitationRequestVariant) []byte {
	if o, ok := v.(*CreateElicitationRequestVariantOther); ok {
		return append(b, o.Raw...)
	}
	b = append(b, '{')
	b = appendCreateElicitationRequestVariantMembers(b, v)
	return append(b, '}')
}

// DecodeCreateElicitationRequestVariant reads one value, for use outside a generated struct.
func DecodeCreateElicitationRequestVariant(b []byte) (CreateElicitationRequestVariant, error) {
	d := jx.New(b)
	v := decodeCreateElicitationRequestVariant(d)
	d.End()
	return v, d.Err()
}
func AppendCreateElicitationRequestVariant(b []byte, v CreateElicitationRequestVariant) []byte {
	return appendCreateElicitationRequestVariant(b, v)
}

type CreateElicitationRequest struct {
	Message string     `json:"message"`
	Meta    RawMessage `json:"_meta,omitzero"`
	Variant CreateElicitationRequestVariant
}

func (v *CreateElicitationRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "message":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Message = d.Str()
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "message")
		}
	}
	if d.Failed() {
		return
	}
	e := d.Mark()
	d.Rewind(m)
	v.Variant = decodeCreateElicitationRequestVariant(d)
	if !d.Failed() {
		d.Rewind(e)
	}
}
func (v *CreateElicitationRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *CreateElicitationRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = CreateElicitationRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *CreateElicitationRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v CreateElicitationRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *CreateElicitationRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"message":`...)
	b = jx.AppendString(b, v.Message)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	b = appendCreateElicitationRequestVariantMembers(b, v.Variant)
	return b
}

type ElicitationSessionScope struct {
	SessionID  SessionID       `json:"sessionId"`
	ToolCallID Opt[ToolCallID] `json:"toolCallId,omitzero"`
}

func (v *ElicitationSessionScope) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "toolCallId":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.ToolCallID.V = ToolCallID(d.Str())
				v.ToolCallID.OK = true
				if d.Failed() && d.Recover(mk) {
					v.ToolCallID = Opt[ToolCallID]{}
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		}
	}
}
func (v *ElicitationSessionScope) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ElicitationSessionScope) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ElicitationSessionScope{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ElicitationSessionScope) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ElicitationSessionScope) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ElicitationSessionScope) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	if v.ToolCallID.OK {
		b = jx.Comma(b)
		b = append(b, `"toolCallId":`...)
		b = jx.AppendString(b, string(v.ToolCallID.V))
	}
	return b
}

type ElicitationRequestScope struct {
	RequestID RequestID `json:"requestId"`
}

func (v *ElicitationRequestScope) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "requestId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.RequestID.decodeJX(d)
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "requestId")
		}
	}
}
func (v *ElicitationRequestScope) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ElicitationRequestScope) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ElicitationRequestScope{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ElicitationRequestScope) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ElicitationRequestScope) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ElicitationRequestScope) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"requestId":`...)
	b = v.RequestID.appendJX(b)
	return b
}

type ElicitationSchema struct {
	Type        Opt[ElicitationSchemaType]           `json:"type,omitzero"`
	Title       Opt[string]                          `json:"title,omitzero"`
	Properties  map[string]ElicitationPropertySchema `json:"properties,omitzero"`
	Required    []string                             `json:"required,omitzero"`
	Description Opt[string]                          `json:"description,omitzero"`
	Meta        RawMessage                           `json:"_meta,omitzero"`
}

func (v *ElicitationSchema) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "type":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			{
				mk := d.Mark()
				v.Type.V.decodeJX(d)
				v.Type.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Type = Opt[ElicitationSchemaType]{}
				}
			}
		case "title":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.Title.V = d.Str()
				v.Title.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Title = Opt[string]{}
				}
			}
		case "properties":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if d.Obj() {
				v.Properties = map[string]ElicitationPropertySchema{}
				for d.More('}') {
					k := string(d.Key())
					var e ElicitationPropertySchema
					e = decodeElicitationPropertySchema(d)
					v.Properties[k] = e
				}
			}
		case "required":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				if d.Array() {
					v.Required = []string{}
					for d.More(']') {
						var e string
						e = d.Str()
						v.Required = append(v.Required, e)
					}
				}
			}
		case "description":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				mk := d.Mark()
				v.Description.V = d.Str()
				v.Description.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Description = Opt[string]{}
				}
			}
		case "_meta":
			if seen&0x20 != 0 {
				d.Dup()
			}
			seen |= 0x20
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *ElicitationSchema) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ElicitationSchema) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ElicitationSchema{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ElicitationSchema) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ElicitationSchema) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ElicitationSchema) appendMembers(b []byte) []byte {
	if v.Type.OK {
		b = jx.Comma(b)
		b = append(b, `"type":`...)
		b = jx.AppendString(b, string(v.Type.V))
	}
	if v.Title.OK {
		b = jx.Comma(b)
		b = append(b, `"title":`...)
		b = jx.AppendString(b, v.Title.V)
	}
	if v.Properties != nil {
		b = jx.Comma(b)
		b = append(b, `"properties":`...)
		b = append(b, '{')
		for _, k := range jx.Keys(v.Properties) {
			b = jx.Comma(b)
			b = jx.AppendString(b, k)
			b = append(b, ':')
			e := v.Properties[k]
			b = appendElicitationPropertySchema(b, e)
		}
		b = append(b, '}')
	}
	if v.Required != nil {
		b = jx.Comma(b)
		b = append(b, `"required":`...)
		b = append(b, '[')
		for i := range v.Required {
			if i > 0 {
				b = append(b, ',')
			}
			b = jx.AppendString(b, v.Required[i])
		}
		b = append(b, ']')
	}
	if v.Description.OK {
		b = jx.Comma(b)
		b = append(b, `"description":`...)
		b = jx.AppendString(b, v.Description.V)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ElicitationSchemaType string

const (
	ElicitationSchemaTypeObject ElicitationSchemaType = "object"
)

func (v *ElicitationSchemaType) decodeJX(d *jx.Dec) {
	m := d.Mark()
	_ = m
	s := d.StrBytes()
	switch string(s) {
	case "object":
		*v = ElicitationSchemaTypeObject
	default:
		if !d.Failed() {
			d.BadTag(m, "ElicitationSchemaType", s)
		}
	}
}

type ElicitationPropertySchema interface {
	isElicitationPropertySchema()
	appendMembers([]byte) []byte
}

// ElicitationPropertySchemaOther is a variant this version does not know; it is kept as received.
type ElicitationPropertySchemaOther struct {
	Tag string
	Raw RawMessage
}

func (v *ElicitationPropertySchemaOther) appendMembers(b []byte) []byte {
	return jx.AppendMembers(b, v.Raw)
}
func decodeElicitationPropertySchema(d *jx.Dec) ElicitationPropertySchema {
	m := d.Mark()
	_ = m
	tag, found := d.Tag("type")
	if !found {
		if !d.Failed() {
			if d.Peek() == '{' {
				d.Missing(m, "type")
			} else {
				d.Obj()
			}
		}
		return nil
	}
	switch string(tag) {
	case "string":
		x := new(StringPropertySchema)
		x.decodeJX(d)
		return x
	case "number":
		x := new(NumberPropertySchema)
		x.decodeJX(d)
		return x
	case "integer":
		x := new(IntegerPropertySchema)
		x.decodeJX(d)
		return x
	case "boolean":
		x := new(BooleanPropertySchema)
		x.decodeJX(d)
		return x
	case "array":
		x := new(MultiSelectPropertySchema)
		x.decodeJX(d)
		return x
	}
	r := d.Raw()
	if d.Failed() {
		return nil
	}
	return &ElicitationPropertySchemaOther{Tag: string(tag), Raw: r}
}
func appendElicitationPropertySchemaMembers(b []byte, v ElicitationPropertySchema) []byte {
	if v == nil {
		return b
	}
	switch v.(type) {
	case *StringPropertySchema:
		b = append(jx.Comma(b), `"type":"string"`...)
	case *NumberPropertySchema:
		b = append(jx.Comma(b), `"type":"number"`...)
	case *IntegerPropertySchema:
		b = append(jx.Comma(b), `"type":"integer"`...)
	case *BooleanPropertySchema:
		b = append(jx.Comma(b), `"type":"boolean"`...)
	case *MultiSelectPropertySchema:
		b = append(jx.Comma(b), `"type":"array"`...)
	}
	return v.appendMembers(b)
}
func appendElicitationPropertySchema(b []byte, v ElicitationPropertySchema) []byte {
	if o, ok := v.(*ElicitationPropertySchemaOther); ok {
		return append(b, o.Raw...)
	}
	b = append(b, '{')
	b = appendElicitationPropertySchemaMembers(b, v)
	return append(b, '}')
}

// DecodeElicitationPropertySchema reads one value, for use outside a generated struct.
func DecodeElicitationPropertySchema(b []byte) (ElicitationPropertySchema, error) {
	d := jx.New(b)
	v := decodeElicitationPropertySchema(d)
	d.End()
	return v, d.Err()
}
func AppendElicitationPropertySchema(b []byte, v ElicitationPropertySchema) []byte {
	return appendElicitationPropertySchema(b, v)
}

type StringFormat string

const (
	StringFormatEmail    StringFormat = "email"
	StringFormatURI      StringFormat = "uri"
	StringFormatDate     StringFormat = "date"
	StringFormatDateTime StringFormat = "date-time"
)

func (v *StringFormat) decodeJX(d *jx.Dec) {
	m := d.Mark()
	_ = m
	s := d.StrBytes()
	switch string(s) {
	case "email":
		*v = StringFormatEmail
	case "uri":
		*v = StringFormatURI
	case "date":
		*v = StringFormatDate
	case "date-time":
		*v = StringFormatDateTime
	default:
		if !d.Failed() {
			d.BadTag(m, "StringFormat", s)
		}
	}
}

type EnumOption struct {
	Const       string      `json:"const"`
	Title       string      `json:"title"`
	Description Opt[string] `json:"description,omitzero"`
	Meta        RawMessage  `json:"_meta,omitzero"`
}

func (v *EnumOption) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "const":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Const = d.Str()
		case "title":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Title = d.Str()
		case "description":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.Description.V = d.Str()
				v.Description.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Description = Opt[string]{}
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "const")
		case seen&0x2 == 0:
			d.Missing(m, "title")
		}
	}
}
func (v *EnumOption) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *EnumOption) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = EnumOption{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *EnumOption) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v EnumOption) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *EnumOption) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"const":`...)
	b = jx.AppendString(b, v.Const)
	b = jx.Comma(b)
	b = append(b, `"title":`...)
	b = jx.AppendString(b, v.Title)
	if v.Description.OK {
		b = jx.Comma(b)
		b = append(b, `"description":`...)
		b = jx.AppendString(b, v.Description.V)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type StringPropertySchema struct {
	Title       Opt[string]       `json:"title,omitzero"`
	Description Opt[string]       `json:"description,omitzero"`
	MinLength   Opt[uint32]       `json:"minLength,omitzero"`
	MaxLength   Opt[uint32]       `json:"maxLength,omitzero"`
	Pattern     Opt[string]       `json:"pattern,omitzero"`
	Format      Opt[StringFormat] `json:"format,omitzero"`
	Default     Opt[string]       `json:"default,omitzero"`
	Enum        []string          `json:"enum,omitzero"`
	OneOf       []EnumOption      `json:"oneOf,omitzero"`
	Meta        RawMessage        `json:"_meta,omitzero"`
}

func (v *StringPropertySchema) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "title":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.Title.V = d.Str()
				v.Title.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Title = Opt[string]{}
				}
			}
		case "description":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.Description.V = d.Str()
				v.Description.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Description = Opt[string]{}
				}
			}
		case "minLength":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				v.MinLength.V = uint32(d.Int(0, 4294967295))
				v.MinLength.OK = true
			}
		case "maxLength":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				v.MaxLength.V = uint32(d.Int(0, 4294967295))
				v.MaxLength.OK = true
			}
		case "pattern":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				v.Pattern.V = d.Str()
				v.Pattern.OK = true
			}
		case "format":
			if seen&0x20 != 0 {
				d.Dup()
			}
			seen |= 0x20
			if !d.Null() {
				v.Format.V.decodeJX(d)
				v.Format.OK = true
			}
		case "default":
			if seen&0x40 != 0 {
				d.Dup()
			}
			seen |= 0x40
			if !d.Null() {
				mk := d.Mark()
				v.Default.V = d.Str()
				v.Default.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Default = Opt[string]{}
				}
			}
		case "enum":
			if seen&0x80 != 0 {
				d.Dup()
			}
			seen |= 0x80
			if !d.Null() {
				if d.Array() {
					v.Enum = []string{}
					for d.More(']') {
						var e string
						e = d.Str()
						v.Enum = append(v.Enum, e)
					}
				}
			}
		case "oneOf":
			if seen&0x100 != 0 {
				d.Dup()
			}
			seen |= 0x100
			if !d.Null() {
				if d.Array() {
					v.OneOf = []EnumOption{}
					for d.More(']') {
						var e EnumOption
						e.decodeJX(d)
						v.OneOf = append(v.OneOf, e)
					}
				}
			}
		case "_meta":
			if seen&0x200 != 0 {
				d.Dup()
			}
			seen |= 0x200
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *StringPropertySchema) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *StringPropertySchema) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = StringPropertySchema{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *StringPropertySchema) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v StringPropertySchema) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *StringPropertySchema) appendMembers(b []byte) []byte {
	if v.Title.OK {
		b = jx.Comma(b)
		b = append(b, `"title":`...)
		b = jx.AppendString(b, v.Title.V)
	}
	if v.Description.OK {
		b = jx.Comma(b)
		b = append(b, `"description":`...)
		b = jx.AppendString(b, v.Description.V)
	}
	if v.MinLength.OK {
		b = jx.Comma(b)
		b = append(b, `"minLength":`...)
		b = jx.AppendUint(b, uint64(v.MinLength.V))
	}
	if v.MaxLength.OK {
		b = jx.Comma(b)
		b = append(b, `"maxLength":`...)
		b = jx.AppendUint(b, uint64(v.MaxLength.V))
	}
	if v.Pattern.OK {
		b = jx.Comma(b)
		b = append(b, `"pattern":`...)
		b = jx.AppendString(b, v.Pattern.V)
	}
	if v.Format.OK {
		b = jx.Comma(b)
		b = append(b, `"format":`...)
		b = jx.AppendString(b, string(v.Format.V))
	}
	if v.Default.OK {
		b = jx.Comma(b)
		b = append(b, `"default":`...)
		b = jx.AppendString(b, v.Default.V)
	}
	if v.Enum != nil {
		b = jx.Comma(b)
		b = append(b, `"enum":`...)
		b = append(b, '[')
		for i := range v.Enum {
			if i > 0 {
				b = append(b, ',')
			}
			b = jx.AppendString(b, v.Enum[i])
		}
		b = append(b, ']')
	}
	if v.OneOf != nil {
		b = jx.Comma(b)
		b = append(b, `"oneOf":`...)
		b = append(b, '[')
		for i := range v.OneOf {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.OneOf[i].appendJX(b)
		}
		b = append(b, ']')
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type NumberPropertySchema struct {
	Title       Opt[string]  `json:"title,omitzero"`
	Description Opt[string]  `json:"description,omitzero"`
	Minimum     Opt[float64] `json:"minimum,omitzero"`
	Maximum     Opt[float64] `json:"maximum,omitzero"`
	Default     Opt[float64] `json:"default,omitzero"`
	Meta        RawMessage   `json:"_meta,omitzero"`
}

func (v *NumberPropertySchema) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "title":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.Title.V = d.Str()
				v.Title.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Title = Opt[string]{}
				}
			}
		case "description":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.Description.V = d.Str()
				v.Description.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Description = Opt[string]{}
				}
			}
		case "minimum":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				v.Minimum.V = d.Float()
				v.Minimum.OK = true
			}
		case "maximum":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				v.Maximum.V = d.Float()
				v.Maximum.OK = true
			}
		case "default":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				mk := d.Mark()
				v.Default.V = d.Float()
				v.Default.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Default = Opt[float64]{}
				}
			}
		case "_meta":
			if seen&0x20 != 0 {
				d.Dup()
			}
			seen |= 0x20
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *NumberPropertySchema) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *NumberPropertySchema) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = NumberPropertySchema{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *NumberPropertySchema) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v NumberPropertySchema) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *NumberPropertySchema) appendMembers(b []byte) []byte {
	if v.Title.OK {
		b = jx.Comma(b)
		b = append(b, `"title":`...)
		b = jx.AppendString(b, v.Title.V)
	}
	if v.Description.OK {
		b = jx.Comma(b)
		b = append(b, `"description":`...)
		b = jx.AppendString(b, v.Description.V)
	}
	if v.Minimum.OK {
		b = jx.Comma(b)
		b = append(b, `"minimum":`...)
		b = jx.AppendFloat(b, v.Minimum.V)
	}
	if v.Maximum.OK {
		b = jx.Comma(b)
		b = append(b, `"maximum":`...)
		b = jx.AppendFloat(b, v.Maximum.V)
	}
	if v.Default.OK {
		b = jx.Comma(b)
		b = append(b, `"default":`...)
		b = jx.AppendFloat(b, v.Default.V)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type IntegerPropertySchema struct {
	Title       Opt[string] `json:"title,omitzero"`
	Description Opt[string] `json:"description,omitzero"`
	Minimum     Opt[int64]  `json:"minimum,omitzero"`
	Maximum     Opt[int64]  `json:"maximum,omitzero"`
	Default     Opt[int64]  `json:"default,omitzero"`
	Meta        RawMessage  `json:"_meta,omitzero"`
}

func (v *IntegerPropertySchema) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "title":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.Title.V = d.Str()
				v.Title.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Title = Opt[string]{}
				}
			}
		case "description":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.Description.V = d.Str()
				v.Description.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Description = Opt[string]{}
				}
			}
		case "minimum":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				v.Minimum.V = int64(d.Int(-9223372036854775808, 9223372036854775807))
				v.Minimum.OK = true
			}
		case "maximum":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				v.Maximum.V = int64(d.Int(-9223372036854775808, 9223372036854775807))
				v.Maximum.OK = true
			}
		case "default":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				mk := d.Mark()
				v.Default.V = int64(d.Int(-9223372036854775808, 9223372036854775807))
				v.Default.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Default = Opt[int64]{}
				}
			}
		case "_meta":
			if seen&0x20 != 0 {
				d.Dup()
			}
			seen |= 0x20
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *IntegerPropertySchema) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *IntegerPropertySchema) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = IntegerPropertySchema{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *IntegerPropertySchema) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v IntegerPropertySchema) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *IntegerPropertySchema) appendMembers(b []byte) []byte {
	if v.Title.OK {
		b = jx.Comma(b)
		b = append(b, `"title":`...)
		b = jx.AppendString(b, v.Title.V)
	}
	if v.Description.OK {
		b = jx.Comma(b)
		b = append(b, `"description":`...)
		b = jx.AppendString(b, v.Description.V)
	}
	if v.Minimum.OK {
		b = jx.Comma(b)
		b = append(b, `"minimum":`...)
		b = jx.AppendInt(b, int64(v.Minimum.V))
	}
	if v.Maximum.OK {
		b = jx.Comma(b)
		b = append(b, `"maximum":`...)
		b = jx.AppendInt(b, int64(v.Maximum.V))
	}
	if v.Default.OK {
		b = jx.Comma(b)
		b = append(b, `"default":`...)
		b = jx.AppendInt(b, int64(v.Default.V))
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type BooleanPropertySchema struct {
	Title       Opt[string] `json:"title,omitzero"`
	Description Opt[string] `json:"description,omitzero"`
	Default     Opt[bool]   `json:"default,omitzero"`
	Meta        RawMessage  `json:"_meta,omitzero"`
}

func (v *BooleanPropertySchema) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "title":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.Title.V = d.Str()
				v.Title.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Title = Opt[string]{}
				}
			}
		case "description":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.Description.V = d.Str()
				v.Description.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Description = Opt[string]{}
				}
			}
		case "default":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.Default.V = d.Bool()
				v.Default.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Default = Opt[bool]{}
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *BooleanPropertySchema) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *BooleanPropertySchema) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = BooleanPropertySchema{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *BooleanPropertySchema) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v BooleanPropertySchema) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *BooleanPropertySchema) appendMembers(b []byte) []byte {
	if v.Title.OK {
		b = jx.Comma(b)
		b = append(b, `"title":`...)
		b = jx.AppendString(b, v.Title.V)
	}
	if v.Description.OK {
		b = jx.Comma(b)
		b = append(b, `"description":`...)
		b = jx.AppendString(b, v.Description.V)
	}
	if v.Default.OK {
		b = jx.Comma(b)
		b = append(b, `"default":`...)
		b = jx.AppendBool(b, v.Default.V)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type MultiSelectItems interface {
	isMultiSelectItems()
	appendMembers([]byte) []byte
}

// MultiSelectItemsOther is a variant this version does not know; it is kept as received.
type MultiSelectItemsOther struct {
	Tag string
	Raw RawMessage
}

func (v *MultiSelectItemsOther) appendMembers(b []byte) []byte {
	return jx.AppendMembers(b, v.Raw)
}
func decodeMultiSelectItems(d *jx.Dec) MultiSelectItems {
	m := d.Mark()
	_ = m
	tag, found := d.Tag("type")
	_ = found
	switch string(tag) {
	case "string":
		x := new(StringMultiSelectItems)
		x.decodeJX(d)
		return x
	case "":
		x := new(TitledMultiSelectItems)
		x.decodeJX(d)
		return x
	}
	r := d.Raw()
	if d.Failed() {
		return nil
	}
	return &MultiSelectItemsOther{Tag: string(tag), Raw: r}
}
func appendMultiSelectItemsMembers(b []byte, v MultiSelectItems) []byte {
	if v == nil {
		return b
	}
	switch v.(type) {
	case *StringMultiSelectItems:
		b = append(jx.Comma(b), `"type":"string"`...)
	}
	return v.appendMembers(b)
}
func appendMultiSelectItems(b []byte, v MultiSelectItems) []byte {
	if o, ok := v.(*MultiSelectItemsOther); ok {
		return append(b, o.Raw...)
	}
	b = append(b, '{')
	b = appendMultiSelectItemsMembers(b, v)
	return append(b, '}')
}

// DecodeMultiSelectItems reads one value, for use outside a generated struct.
func DecodeMultiSelectItems(b []byte) (MultiSelectItems, error) {
	d := jx.New(b)
	v := decodeMultiSelectItems(d)
	d.End()
	return v, d.Err()
}
func AppendMultiSelectItems(b []byte, v MultiSelectItems) []byte {
	return appendMultiSelectItems(b, v)
}

type StringMultiSelectItems struct {
	Enum []string   `json:"enum"`
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *StringMultiSelectItems) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "enum":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if d.Array() {
				v.Enum = []string{}
				for d.More(']') {
					var e string
					e = d.Str()
					v.Enum = append(v.Enum, e)
				}
			}
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "enum")
		}
	}
}
func (v *StringMultiSelectItems) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *StringMultiSelectItems) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = StringMultiSelectItems{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *StringMultiSelectItems) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v StringMultiSelectItems) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *StringMultiSelectItems) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"enum":`...)
	b = append(b, '[')
	for i := range v.Enum {
		if i > 0 {
			b = append(b, ',')
		}
		b = jx.AppendString(b, v.Enum[i])
	}
	b = append(b, ']')
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type TitledMultiSelectItems struct {
	AnyOf []EnumOption `json:"anyOf"`
	Meta  RawMessage   `json:"_meta,omitzero"`
}

func (v *TitledMultiSelectItems) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "anyOf":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if d.Array() {
				v.AnyOf = []EnumOption{}
				for d.More(']') {
					var e EnumOption
					e.decodeJX(d)
					v.AnyOf = append(v.AnyOf, e)
				}
			}
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "anyOf")
		}
	}
}
func (v *TitledMultiSelectItems) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *TitledMultiSelectItems) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = TitledMultiSelectItems{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *TitledMultiSelectItems) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v TitledMultiSelectItems) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *TitledMultiSelectItems) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"anyOf":`...)
	b = append(b, '[')
	for i := range v.AnyOf {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.AnyOf[i].appendJX(b)
	}
	b = append(b, ']')
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type MultiSelectPropertySchema struct {
	Title       Opt[string]      `json:"title,omitzero"`
	Description Opt[string]      `json:"description,omitzero"`
	MinItems    Opt[uint64]      `json:"minItems,omitzero"`
	MaxItems    Opt[uint64]      `json:"maxItems,omitzero"`
	Items       MultiSelectItems `json:"items"`
	Default     []string         `json:"default,omitzero"`
	Meta        RawMessage       `json:"_meta,omitzero"`
}

func (v *MultiSelectPropertySchema) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "title":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.Title.V = d.Str()
				v.Title.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Title = Opt[string]{}
				}
			}
		case "description":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.Description.V = d.Str()
				v.Description.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Description = Opt[string]{}
				}
			}
		case "minItems":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				v.MinItems.V = d.Uint64()
				v.MinItems.OK = true
			}
		case "maxItems":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				v.MaxItems.V = d.Uint64()
				v.MaxItems.OK = true
			}
		case "items":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			v.Items = decodeMultiSelectItems(d)
		case "default":
			if seen&0x20 != 0 {
				d.Dup()
			}
			seen |= 0x20
			if !d.Null() {
				mk := d.Mark()
				if d.Array() {
					v.Default = []string{}
					for d.More(']') {
						mk := d.Mark()
						var e string
						e = d.Str()
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.Default = append(v.Default, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.Default = nil
				}
			}
		case "_meta":
			if seen&0x40 != 0 {
				d.Dup()
			}
			seen |= 0x40
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x10 != 0x10 {
		switch {
		case seen&0x10 == 0:
			d.Missing(m, "items")
		}
	}
}
func (v *MultiSelectPropertySchema) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *MultiSelectPropertySchema) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = MultiSelectPropertySchema{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *MultiSelectPropertySchema) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v MultiSelectPropertySchema) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *MultiSelectPropertySchema) appendMembers(b []byte) []byte {
	if v.Title.OK {
		b = jx.Comma(b)
		b = append(b, `"title":`...)
		b = jx.AppendString(b, v.Title.V)
	}
	if v.Description.OK {
		b = jx.Comma(b)
		b = append(b, `"description":`...)
		b = jx.AppendString(b, v.Description.V)
	}
	if v.MinItems.OK {
		b = jx.Comma(b)
		b = append(b, `"minItems":`...)
		b = jx.AppendUint(b, uint64(v.MinItems.V))
	}
	if v.MaxItems.OK {
		b = jx.Comma(b)
		b = append(b, `"maxItems":`...)
		b = jx.AppendUint(b, uint64(v.MaxItems.V))
	}
	b = jx.Comma(b)
	b = append(b, `"items":`...)
	b = appendMultiSelectItems(b, v.Items)
	if v.Default != nil {
		b = jx.Comma(b)
		b = append(b, `"default":`...)
		b = append(b, '[')
		for i := range v.Default {
			if i > 0 {
				b = append(b, ',')
			}
			b = jx.AppendString(b, v.Default[i])
		}
		b = append(b, ']')
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ElicitationFormModeVariant interface {
	isElicitationFormModeVariant()
	appendMembers([]byte) []byte
}

// ElicitationFormModeVariantOther is a variant this version does not know; it is kept as received.
type ElicitationFormModeVariantOther struct {
	Tag string
	Raw RawMessage
}

func (v *ElicitationFormModeVariantOther) appendMembers(b []byte) []byte {
	return jx.AppendMembers(b, v.Raw)
}
func decodeElicitationFormModeVariant(d *jx.Dec) ElicitationFormModeVariant {
	m := d.Mark()
	_ = m
	var tag []byte
	_ = m
	if d.HasKeys("sessionId") {
		x := new(ElicitationSessionScope)
		x.decodeJX(d)
		return x
	}
	if d.HasKeys("requestId") {
		x := new(ElicitationRequestScope)
		x.decodeJX(d)
		return x
	}
	r := d.Raw()
	if d.Failed() {
		return nil
	}
	return &ElicitationFormModeVariantOther{Tag: string(tag), Raw: r}
}
func appendElicitationFormModeVariantMembers(b []byte, v ElicitationFormModeVariant) []byte {
	if v == nil {
		return b
	}
	return v.appendMembers(b)
}
func appendElicitationFormModeVariant(b []byte, v ElicitationFormModeVariant) []byte {
	if o, ok := v.(*ElicitationFormModeVariantOther); ok {
		return append(b, o.Raw...)
	}
	b = append(b, '{')
	b = appendElicitationFormModeVariantMembers(b, v)
	return append(b, '}')
}

// DecodeElicitationFormModeVariant reads one value, for use outside a generated struct.
func DecodeElicitationFormModeVariant(b []byte) (ElicitationFormModeVariant, error) {
	d := jx.New(b)
	v := decodeElicitationFormModeVariant(d)
	d.End()
	return v, d.Err()
}
func AppendElicitationFormModeVariant(b []byte, v ElicitationFormModeVariant) []byte {
	return appendElicitationFormModeVariant(b, v)
}

type ElicitationFormMode struct {
	RequestedSchema ElicitationSchema `json:"requestedSchema"`
	Variant         ElicitationFormModeVariant
}

func (v *ElicitationFormMode) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "requestedSchema":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.RequestedSchema.decodeJX(d)
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "requestedSchema")
		}
	}
	if d.Failed() {
		return
	}
	e := d.Mark()
	d.Rewind(m)
	v.Variant = decodeElicitationFormModeVariant(d)
	if !d.Failed() {
		d.Rewind(e)
	}
}
func (v *ElicitationFormMode) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ElicitationFormMode) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ElicitationFormMode{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ElicitationFormMode) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ElicitationFormMode) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ElicitationFormMode) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"requestedSchema":`...)
	b = v.RequestedSchema.appendJX(b)
	b = appendElicitationFormModeVariantMembers(b, v.Variant)
	return b
}

type ElicitationID string
type ElicitationURLModeVariant interface {
	isElicitationURLModeVariant()
	appendMembers([]byte) []byte
}

// ElicitationURLModeVariantOther is a variant this version does not know; it is kept as received.
type ElicitationURLModeVariantOther struct {
	Tag string
	Raw RawMessage
}

func (v *ElicitationURLModeVariantOther) appendMembers(b []byte) []byte {
	return jx.AppendMembers(b, v.Raw)
}
func decodeElicitationURLModeVariant(d *jx.Dec) ElicitationURLModeVariant {
	m := d.Mark()
	_ = m
	var tag []byte
	_ = m
	if d.HasKeys("sessionId") {
		x := new(ElicitationSessionScope)
		x.decodeJX(d)
		return x
	}
	if d.HasKeys("requestId") {
		x := new(ElicitationRequestScope)
		x.decodeJX(d)
		return x
	}
	r := d.Raw()
	if d.Failed() {
		return nil
	}
	return &ElicitationURLModeVariantOther{Tag: string(tag), Raw: r}
}
func appendElicitationURLModeVariantMembers(b []byte, v ElicitationURLModeVariant) []byte {
	if v == nil {
		return b
	}
	return v.appendMembers(b)
}
func appendElicitationURLModeVariant(b []byte, v ElicitationURLModeVariant) []byte {
	if o, ok := v.(*ElicitationURLModeVariantOther); ok {
		return append(b, o.Raw...)
	}
	b = append(b, '{')
	b = appendElicitationURLModeVariantMembers(b, v)
	return append(b, '}')
}

// DecodeElicitationURLModeVariant reads one value, for use outside a generated struct.
func DecodeElicitationURLModeVariant(b []byte) (ElicitationURLModeVariant, error) {
	d := jx.New(b)
	v := decodeElicitationURLModeVariant(d)
	d.End()
	return v, d.Err()
}
func AppendElicitationURLModeVariant(b []byte, v ElicitationURLModeVariant) []byte {
	return appendElicitationURLModeVariant(b, v)
}

type ElicitationURLMode struct {
	ElicitationID ElicitationID `json:"elicitationId"`
	URL           string        `json:"url"`
	Variant       ElicitationURLModeVariant
}

func (v *ElicitationURLMode) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "elicitationId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.ElicitationID = ElicitationID(d.Str())
		case "url":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.URL = d.Str()
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "elicitationId")
		case seen&0x2 == 0:
			d.Missing(m, "url")
		}
	}
	if d.Failed() {
		return
	}
	e := d.Mark()
	d.Rewind(m)
	v.Variant = decodeElicitationURLModeVariant(d)
	if !d.Failed() {
		d.Rewind(e)
	}
}
func (v *ElicitationURLMode) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ElicitationURLMode) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ElicitationURLMode{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ElicitationURLMode) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ElicitationURLMode) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ElicitationURLMode) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"elicitationId":`...)
	b = jx.AppendString(b, string(v.ElicitationID))
	b = jx.Comma(b)
	b = append(b, `"url":`...)
	b = jx.AppendString(b, v.URL)
	b = appendElicitationURLModeVariantMembers(b, v.Variant)
	return b
}

type ExtRequest = RawMessage
type InitializeResponse struct {
	ProtocolVersion   ProtocolVersion    `json:"protocolVersion"`
	AgentCapabilities *AgentCapabilities `json:"agentCapabilities,omitzero"`
	AuthMethods       []AuthMethod       `json:"authMethods,omitzero"`
	AgentInfo         *Implementation    `json:"agentInfo,omitzero"`
	Meta              RawMessage         `json:"_meta,omitzero"`
}

func (v *InitializeResponse) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "protocolVersion":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.ProtocolVersion = ProtocolVersion(d.Int(0, 65535))
		case "agentCapabilities":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			{
				mk := d.Mark()
				v.AgentCapabilities = new(AgentCapabilities)
				v.AgentCapabilities.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.AgentCapabilities = nil
				}
			}
		case "authMethods":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			{
				mk := d.Mark()
				if d.Array() {
					v.AuthMethods = []AuthMethod{}
					for d.More(']') {
						mk := d.Mark()
						var e AuthMethod
						e = decodeAuthMethod(d)
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.AuthMethods = append(v.AuthMethods, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.AuthMethods = nil
				}
			}
		case "agentInfo":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				v.AgentInfo = new(Implementation)
				v.AgentInfo.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.AgentInfo = nil
				}
			}
		case "_meta":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "protocolVersion")
		}
	}
}
func (v *InitializeResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *InitializeResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = InitializeResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *InitializeResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v InitializeResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *InitializeResponse) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"protocolVersion":`...)
	b = jx.AppendInt(b, int64(v.ProtocolVersion))
	if v.AgentCapabilities != nil {
		b = jx.Comma(b)
		b = append(b, `"agentCapabilities":`...)
		b = v.AgentCapabilities.appendJX(b)
	}
	if v.AuthMethods != nil {
		b = jx.Comma(b)
		b = append(b, `"authMethods":`...)
		b = append(b, '[')
		for i := range v.AuthMethods {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendAuthMethod(b, v.AuthMethods[i])
		}
		b = append(b, ']')
	}
	if v.AgentInfo != nil {
		b = jx.Comma(b)
		b = append(b, `"agentInfo":`...)
		b = v.AgentInfo.appendJX(b)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ProtocolVersion uint16
type AgentCapabilities struct {
	LoadSession         bool                   `json:"loadSession,omitzero"`
	PromptCapabilities  *PromptCapabilities    `json:"promptCapabilities,omitzero"`
	MCPCapabilities     *MCPCapabilities       `json:"mcpCapabilities,omitzero"`
	SessionCapabilities *SessionCapabilities   `json:"sessionCapabilities,omitzero"`
	Auth                *AgentAuthCapabilities `json:"auth,omitzero"`
	Meta                RawMessage             `json:"_meta,omitzero"`
}

func (v *AgentCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "loadSession":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			{
				mk := d.Mark()
				v.LoadSession = d.Bool()
				if d.Failed() && d.Recover(mk) {
					v.LoadSession = false
				}
			}
		case "promptCapabilities":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			{
				mk := d.Mark()
				v.PromptCapabilities = new(PromptCapabilities)
				v.PromptCapabilities.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.PromptCapabilities = nil
				}
			}
		case "mcpCapabilities":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			{
				mk := d.Mark()
				v.MCPCapabilities = new(MCPCapabilities)
				v.MCPCapabilities.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.MCPCapabilities = nil
				}
			}
		case "sessionCapabilities":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			{
				mk := d.Mark()
				v.SessionCapabilities = new(SessionCapabilities)
				v.SessionCapabilities.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.SessionCapabilities = nil
				}
			}
		case "auth":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			{
				mk := d.Mark()
				v.Auth = new(AgentAuthCapabilities)
				v.Auth.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Auth = nil
				}
			}
		case "_meta":
			if seen&0x20 != 0 {
				d.Dup()
			}
			seen |= 0x20
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *AgentCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *AgentCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = AgentCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *AgentCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v AgentCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *AgentCapabilities) appendMembers(b []byte) []byte {
	if v.LoadSession {
		b = jx.Comma(b)
		b = append(b, `"loadSession":`...)
		b = jx.AppendBool(b, v.LoadSession)
	}
	if v.PromptCapabilities != nil {
		b = jx.Comma(b)
		b = append(b, `"promptCapabilities":`...)
		b = v.PromptCapabilities.appendJX(b)
	}
	if v.MCPCapabilities != nil {
		b = jx.Comma(b)
		b = append(b, `"mcpCapabilities":`...)
		b = v.MCPCapabilities.appendJX(b)
	}
	if v.SessionCapabilities != nil {
		b = jx.Comma(b)
		b = append(b, `"sessionCapabilities":`...)
		b = v.SessionCapabilities.appendJX(b)
	}
	if v.Auth != nil {
		b = jx.Comma(b)
		b = append(b, `"auth":`...)
		b = v.Auth.appendJX(b)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type PromptCapabilities struct {
	Image           bool       `json:"image,omitzero"`
	Audio           bool       `json:"audio,omitzero"`
	EmbeddedContext bool       `json:"embeddedContext,omitzero"`
	Meta            RawMessage `json:"_meta,omitzero"`
}

func (v *PromptCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "image":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			{
				mk := d.Mark()
				v.Image = d.Bool()
				if d.Failed() && d.Recover(mk) {
					v.Image = false
				}
			}
		case "audio":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			{
				mk := d.Mark()
				v.Audio = d.Bool()
				if d.Failed() && d.Recover(mk) {
					v.Audio = false
				}
			}
		case "embeddedContext":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			{
				mk := d.Mark()
				v.EmbeddedContext = d.Bool()
				if d.Failed() && d.Recover(mk) {
					v.EmbeddedContext = false
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *PromptCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *PromptCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = PromptCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *PromptCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v PromptCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *PromptCapabilities) appendMembers(b []byte) []byte {
	if v.Image {
		b = jx.Comma(b)
		b = append(b, `"image":`...)
		b = jx.AppendBool(b, v.Image)
	}
	if v.Audio {
		b = jx.Comma(b)
		b = append(b, `"audio":`...)
		b = jx.AppendBool(b, v.Audio)
	}
	if v.EmbeddedContext {
		b = jx.Comma(b)
		b = append(b, `"embeddedContext":`...)
		b = jx.AppendBool(b, v.EmbeddedContext)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type MCPCapabilities struct {
	HTTP bool       `json:"http,omitzero"`
	SSE  bool       `json:"sse,omitzero"`
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *MCPCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "http":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			{
				mk := d.Mark()
				v.HTTP = d.Bool()
				if d.Failed() && d.Recover(mk) {
					v.HTTP = false
				}
			}
		case "sse":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			{
				mk := d.Mark()
				v.SSE = d.Bool()
				if d.Failed() && d.Recover(mk) {
					v.SSE = false
				}
			}
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *MCPCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *MCPCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = MCPCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *MCPCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v MCPCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *MCPCapabilities) appendMembers(b []byte) []byte {
	if v.HTTP {
		b = jx.Comma(b)
		b = append(b, `"http":`...)
		b = jx.AppendBool(b, v.HTTP)
	}
	if v.SSE {
		b = jx.Comma(b)
		b = append(b, `"sse":`...)
		b = jx.AppendBool(b, v.SSE)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SessionCapabilities struct {
	List                  *SessionListCapabilities                  `json:"list,omitzero"`
	Delete                *SessionDeleteCapabilities                `json:"delete,omitzero"`
	AdditionalDirectories *SessionAdditionalDirectoriesCapabilities `json:"additionalDirectories,omitzero"`
	Resume                *SessionResumeCapabilities                `json:"resume,omitzero"`
	Close                 *SessionCloseCapabilities                 `json:"close,omitzero"`
	Meta                  RawMessage                                `json:"_meta,omitzero"`
}

func (v *SessionCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "list":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.List = new(SessionListCapabilities)
				v.List.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.List = nil
				}
			}
		case "delete":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.Delete = new(SessionDeleteCapabilities)
				v.Delete.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Delete = nil
				}
			}
		case "additionalDirectories":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.AdditionalDirectories = new(SessionAdditionalDirectoriesCapabilities)
				v.AdditionalDirectories.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.AdditionalDirectories = nil
				}
			}
		case "resume":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				v.Resume = new(SessionResumeCapabilities)
				v.Resume.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Resume = nil
				}
			}
		case "close":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				mk := d.Mark()
				v.Close = new(SessionCloseCapabilities)
				v.Close.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Close = nil
				}
			}
		case "_meta":
			if seen&0x20 != 0 {
				d.Dup()
			}
			seen |= 0x20
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *SessionCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SessionCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SessionCapabilities) appendMembers(b []byte) []byte {
	if v.List != nil {
		b = jx.Comma(b)
		b = append(b, `"list":`...)
		b = v.List.appendJX(b)
	}
	if v.Delete != nil {
		b = jx.Comma(b)
		b = append(b, `"delete":`...)
		b = v.Delete.appendJX(b)
	}
	if v.AdditionalDirectories != nil {
		b = jx.Comma(b)
		b = append(b, `"additionalDirectories":`...)
		b = v.AdditionalDirectories.appendJX(b)
	}
	if v.Resume != nil {
		b = jx.Comma(b)
		b = append(b, `"resume":`...)
		b = v.Resume.appendJX(b)
	}
	if v.Close != nil {
		b = jx.Comma(b)
		b = append(b, `"close":`...)
		b = v.Close.appendJX(b)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SessionListCapabilities struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *SessionListCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *SessionListCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SessionListCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionListCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionListCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionListCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SessionListCapabilities) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SessionDeleteCapabilities struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *SessionDeleteCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *SessionDeleteCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SessionDeleteCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionDeleteCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionDeleteCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionDeleteCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SessionDeleteCapabilities) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SessionAdditionalDirectoriesCapabilities struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *SessionAdditionalDirectoriesCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *SessionAdditionalDirectoriesCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SessionAdditionalDirectoriesCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionAdditionalDirectoriesCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionAdditionalDirectoriesCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionAdditionalDirectoriesCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SessionAdditionalDirectoriesCapabilities) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SessionResumeCapabilities struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *SessionResumeCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *SessionResumeCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SessionResumeCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionResumeCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionResumeCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionResumeCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SessionResumeCapabilities) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SessionCloseCapabilities struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *SessionCloseCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *SessionCloseCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SessionCloseCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionCloseCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionCloseCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionCloseCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SessionCloseCapabilities) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type AgentAuthCapabilities struct {
	Logout *LogoutCapabilities `json:"logout,omitzero"`
	Meta   RawMessage          `json:"_meta,omitzero"`
}

func (v *AgentAuthCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "logout":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.Logout = new(LogoutCapabilities)
				v.Logout.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Logout = nil
				}
			}
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *AgentAuthCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *AgentAuthCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = AgentAuthCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *AgentAuthCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v AgentAuthCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *AgentAuthCapabilities) appendMembers(b []byte) []byte {
	if v.Logout != nil {
		b = jx.Comma(b)
		b = append(b, `"logout":`...)
		b = v.Logout.appendJX(b)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type LogoutCapabilities struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *LogoutCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *LogoutCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *LogoutCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = LogoutCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *LogoutCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v LogoutCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *LogoutCapabilities) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type AuthMethod interface {
	isAuthMethod()
	appendMembers([]byte) []byte
}

func decodeAuthMethod(d *jx.Dec) AuthMethod {
	m := d.Mark()
	_ = m
	tag, found := d.Tag("type")
	_ = found
	switch string(tag) {
	case "terminal":
		x := new(AuthMethodTerminal)
		x.decodeJX(d)
		return x
	default:
		x := new(AuthMethodAgent)
		x.decodeJX(d)
		return x
	}
}
func appendAuthMethodMembers(b []byte, v AuthMethod) []byte {
	if v == nil {
		return b
	}
	switch v.(type) {
	case *AuthMethodTerminal:
		b = append(jx.Comma(b), `"type":"terminal"`...)
	}
	return v.appendMembers(b)
}
func appendAuthMethod(b []byte, v AuthMethod) []byte {
	b = append(b, '{')
	b = appendAuthMethodMembers(b, v)
	return append(b, '}')
}

// DecodeAuthMethod reads one value, for use outside a generated struct.
func DecodeAuthMethod(b []byte) (AuthMethod, error) {
	d := jx.New(b)
	v := decodeAuthMethod(d)
	d.End()
	return v, d.Err()
}
func AppendAuthMethod(b []byte, v AuthMethod) []byte {
	return appendAuthMethod(b, v)
}

type AuthMethodID string
type AuthMethodTerminal struct {
	ID          AuthMethodID      `json:"id"`
	Name        string            `json:"name"`
	Description Opt[string]       `json:"description,omitzero"`
	Args        []string          `json:"args,omitzero"`
	Env         map[string]string `json:"env,omitzero"`
	Meta        RawMessage        `json:"_meta,omitzero"`
}

func (v *AuthMethodTerminal) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "id":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.ID = AuthMethodID(d.Str())
		case "name":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Name = d.Str()
		case "description":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.Description.V = d.Str()
				v.Description.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Description = Opt[string]{}
				}
			}
		case "args":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				if d.Array() {
					v.Args = []string{}
					for d.More(']') {
						var e string
						e = d.Str()
						v.Args = append(v.Args, e)
					}
				}
			}
		case "env":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				if d.Obj() {
					v.Env = map[string]string{}
					for d.More('}') {
						k := string(d.Key())
						var e string
						e = d.Str()
						v.Env[k] = e
					}
				}
			}
		case "_meta":
			if seen&0x20 != 0 {
				d.Dup()
			}
			seen |= 0x20
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "id")
		case seen&0x2 == 0:
			d.Missing(m, "name")
		}
	}
}
func (v *AuthMethodTerminal) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *AuthMethodTerminal) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = AuthMethodTerminal{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *AuthMethodTerminal) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v AuthMethodTerminal) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *AuthMethodTerminal) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"id":`...)
	b = jx.AppendString(b, string(v.ID))
	b = jx.Comma(b)
	b = append(b, `"name":`...)
	b = jx.AppendString(b, v.Name)
	if v.Description.OK {
		b = jx.Comma(b)
		b = append(b, `"description":`...)
		b = jx.AppendString(b, v.Description.V)
	}
	if v.Args != nil {
		b = jx.Comma(b)
		b = append(b, `"args":`...)
		b = append(b, '[')
		for i := range v.Args {
			if i > 0 {
				b = append(b, ',')
			}
			b = jx.AppendString(b, v.Args[i])
		}
		b = append(b, ']')
	}
	if v.Env != nil {
		b = jx.Comma(b)
		b = append(b, `"env":`...)
		b = append(b, '{')
		for _, k := range jx.Keys(v.Env) {
			b = jx.Comma(b)
			b = jx.AppendString(b, k)
			b = append(b, ':')
			e := v.Env[k]
			b = jx.AppendString(b, e)
		}
		b = append(b, '}')
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type AuthMethodAgent struct {
	ID          AuthMethodID `json:"id"`
	Name        string       `json:"name"`
	Description Opt[string]  `json:"description,omitzero"`
	Meta        RawMessage   `json:"_meta,omitzero"`
}

func (v *AuthMethodAgent) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "id":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.ID = AuthMethodID(d.Str())
		case "name":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Name = d.Str()
		case "description":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.Description.V = d.Str()
				v.Description.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Description = Opt[string]{}
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "id")
		case seen&0x2 == 0:
			d.Missing(m, "name")
		}
	}
}
func (v *AuthMethodAgent) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *AuthMethodAgent) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = AuthMethodAgent{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *AuthMethodAgent) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v AuthMethodAgent) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *AuthMethodAgent) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"id":`...)
	b = jx.AppendString(b, string(v.ID))
	b = jx.Comma(b)
	b = append(b, `"name":`...)
	b = jx.AppendString(b, v.Name)
	if v.Description.OK {
		b = jx.Comma(b)
		b = append(b, `"description":`...)
		b = jx.AppendString(b, v.Description.V)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type Implementation struct {
	Name    string      `json:"name"`
	Title   Opt[string] `json:"title,omitzero"`
	Version string      `json:"version"`
	Meta    RawMessage  `json:"_meta,omitzero"`
}

func (v *Implementation) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "name":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Name = d.Str()
		case "title":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.Title.V = d.Str()
				v.Title.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Title = Opt[string]{}
				}
			}
		case "version":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			v.Version = d.Str()
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x5 != 0x5 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "name")
		case seen&0x4 == 0:
			d.Missing(m, "version")
		}
	}
}
func (v *Implementation) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *Implementation) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = Implementation{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *Implementation) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v Implementation) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *Implementation) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"name":`...)
	b = jx.AppendString(b, v.Name)
	if v.Title.OK {
		b = jx.Comma(b)
		b = append(b, `"title":`...)
		b = jx.AppendString(b, v.Title.V)
	}
	b = jx.Comma(b)
	b = append(b, `"version":`...)
	b = jx.AppendString(b, v.Version)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type AuthenticateResponse struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *AuthenticateResponse) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *AuthenticateResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *AuthenticateResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = AuthenticateResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *AuthenticateResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v AuthenticateResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *AuthenticateResponse) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type LogoutResponse struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *LogoutResponse) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *LogoutResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *LogoutResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = LogoutResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *LogoutResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v LogoutResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *LogoutResponse) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type NewSessionResponse struct {
	SessionID     SessionID             `json:"sessionId"`
	Modes         *SessionModeState     `json:"modes,omitzero"`
	ConfigOptions []SessionConfigOption `json:"configOptions,omitzero"`
	Meta          RawMessage            `json:"_meta,omitzero"`
}

func (v *NewSessionResponse) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "modes":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.Modes = new(SessionModeState)
				v.Modes.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Modes = nil
				}
			}
		case "configOptions":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Array() {
					v.ConfigOptions = []SessionConfigOption{}
					for d.More(']') {
						mk := d.Mark()
						var e SessionConfigOption
						e.decodeJX(d)
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.ConfigOptions = append(v.ConfigOptions, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.ConfigOptions = nil
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		}
	}
}
func (v *NewSessionResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *NewSessionResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = NewSessionResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *NewSessionResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v NewSessionResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *NewSessionResponse) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	if v.Modes != nil {
		b = jx.Comma(b)
		b = append(b, `"modes":`...)
		b = v.Modes.appendJX(b)
	}
	if v.ConfigOptions != nil {
		b = jx.Comma(b)
		b = append(b, `"configOptions":`...)
		b = append(b, '[')
		for i := range v.ConfigOptions {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.ConfigOptions[i].appendJX(b)
		}
		b = append(b, ']')
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SessionModeState struct {
	CurrentModeID  SessionModeID `json:"currentModeId"`
	AvailableModes []SessionMode `json:"availableModes"`
	Meta           RawMessage    `json:"_meta,omitzero"`
}

func (v *SessionModeState) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "currentModeId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.CurrentModeID = SessionModeID(d.Str())
		case "availableModes":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			{
				mk := d.Mark()
				if d.Array() {
					v.AvailableModes = []SessionMode{}
					for d.More(']') {
						mk := d.Mark()
						var e SessionMode
						e.decodeJX(d)
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.AvailableModes = append(v.AvailableModes, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.AvailableModes = nil
				}
			}
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "currentModeId")
		case seen&0x2 == 0:
			d.Missing(m, "availableModes")
		}
	}
}
func (v *SessionModeState) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SessionModeState) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionModeState{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionModeState) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionModeState) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SessionModeState) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"currentModeId":`...)
	b = jx.AppendString(b, string(v.CurrentModeID))
	b = jx.Comma(b)
	b = append(b, `"availableModes":`...)
	b = append(b, '[')
	for i := range v.AvailableModes {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.AvailableModes[i].appendJX(b)
	}
	b = append(b, ']')
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SessionModeID string
type SessionMode struct {
	ID          SessionModeID `json:"id"`
	Name        string        `json:"name"`
	Description Opt[string]   `json:"description,omitzero"`
	Meta        RawMessage    `json:"_meta,omitzero"`
}

func (v *SessionMode) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "id":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.ID = SessionModeID(d.Str())
		case "name":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Name = d.Str()
		case "description":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.Description.V = d.Str()
				v.Description.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Description = Opt[string]{}
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "id")
		case seen&0x2 == 0:
			d.Missing(m, "name")
		}
	}
}
func (v *SessionMode) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SessionMode) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionMode{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionMode) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionMode) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SessionMode) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"id":`...)
	b = jx.AppendString(b, string(v.ID))
	b = jx.Comma(b)
	b = append(b, `"name":`...)
	b = jx.AppendString(b, v.Name)
	if v.Description.OK {
		b = jx.Comma(b)
		b = append(b, `"description":`...)
		b = jx.AppendString(b, v.Description.V)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SessionConfigOptionVariant interface {
	isSessionConfigOptionVariant()
	appendMembers([]byte) []byte
}

// SessionConfigOptionVariantOther is a variant this version does not know; it is kept as received.
type SessionConfigOptionVariantOther struct {
	Tag string
	Raw RawMessage
}

func (v *SessionConfigOptionVariantOther) appendMembers(b []byte) []byte {
	return jx.AppendMembers(b, v.Raw)
}
func decodeSessionConfigOptionVariant(d *jx.Dec) SessionConfigOptionVariant {
	m := d.Mark()
	_ = m
	tag, found := d.Tag("type")
	if !found {
		if !d.Failed() {
			if d.Peek() == '{' {
				d.Missing(m, "type")
			} else {
				d.Obj()
			}
		}
		return nil
	}
	switch string(tag) {
	case "select":
		x := new(SessionConfigSelect)
		x.decodeJX(d)
		return x
	case "boolean":
		x := new(SessionConfigBoolean)
		x.decodeJX(d)
		return x
	}
	r := d.Raw()
	if d.Failed() {
		return nil
	}
	return &SessionConfigOptionVariantOther{Tag: string(tag), Raw: r}
}
func appendSessionConfigOptionVariantMembers(b []byte, v SessionConfigOptionVariant) []byte {
	if v == nil {
		return b
	}
	switch v.(type) {
	case *SessionConfigSelect:
		b = append(jx.Comma(b), `"type":"select"`...)
	case *SessionConfigBoolean:
		b = append(jx.Comma(b), `"type":"boolean"`...)
	}
	return v.appendMembers(b)
}
func appendSessionConfigOptionVariant(b []byte, v SessionConfigOptionVariant) []byte {
	if o, ok := v.(*SessionConfigOptionVariantOther); ok {
		return append(b, o.Raw...)
	}
	b = append(b, '{')
	b = appendSessionConfigOptionVariantMembers(b, v)
	return append(b, '}')
}

// DecodeSessionConfigOptionVariant reads one value, for use outside a generated struct.
func DecodeSessionConfigOptionVariant(b []byte) (SessionConfigOptionVariant, error) {
	d := jx.New(b)
	v := decodeSessionConfigOptionVariant(d)
	d.End()
	return v, d.Err()
}
func AppendSessionConfigOptionVariant(b []byte, v SessionConfigOptionVariant) []byte {
	return appendSessionConfigOptionVariant(b, v)
}

type SessionConfigOption struct {
	ID          SessionConfigID                  `json:"id"`
	Name        string                           `json:"name"`
	Description Opt[string]                      `json:"description,omitzero"`
	Category    Opt[SessionConfigOptionCategory] `json:"category,omitzero"`
	Meta        RawMessage                       `json:"_meta,omitzero"`
	Variant     SessionConfigOptionVariant
}

func (v *SessionConfigOption) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "id":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.ID = SessionConfigID(d.Str())
		case "name":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Name = d.Str()
		case "description":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.Description.V = d.Str()
				v.Description.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Description = Opt[string]{}
				}
			}
		case "category":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				v.Category.V.decodeJX(d)
				v.Category.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Category = Opt[SessionConfigOptionCategory]{}
				}
			}
		case "_meta":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "id")
		case seen&0x2 == 0:
			d.Missing(m, "name")
		}
	}
	if d.Failed() {
		return
	}
	e := d.Mark()
	d.Rewind(m)
	v.Variant = decodeSessionConfigOptionVariant(d)
	if !d.Failed() {
		d.Rewind(e)
	}
}
func (v *SessionConfigOption) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SessionConfigOption) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionConfigOption{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionConfigOption) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionConfigOption) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SessionConfigOption) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"id":`...)
	b = jx.AppendString(b, string(v.ID))
	b = jx.Comma(b)
	b = append(b, `"name":`...)
	b = jx.AppendString(b, v.Name)
	if v.Description.OK {
		b = jx.Comma(b)
		b = append(b, `"description":`...)
		b = jx.AppendString(b, v.Description.V)
	}
	if v.Category.OK {
		b = jx.Comma(b)
		b = append(b, `"category":`...)
		b = jx.AppendString(b, string(v.Category.V))
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	b = appendSessionConfigOptionVariantMembers(b, v.Variant)
	return b
}

type SessionConfigID string
type SessionConfigOptionCategory string

const (
	SessionConfigOptionCategoryMode         SessionConfigOptionCategory = "mode"
	SessionConfigOptionCategoryModel        SessionConfigOptionCategory = "model"
	SessionConfigOptionCategoryModelConfig  SessionConfigOptionCategory = "model_config"
	SessionConfigOptionCategoryThoughtLevel SessionConfigOptionCategory = "thought_level"
)

func (v *SessionConfigOptionCategory) decodeJX(d *jx.Dec) {
	m := d.Mark()
	_ = m
	s := d.StrBytes()
	switch string(s) {
	case "mode":
		*v = SessionConfigOptionCategoryMode
	case "model":
		*v = SessionConfigOptionCategoryModel
	case "model_config":
		*v = SessionConfigOptionCategoryModelConfig
	case "thought_level":
		*v = SessionConfigOptionCategoryThoughtLevel
	default:
		*v = SessionConfigOptionCategory(s)
	}
}

type SessionConfigValueID string
type SessionConfigSelectOptions struct {
	Raw RawMessage
}

func (v *SessionConfigSelectOptions) decodeJX(d *jx.Dec) {
	v.Raw = d.Raw()
}
func (v *SessionConfigSelectOptions) appendJX(b []byte) []byte {
	return jx.AppendRaw(b, v.Raw)
}
func (v *SessionConfigSelectOptions) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionConfigSelectOptions{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionConfigSelectOptions) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionConfigSelectOptions) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}

type SessionConfigSelectOption struct {
	Value       SessionConfigValueID `json:"value"`
	Name        string               `json:"name"`
	Description Opt[string]          `json:"description,omitzero"`
	Meta        RawMessage           `json:"_meta,omitzero"`
}

func (v *SessionConfigSelectOption) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "value":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Value = SessionConfigValueID(d.Str())
		case "name":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Name = d.Str()
		case "description":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.Description.V = d.Str()
				v.Description.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Description = Opt[string]{}
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "value")
		case seen&0x2 == 0:
			d.Missing(m, "name")
		}
	}
}
func (v *SessionConfigSelectOption) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SessionConfigSelectOption) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionConfigSelectOption{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionConfigSelectOption) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionConfigSelectOption) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SessionConfigSelectOption) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"value":`...)
	b = jx.AppendString(b, string(v.Value))
	b = jx.Comma(b)
	b = append(b, `"name":`...)
	b = jx.AppendString(b, v.Name)
	if v.Description.OK {
		b = jx.Comma(b)
		b = append(b, `"description":`...)
		b = jx.AppendString(b, v.Description.V)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SessionConfigSelectGroup struct {
	Group   SessionConfigGroupID        `json:"group"`
	Name    string                      `json:"name"`
	Options []SessionConfigSelectOption `json:"options"`
	Meta    RawMessage                  `json:"_meta,omitzero"`
}

func (v *SessionConfigSelectGroup) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "group":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Group = SessionConfigGroupID(d.Str())
		case "name":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Name = d.Str()
		case "options":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			{
				mk := d.Mark()
				if d.Array() {
					v.Options = []SessionConfigSelectOption{}
					for d.More(']') {
						mk := d.Mark()
						var e SessionConfigSelectOption
						e.decodeJX(d)
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.Options = append(v.Options, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.Options = nil
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x7 != 0x7 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "group")
		case seen&0x2 == 0:
			d.Missing(m, "name")
		case seen&0x4 == 0:
			d.Missing(m, "options")
		}
	}
}
func (v *SessionConfigSelectGroup) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SessionConfigSelectGroup) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionConfigSelectGroup{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionConfigSelectGroup) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionConfigSelectGroup) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SessionConfigSelectGroup) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"group":`...)
	b = jx.AppendString(b, string(v.Group))
	b = jx.Comma(b)
	b = append(b, `"name":`...)
	b = jx.AppendString(b, v.Name)
	b = jx.Comma(b)
	b = append(b, `"options":`...)
	b = append(b, '[')
	for i := range v.Options {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.Options[i].appendJX(b)
	}
	b = append(b, ']')
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SessionConfigGroupID string
type SessionConfigSelect struct {
	CurrentValue SessionConfigValueID       `json:"currentValue"`
	Options      SessionConfigSelectOptions `json:"options"`
}

func (v *SessionConfigSelect) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "currentValue":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.CurrentValue = SessionConfigValueID(d.Str())
		case "options":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Options.decodeJX(d)
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "currentValue")
		case seen&0x2 == 0:
			d.Missing(m, "options")
		}
	}
}
func (v *SessionConfigSelect) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SessionConfigSelect) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionConfigSelect{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionConfigSelect) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionConfigSelect) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SessionConfigSelect) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"currentValue":`...)
	b = jx.AppendString(b, string(v.CurrentValue))
	b = jx.Comma(b)
	b = append(b, `"options":`...)
	b = v.Options.appendJX(b)
	return b
}

type SessionConfigBoolean struct {
	CurrentValue bool `json:"currentValue"`
}

func (v *SessionConfigBoolean) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "currentValue":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.CurrentValue = d.Bool()
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "currentValue")
		}
	}
}
func (v *SessionConfigBoolean) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SessionConfigBoolean) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionConfigBoolean{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionConfigBoolean) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionConfigBoolean) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SessionConfigBoolean) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"currentValue":`...)
	b = jx.AppendBool(b, v.CurrentValue)
	return b
}

type LoadSessionResponse struct {
	Modes         *SessionModeState     `json:"modes,omitzero"`
	ConfigOptions []SessionConfigOption `json:"configOptions,omitzero"`
	Meta          RawMessage            `json:"_meta,omitzero"`
}

func (v *LoadSessionResponse) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "modes":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.Modes = new(SessionModeState)
				v.Modes.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Modes = nil
				}
			}
		case "configOptions":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Array() {
					v.ConfigOptions = []SessionConfigOption{}
					for d.More(']') {
						mk := d.Mark()
						var e SessionConfigOption
						e.decodeJX(d)
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.ConfigOptions = append(v.ConfigOptions, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.ConfigOptions = nil
				}
			}
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *LoadSessionResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *LoadSessionResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = LoadSessionResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *LoadSessionResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v LoadSessionResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *LoadSessionResponse) appendMembers(b []byte) []byte {
	if v.Modes != nil {
		b = jx.Comma(b)
		b = append(b, `"modes":`...)
		b = v.Modes.appendJX(b)
	}
	if v.ConfigOptions != nil {
		b = jx.Comma(b)
		b = append(b, `"configOptions":`...)
		b = append(b, '[')
		for i := range v.ConfigOptions {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.ConfigOptions[i].appendJX(b)
		}
		b = append(b, ']')
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ListSessionsResponse struct {
	Sessions   []SessionInfo `json:"sessions"`
	NextCursor Opt[string]   `json:"nextCursor,omitzero"`
	Meta       RawMessage    `json:"_meta,omitzero"`
}

func (v *ListSessionsResponse) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessions":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			{
				mk := d.Mark()
				if d.Array() {
					v.Sessions = []SessionInfo{}
					for d.More(']') {
						mk := d.Mark()
						var e SessionInfo
						e.decodeJX(d)
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.Sessions = append(v.Sessions, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.Sessions = nil
				}
			}
		case "nextCursor":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.NextCursor.V = d.Str()
				v.NextCursor.OK = true
				if d.Failed() && d.Recover(mk) {
					v.NextCursor = Opt[string]{}
				}
			}
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessions")
		}
	}
}
func (v *ListSessionsResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ListSessionsResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ListSessionsResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ListSessionsResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ListSessionsResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ListSessionsResponse) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessions":`...)
	b = append(b, '[')
	for i := range v.Sessions {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.Sessions[i].appendJX(b)
	}
	b = append(b, ']')
	if v.NextCursor.OK {
		b = jx.Comma(b)
		b = append(b, `"nextCursor":`...)
		b = jx.AppendString(b, v.NextCursor.V)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SessionInfo struct {
	SessionID             SessionID   `json:"sessionId"`
	Cwd                   string      `json:"cwd"`
	AdditionalDirectories []string    `json:"additionalDirectories,omitzero"`
	Title                 Opt[string] `json:"title,omitzero"`
	UpdatedAt             Opt[string] `json:"updatedAt,omitzero"`
	Meta                  RawMessage  `json:"_meta,omitzero"`
}

func (v *SessionInfo) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "cwd":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Cwd = d.Str()
		case "additionalDirectories":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			{
				mk := d.Mark()
				if d.Array() {
					v.AdditionalDirectories = []string{}
					for d.More(']') {
						mk := d.Mark()
						var e string
						e = d.Str()
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.AdditionalDirectories = append(v.AdditionalDirectories, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.AdditionalDirectories = nil
				}
			}
		case "title":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				v.Title.V = d.Str()
				v.Title.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Title = Opt[string]{}
				}
			}
		case "updatedAt":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				mk := d.Mark()
				v.UpdatedAt.V = d.Str()
				v.UpdatedAt.OK = true
				if d.Failed() && d.Recover(mk) {
					v.UpdatedAt = Opt[string]{}
				}
			}
		case "_meta":
			if seen&0x20 != 0 {
				d.Dup()
			}
			seen |= 0x20
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		case seen&0x2 == 0:
			d.Missing(m, "cwd")
		}
	}
}
func (v *SessionInfo) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SessionInfo) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionInfo{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionInfo) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionInfo) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SessionInfo) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	b = jx.Comma(b)
	b = append(b, `"cwd":`...)
	b = jx.AppendString(b, v.Cwd)
	if v.AdditionalDirectories != nil {
		b = jx.Comma(b)
		b = append(b, `"additionalDirectories":`...)
		b = append(b, '[')
		for i := range v.AdditionalDirectories {
			if i > 0 {
				b = append(b, ',')
			}
			b = jx.AppendString(b, v.AdditionalDirectories[i])
		}
		b = append(b, ']')
	}
	if v.Title.OK {
		b = jx.Comma(b)
		b = append(b, `"title":`...)
		b = jx.AppendString(b, v.Title.V)
	}
	if v.UpdatedAt.OK {
		b = jx.Comma(b)
		b = append(b, `"updatedAt":`...)
		b = jx.AppendString(b, v.UpdatedAt.V)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type DeleteSessionResponse struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *DeleteSessionResponse) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *DeleteSessionResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *DeleteSessionResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = DeleteSessionResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *DeleteSessionResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v DeleteSessionResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *DeleteSessionResponse) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ResumeSessionResponse struct {
	Modes         *SessionModeState     `json:"modes,omitzero"`
	ConfigOptions []SessionConfigOption `json:"configOptions,omitzero"`
	Meta          RawMessage            `json:"_meta,omitzero"`
}

func (v *ResumeSessionResponse) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "modes":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.Modes = new(SessionModeState)
				v.Modes.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Modes = nil
				}
			}
		case "configOptions":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Array() {
					v.ConfigOptions = []SessionConfigOption{}
					for d.More(']') {
						mk := d.Mark()
						var e SessionConfigOption
						e.decodeJX(d)
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.ConfigOptions = append(v.ConfigOptions, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.ConfigOptions = nil
				}
			}
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *ResumeSessionResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ResumeSessionResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ResumeSessionResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ResumeSessionResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ResumeSessionResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ResumeSessionResponse) appendMembers(b []byte) []byte {
	if v.Modes != nil {
		b = jx.Comma(b)
		b = append(b, `"modes":`...)
		b = v.Modes.appendJX(b)
	}
	if v.ConfigOptions != nil {
		b = jx.Comma(b)
		b = append(b, `"configOptions":`...)
		b = append(b, '[')
		for i := range v.ConfigOptions {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.ConfigOptions[i].appendJX(b)
		}
		b = append(b, ']')
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type CloseSessionResponse struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *CloseSessionResponse) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *CloseSessionResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *CloseSessionResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = CloseSessionResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *CloseSessionResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v CloseSessionResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *CloseSessionResponse) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SetSessionModeResponse struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *SetSessionModeResponse) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *SetSessionModeResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SetSessionModeResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SetSessionModeResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SetSessionModeResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SetSessionModeResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SetSessionModeResponse) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SetSessionConfigOptionResponse struct {
	ConfigOptions []SessionConfigOption `json:"configOptions"`
	Meta          RawMessage            `json:"_meta,omitzero"`
}

func (v *SetSessionConfigOptionResponse) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "configOptions":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			{
				mk := d.Mark()
				if d.Array() {
					v.ConfigOptions = []SessionConfigOption{}
					for d.More(']') {
						mk := d.Mark()
						var e SessionConfigOption
						e.decodeJX(d)
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.ConfigOptions = append(v.ConfigOptions, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.ConfigOptions = nil
				}
			}
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "configOptions")
		}
	}
}
func (v *SetSessionConfigOptionResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SetSessionConfigOptionResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SetSessionConfigOptionResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SetSessionConfigOptionResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SetSessionConfigOptionResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SetSessionConfigOptionResponse) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"configOptions":`...)
	b = append(b, '[')
	for i := range v.ConfigOptions {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.ConfigOptions[i].appendJX(b)
	}
	b = append(b, ']')
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type PromptResponse struct {
	StopReason StopReason `json:"stopReason"`
	Meta       RawMessage `json:"_meta,omitzero"`
}

func (v *PromptResponse) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "stopReason":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.StopReason.decodeJX(d)
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "stopReason")
		}
	}
}
func (v *PromptResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *PromptResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = PromptResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *PromptResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v PromptResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *PromptResponse) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"stopReason":`...)
	b = jx.AppendString(b, string(v.StopReason))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type StopReason string

const (
	StopReasonEndTurn         StopReason = "end_turn"
	StopReasonMaxTokens       StopReason = "max_tokens"
	StopReasonMaxTurnRequests StopReason = "max_turn_requests"
	StopReasonRefusal         StopReason = "refusal"
	StopReasonCancelled       StopReason = "cancelled"
)

func (v *StopReason) decodeJX(d *jx.Dec) {
	m := d.Mark()
	_ = m
	s := d.StrBytes()
	switch string(s) {
	case "end_turn":
		*v = StopReasonEndTurn
	case "max_tokens":
		*v = StopReasonMaxTokens
	case "max_turn_requests":
		*v = StopReasonMaxTurnRequests
	case "refusal":
		*v = StopReasonRefusal
	case "cancelled":
		*v = StopReasonCancelled
	default:
		if !d.Failed() {
			d.BadTag(m, "StopReason", s)
		}
	}
}

type ExtResponse = RawMessage
type Error struct {
	Code    ErrorCode  `json:"code"`
	Message string     `json:"message"`
	Data    RawMessage `json:"data,omitzero"`
}

func (v *Error) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "code":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Code = ErrorCode(d.Int(-2147483648, 2147483647))
		case "message":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Message = d.Str()
		case "data":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			{
				mk := d.Mark()
				v.Data = d.Raw()
				if d.Failed() && d.Recover(mk) {
					v.Data = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "code")
		case seen&0x2 == 0:
			d.Missing(m, "message")
		}
	}
}
func (v *Error) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *Error) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = Error{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *Error) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v Error) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *Error) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"code":`...)
	b = jx.AppendInt(b, int64(v.Code))
	b = jx.Comma(b)
	b = append(b, `"message":`...)
	b = jx.AppendString(b, v.Message)
	if v.Data != nil {
		b = jx.Comma(b)
		b = append(b, `"data":`...)
		b = jx.AppendRaw(b, v.Data)
	}
	return b
}

type ErrorCode int32

const (
	ErrorCodeParseError             ErrorCode = -32700
	ErrorCodeInvalidRequest         ErrorCode = -32600
	ErrorCodeMethodNotFound         ErrorCode = -32601
	ErrorCodeInvalidParams          ErrorCode = -32602
	ErrorCodeInternalError          ErrorCode = -32603
	ErrorCodeRequestCancelled       ErrorCode = -32800
	ErrorCodeAuthenticationRequired ErrorCode = -32000
	ErrorCodeResourceNotFound       ErrorCode = -32002
)

type SessionNotification struct {
	SessionID SessionID     `json:"sessionId"`
	Update    SessionUpdate `json:"update"`
	Meta      RawMessage    `json:"_meta,omitzero"`
}

func (v *SessionNotification) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "update":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Update = decodeSessionUpdate(d)
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		case seen&0x2 == 0:
			d.Missing(m, "update")
		}
	}
}
func (v *SessionNotification) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SessionNotification) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionNotification{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionNotification) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionNotification) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SessionNotification) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	b = jx.Comma(b)
	b = append(b, `"update":`...)
	b = appendSessionUpdate(b, v.Update)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SessionUpdate interface {
	isSessionUpdate()
	appendMembers([]byte) []byte
}

// SessionUpdateOther is a variant this version does not know; it is kept as received.
type SessionUpdateOther struct {
	Tag string
	Raw RawMessage
}

func (v *SessionUpdateOther) appendMembers(b []byte) []byte {
	return jx.AppendMembers(b, v.Raw)
}

type UserMessageChunk ContentChunk

func (v *UserMessageChunk) appendMembers(b []byte) []byte {
	return (*ContentChunk)(v).appendMembers(b)
}

type AgentMessageChunk ContentChunk

func (v *AgentMessageChunk) appendMembers(b []byte) []byte {
	return (*ContentChunk)(v).appendMembers(b)
}

type AgentThoughtChunk ContentChunk

func (v *AgentThoughtChunk) appendMembers(b []byte) []byte {
	return (*ContentChunk)(v).appendMembers(b)
}
func decodeSessionUpdate(d *jx.Dec) SessionUpdate {
	m := d.Mark()
	_ = m
	tag, found := d.Tag("sessionUpdate")
	if !found {
		if !d.Failed() {
			if d.Peek() == '{' {
				d.Missing(m, "sessionUpdate")
			} else {
				d.Obj()
			}
		}
		return nil
	}
	switch string(tag) {
	case "user_message_chunk":
		x := new(UserMessageChunk)
		(*ContentChunk)(x).decodeJX(d)
		return x
	case "agent_message_chunk":
		x := new(AgentMessageChunk)
		(*ContentChunk)(x).decodeJX(d)
		return x
	case "agent_thought_chunk":
		x := new(AgentThoughtChunk)
		(*ContentChunk)(x).decodeJX(d)
		return x
	case "tool_call":
		x := new(ToolCall)
		x.decodeJX(d)
		return x
	case "tool_call_update":
		x := new(ToolCallUpdate)
		x.decodeJX(d)
		return x
	case "plan":
		x := new(Plan)
		x.decodeJX(d)
		return x
	case "available_commands_update":
		x := new(AvailableCommandsUpdate)
		x.decodeJX(d)
		return x
	case "current_mode_update":
		x := new(CurrentModeUpdate)
		x.decodeJX(d)
		return x
	case "config_option_update":
		x := new(ConfigOptionUpdate)
		x.decodeJX(d)
		return x
	case "session_info_update":
		x := new(SessionInfoUpdate)
		x.decodeJX(d)
		return x
	case "usage_update":
		x := new(UsageUpdate)
		x.decodeJX(d)
		return x
	case "notice":
		x := new(Notice)
		x.decodeJX(d)
		return x
	case "compaction_update":
		x := new(CompactionUpdate)
		x.decodeJX(d)
		return x
	case "compaction_summary_chunk":
		x := new(CompactionSummaryChunk)
		x.decodeJX(d)
		return x
	}
	r := d.Raw()
	if d.Failed() {
		return nil
	}
	return &SessionUpdateOther{Tag: string(tag), Raw: r}
}
func appendSessionUpdateMembers(b []byte, v SessionUpdate) []byte {
	if v == nil {
		return b
	}
	switch v.(type) {
	case *UserMessageChunk:
		b = append(jx.Comma(b), `"sessionUpdate":"user_message_chunk"`...)
	case *AgentMessageChunk:
		b = append(jx.Comma(b), `"sessionUpdate":"agent_message_chunk"`...)
	case *AgentThoughtChunk:
		b = append(jx.Comma(b), `"sessionUpdate":"agent_thought_chunk"`...)
	case *ToolCall:
		b = append(jx.Comma(b), `"sessionUpdate":"tool_call"`...)
	case *ToolCallUpdate:
		b = append(jx.Comma(b), `"sessionUpdate":"tool_call_update"`...)
	case *Plan:
		b = append(jx.Comma(b), `"sessionUpdate":"plan"`...)
	case *AvailableCommandsUpdate:
		b = append(jx.Comma(b), `"sessionUpdate":"available_commands_update"`...)
	case *CurrentModeUpdate:
		b = append(jx.Comma(b), `"sessionUpdate":"current_mode_update"`...)
	case *ConfigOptionUpdate:
		b = append(jx.Comma(b), `"sessionUpdate":"config_option_update"`...)
	case *SessionInfoUpdate:
		b = append(jx.Comma(b), `"sessionUpdate":"session_info_update"`...)
	case *UsageUpdate:
		b = append(jx.Comma(b), `"sessionUpdate":"usage_update"`...)
	case *Notice:
		b = append(jx.Comma(b), `"sessionUpdate":"notice"`...)
	case *CompactionUpdate:
		b = append(jx.Comma(b), `"sessionUpdate":"compaction_update"`...)
	case *CompactionSummaryChunk:
		b = append(jx.Comma(b), `"sessionUpdate":"compaction_summary_chunk"`...)
	}
	return v.appendMembers(b)
}
func appendSessionUpdate(b []byte, v SessionUpdate) []byte {
	if o, ok := v.(*SessionUpdateOther); ok {
		return append(b, o.Raw...)
	}
	b = append(b, '{')
	b = appendSessionUpdateMembers(b, v)
	return append(b, '}')
}

// DecodeSessionUpdate reads one value, for use outside a generated struct.
func DecodeSessionUpdate(b []byte) (SessionUpdate, error) {
	d := jx.New(b)
	v := decodeSessionUpdate(d)
	d.End()
	return v, d.Err()
}
func AppendSessionUpdate(b []byte, v SessionUpdate) []byte {
	return appendSessionUpdate(b, v)
}

type MessageID string
type ContentChunk struct {
	Content   ContentBlock   `json:"content"`
	MessageID Opt[MessageID] `json:"messageId,omitzero"`
	Meta      RawMessage     `json:"_meta,omitzero"`
}

func (v *ContentChunk) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "content":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Content = decodeContentBlock(d)
		case "messageId":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.MessageID.V = MessageID(d.Str())
				v.MessageID.OK = true
				if d.Failed() && d.Recover(mk) {
					v.MessageID = Opt[MessageID]{}
				}
			}
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "content")
		}
	}
}
func (v *ContentChunk) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ContentChunk) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ContentChunk{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ContentChunk) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ContentChunk) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ContentChunk) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"content":`...)
	b = appendContentBlock(b, v.Content)
	if v.MessageID.OK {
		b = jx.Comma(b)
		b = append(b, `"messageId":`...)
		b = jx.AppendString(b, string(v.MessageID.V))
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ToolCall struct {
	ToolCallID ToolCallID          `json:"toolCallId"`
	Title      string              `json:"title"`
	Name       Opt[string]         `json:"name,omitzero"`
	Kind       Opt[ToolKind]       `json:"kind,omitzero"`
	Status     Opt[ToolCallStatus] `json:"status,omitzero"`
	Content    []ToolCallContent   `json:"content,omitzero"`
	Locations  []ToolCallLocation  `json:"locations,omitzero"`
	RawInput   RawMessage          `json:"rawInput,omitzero"`
	RawOutput  RawMessage          `json:"rawOutput,omitzero"`
	Meta       RawMessage          `json:"_meta,omitzero"`
}

func (v *ToolCall) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "toolCallId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.ToolCallID = ToolCallID(d.Str())
		case "title":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Title = d.Str()
		case "name":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.Name.V = d.Str()
				v.Name.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Name = Opt[string]{}
				}
			}
		case "kind":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			{
				mk := d.Mark()
				v.Kind.V.decodeJX(d)
				v.Kind.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Kind = Opt[ToolKind]{}
				}
			}
		case "status":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			{
				mk := d.Mark()
				v.Status.V.decodeJX(d)
				v.Status.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Status = Opt[ToolCallStatus]{}
				}
			}
		case "content":
			if seen&0x20 != 0 {
				d.Dup()
			}
			seen |= 0x20
			{
				mk := d.Mark()
				if d.Array() {
					v.Content = []ToolCallContent{}
					for d.More(']') {
						mk := d.Mark()
						var e ToolCallContent
						e = decodeToolCallContent(d)
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.Content = append(v.Content, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.Content = nil
				}
			}
		case "locations":
			if seen&0x40 != 0 {
				d.Dup()
			}
			seen |= 0x40
			{
				mk := d.Mark()
				if d.Array() {
					v.Locations = []ToolCallLocation{}
					for d.More(']') {
						mk := d.Mark()
						var e ToolCallLocation
						e.decodeJX(d)
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.Locations = append(v.Locations, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.Locations = nil
				}
			}
		case "rawInput":
			if seen&0x80 != 0 {
				d.Dup()
			}
			seen |= 0x80
			{
				mk := d.Mark()
				v.RawInput = d.Raw()
				if d.Failed() && d.Recover(mk) {
					v.RawInput = nil
				}
			}
		case "rawOutput":
			if seen&0x100 != 0 {
				d.Dup()
			}
			seen |= 0x100
			{
				mk := d.Mark()
				v.RawOutput = d.Raw()
				if d.Failed() && d.Recover(mk) {
					v.RawOutput = nil
				}
			}
		case "_meta":
			if seen&0x200 != 0 {
				d.Dup()
			}
			seen |= 0x200
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "toolCallId")
		case seen&0x2 == 0:
			d.Missing(m, "title")
		}
	}
}
func (v *ToolCall) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ToolCall) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ToolCall{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ToolCall) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ToolCall) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ToolCall) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"toolCallId":`...)
	b = jx.AppendString(b, string(v.ToolCallID))
	b = jx.Comma(b)
	b = append(b, `"title":`...)
	b = jx.AppendString(b, v.Title)
	if v.Name.OK {
		b = jx.Comma(b)
		b = append(b, `"name":`...)
		b = jx.AppendString(b, v.Name.V)
	}
	if v.Kind.OK {
		b = jx.Comma(b)
		b = append(b, `"kind":`...)
		b = jx.AppendString(b, string(v.Kind.V))
	}
	if v.Status.OK {
		b = jx.Comma(b)
		b = append(b, `"status":`...)
		b = jx.AppendString(b, string(v.Status.V))
	}
	if v.Content != nil {
		b = jx.Comma(b)
		b = append(b, `"content":`...)
		b = append(b, '[')
		for i := range v.Content {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendToolCallContent(b, v.Content[i])
		}
		b = append(b, ']')
	}
	if v.Locations != nil {
		b = jx.Comma(b)
		b = append(b, `"locations":`...)
		b = append(b, '[')
		for i := range v.Locations {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.Locations[i].appendJX(b)
		}
		b = append(b, ']')
	}
	if v.RawInput != nil {
		b = jx.Comma(b)
		b = append(b, `"rawInput":`...)
		b = jx.AppendRaw(b, v.RawInput)
	}
	if v.RawOutput != nil {
		b = jx.Comma(b)
		b = append(b, `"rawOutput":`...)
		b = jx.AppendRaw(b, v.RawOutput)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type PlanEntry struct {
	Content  string            `json:"content"`
	Priority PlanEntryPriority `json:"priority"`
	Status   PlanEntryStatus   `json:"status"`
	Meta     RawMessage        `json:"_meta,omitzero"`
}

func (v *PlanEntry) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "content":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Content = d.Str()
		case "priority":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Priority.decodeJX(d)
		case "status":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			v.Status.decodeJX(d)
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x7 != 0x7 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "content")
		case seen&0x2 == 0:
			d.Missing(m, "priority")
		case seen&0x4 == 0:
			d.Missing(m, "status")
		}
	}
}
func (v *PlanEntry) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *PlanEntry) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = PlanEntry{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *PlanEntry) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v PlanEntry) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *PlanEntry) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"content":`...)
	b = jx.AppendString(b, v.Content)
	b = jx.Comma(b)
	b = append(b, `"priority":`...)
	b = jx.AppendString(b, string(v.Priority))
	b = jx.Comma(b)
	b = append(b, `"status":`...)
	b = jx.AppendString(b, string(v.Status))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type PlanEntryPriority string

const (
	PlanEntryPriorityHigh   PlanEntryPriority = "high"
	PlanEntryPriorityMedium PlanEntryPriority = "medium"
	PlanEntryPriorityLow    PlanEntryPriority = "low"
)

func (v *PlanEntryPriority) decodeJX(d *jx.Dec) {
	m := d.Mark()
	_ = m
	s := d.StrBytes()
	switch string(s) {
	case "high":
		*v = PlanEntryPriorityHigh
	case "medium":
		*v = PlanEntryPriorityMedium
	case "low":
		*v = PlanEntryPriorityLow
	default:
		if !d.Failed() {
			d.BadTag(m, "PlanEntryPriority", s)
		}
	}
}

type PlanEntryStatus string

const (
	PlanEntryStatusPending    PlanEntryStatus = "pending"
	PlanEntryStatusInProgress PlanEntryStatus = "in_progress"
	PlanEntryStatusCompleted  PlanEntryStatus = "completed"
)

func (v *PlanEntryStatus) decodeJX(d *jx.Dec) {
	m := d.Mark()
	_ = m
	s := d.StrBytes()
	switch string(s) {
	case "pending":
		*v = PlanEntryStatusPending
	case "in_progress":
		*v = PlanEntryStatusInProgress
	case "completed":
		*v = PlanEntryStatusCompleted
	default:
		if !d.Failed() {
			d.BadTag(m, "PlanEntryStatus", s)
		}
	}
}

type Plan struct {
	Entries []PlanEntry `json:"entries"`
	Meta    RawMessage  `json:"_meta,omitzero"`
}

func (v *Plan) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "entries":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			{
				mk := d.Mark()
				if d.Array() {
					v.Entries = []PlanEntry{}
					for d.More(']') {
						mk := d.Mark()
						var e PlanEntry
						e.decodeJX(d)
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.Entries = append(v.Entries, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.Entries = nil
				}
			}
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "entries")
		}
	}
}
func (v *Plan) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *Plan) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = Plan{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *Plan) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v Plan) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *Plan) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"entries":`...)
	b = append(b, '[')
	for i := range v.Entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.Entries[i].appendJX(b)
	}
	b = append(b, ']')
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type AvailableCommand struct {
	Name        string                `json:"name"`
	Description string                `json:"description"`
	Input       AvailableCommandInput `json:"input,omitzero"`
	Meta        RawMessage            `json:"_meta,omitzero"`
}

func (v *AvailableCommand) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "name":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Name = d.Str()
		case "description":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Description = d.Str()
		case "input":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.Input = decodeAvailableCommandInput(d)
				if d.Failed() && d.Recover(mk) {
					v.Input = nil
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "name")
		case seen&0x2 == 0:
			d.Missing(m, "description")
		}
	}
}
func (v *AvailableCommand) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *AvailableCommand) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = AvailableCommand{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *AvailableCommand) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v AvailableCommand) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *AvailableCommand) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"name":`...)
	b = jx.AppendString(b, v.Name)
	b = jx.Comma(b)
	b = append(b, `"description":`...)
	b = jx.AppendString(b, v.Description)
	if v.Input != nil {
		b = jx.Comma(b)
		b = append(b, `"input":`...)
		b = appendAvailableCommandInput(b, v.Input)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type AvailableCommandInput interface {
	isAvailableCommandInput()
	appendMembers([]byte) []byte
}

// AvailableCommandInputOther is a variant this version does not know; it is kept as received.
type AvailableCommandInputOther struct {
	Tag string
	Raw RawMessage
}

func (v *AvailableCommandInputOther) appendMembers(b []byte) []byte {
	return jx.AppendMembers(b, v.Raw)
}
func decodeAvailableCommandInput(d *jx.Dec) AvailableCommandInput {
	m := d.Mark()
	_ = m
	var tag []byte
	_ = m
	if d.HasKeys("hint") {
		x := new(UnstructuredCommandInput)
		x.decodeJX(d)
		return x
	}
	r := d.Raw()
	if d.Failed() {
		return nil
	}
	return &AvailableCommandInputOther{Tag: string(tag), Raw: r}
}
func appendAvailableCommandInputMembers(b []byte, v AvailableCommandInput) []byte {
	if v == nil {
		return b
	}
	return v.appendMembers(b)
}
func appendAvailableCommandInput(b []byte, v AvailableCommandInput) []byte {
	if o, ok := v.(*AvailableCommandInputOther); ok {
		return append(b, o.Raw...)
	}
	b = append(b, '{')
	b = appendAvailableCommandInputMembers(b, v)
	return append(b, '}')
}

// DecodeAvailableCommandInput reads one value, for use outside a generated struct.
func DecodeAvailableCommandInput(b []byte) (AvailableCommandInput, error) {
	d := jx.New(b)
	v := decodeAvailableCommandInput(d)
	d.End()
	return v, d.Err()
}
func AppendAvailableCommandInput(b []byte, v AvailableCommandInput) []byte {
	return appendAvailableCommandInput(b, v)
}

type UnstructuredCommandInput struct {
	Hint string     `json:"hint"`
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *UnstructuredCommandInput) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "hint":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Hint = d.Str()
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "hint")
		}
	}
}
func (v *UnstructuredCommandInput) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *UnstructuredCommandInput) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = UnstructuredCommandInput{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *UnstructuredCommandInput) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v UnstructuredCommandInput) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *UnstructuredCommandInput) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"hint":`...)
	b = jx.AppendString(b, v.Hint)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type AvailableCommandsUpdate struct {
	AvailableCommands []AvailableCommand `json:"availableCommands"`
	Meta              RawMessage         `json:"_meta,omitzero"`
}

func (v *AvailableCommandsUpdate) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "availableCommands":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			{
				mk := d.Mark()
				if d.Array() {
					v.AvailableCommands = []AvailableCommand{}
					for d.More(']') {
						mk := d.Mark()
						var e AvailableCommand
						e.decodeJX(d)
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.AvailableCommands = append(v.AvailableCommands, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.AvailableCommands = nil
				}
			}
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "availableCommands")
		}
	}
}
func (v *AvailableCommandsUpdate) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *AvailableCommandsUpdate) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = AvailableCommandsUpdate{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *AvailableCommandsUpdate) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v AvailableCommandsUpdate) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *AvailableCommandsUpdate) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"availableCommands":`...)
	b = append(b, '[')
	for i := range v.AvailableCommands {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.AvailableCommands[i].appendJX(b)
	}
	b = append(b, ']')
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type CurrentModeUpdate struct {
	CurrentModeID SessionModeID `json:"currentModeId"`
	Meta          RawMessage    `json:"_meta,omitzero"`
}

func (v *CurrentModeUpdate) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "currentModeId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.CurrentModeID = SessionModeID(d.Str())
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "currentModeId")
		}
	}
}
func (v *CurrentModeUpdate) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *CurrentModeUpdate) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = CurrentModeUpdate{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *CurrentModeUpdate) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v CurrentModeUpdate) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *CurrentModeUpdate) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"currentModeId":`...)
	b = jx.AppendString(b, string(v.CurrentModeID))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ConfigOptionUpdate struct {
	ConfigOptions []SessionConfigOption `json:"configOptions"`
	Meta          RawMessage            `json:"_meta,omitzero"`
}

func (v *ConfigOptionUpdate) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "configOptions":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			{
				mk := d.Mark()
				if d.Array() {
					v.ConfigOptions = []SessionConfigOption{}
					for d.More(']') {
						mk := d.Mark()
						var e SessionConfigOption
						e.decodeJX(d)
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.ConfigOptions = append(v.ConfigOptions, e)
					}
				}
				if d.Failed() && d.Recover(mk) {
					v.ConfigOptions = nil
				}
			}
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "configOptions")
		}
	}
}
func (v *ConfigOptionUpdate) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ConfigOptionUpdate) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ConfigOptionUpdate{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ConfigOptionUpdate) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ConfigOptionUpdate) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ConfigOptionUpdate) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"configOptions":`...)
	b = append(b, '[')
	for i := range v.ConfigOptions {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.ConfigOptions[i].appendJX(b)
	}
	b = append(b, ']')
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SessionInfoUpdate struct {
	Title     Patch[string] `json:"title,omitzero"`
	UpdatedAt Patch[string] `json:"updatedAt,omitzero"`
	Meta      RawMessage    `json:"_meta,omitzero"`
}

func (v *SessionInfoUpdate) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "title":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if d.Null() {
				v.Title.State = PatchNull
			} else {
				mk := d.Mark()
				v.Title.V = d.Str()
				v.Title.State = PatchValue
				if d.Failed() && d.Recover(mk) {
					v.Title = Patch[string]{}
				}
			}
		case "updatedAt":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if d.Null() {
				v.UpdatedAt.State = PatchNull
			} else {
				mk := d.Mark()
				v.UpdatedAt.V = d.Str()
				v.UpdatedAt.State = PatchValue
				if d.Failed() && d.Recover(mk) {
					v.UpdatedAt = Patch[string]{}
				}
			}
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *SessionInfoUpdate) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SessionInfoUpdate) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionInfoUpdate{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionInfoUpdate) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionInfoUpdate) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SessionInfoUpdate) appendMembers(b []byte) []byte {
	if v.Title.State != 0 {
		b = jx.Comma(b)
		b = append(b, `"title":`...)
		if v.Title.State == PatchNull {
			b = append(b, "null"...)
		} else {
			b = jx.AppendString(b, v.Title.V)
		}
	}
	if v.UpdatedAt.State != 0 {
		b = jx.Comma(b)
		b = append(b, `"updatedAt":`...)
		if v.UpdatedAt.State == PatchNull {
			b = append(b, "null"...)
		} else {
			b = jx.AppendString(b, v.UpdatedAt.V)
		}
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type Cost struct {
	Amount   float64    `json:"amount"`
	Currency string     `json:"currency"`
	Meta     RawMessage `json:"_meta,omitzero"`
}

func (v *Cost) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "amount":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Amount = d.Float()
		case "currency":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Currency = d.Str()
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "amount")
		case seen&0x2 == 0:
			d.Missing(m, "currency")
		}
	}
}
func (v *Cost) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *Cost) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = Cost{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *Cost) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v Cost) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *Cost) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"amount":`...)
	b = jx.AppendFloat(b, v.Amount)
	b = jx.Comma(b)
	b = append(b, `"currency":`...)
	b = jx.AppendString(b, v.Currency)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type UsageUpdate struct {
	Used uint64     `json:"used"`
	Size uint64     `json:"size"`
	Cost *Cost      `json:"cost,omitzero"`
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *UsageUpdate) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "used":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Used = d.Uint64()
		case "size":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Size = d.Uint64()
		case "cost":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.Cost = new(Cost)
				v.Cost.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Cost = nil
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "used")
		case seen&0x2 == 0:
			d.Missing(m, "size")
		}
	}
}
func (v *UsageUpdate) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *UsageUpdate) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = UsageUpdate{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *UsageUpdate) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v UsageUpdate) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *UsageUpdate) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"used":`...)
	b = jx.AppendUint(b, uint64(v.Used))
	b = jx.Comma(b)
	b = append(b, `"size":`...)
	b = jx.AppendUint(b, uint64(v.Size))
	if v.Cost != nil {
		b = jx.Comma(b)
		b = append(b, `"cost":`...)
		b = v.Cost.appendJX(b)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type NoticeSeverity string

const (
	NoticeSeverityInfo    NoticeSeverity = "info"
	NoticeSeverityWarning NoticeSeverity = "warning"
	NoticeSeverityError   NoticeSeverity = "error"
)

func (v *NoticeSeverity) decodeJX(d *jx.Dec) {
	m := d.Mark()
	_ = m
	s := d.StrBytes()
	switch string(s) {
	case "info":
		*v = NoticeSeverityInfo
	case "warning":
		*v = NoticeSeverityWarning
	case "error":
		*v = NoticeSeverityError
	default:
		*v = NoticeSeverity(s)
	}
}

type Notice struct {
	Severity    NoticeSeverity `json:"severity"`
	Title       string         `json:"title"`
	Description Opt[string]    `json:"description,omitzero"`
	Meta        RawMessage     `json:"_meta,omitzero"`
}

func (v *Notice) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "severity":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Severity.decodeJX(d)
		case "title":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Title = d.Str()
		case "description":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.Description.V = d.Str()
				v.Description.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Description = Opt[string]{}
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "severity")
		case seen&0x2 == 0:
			d.Missing(m, "title")
		}
	}
}
func (v *Notice) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *Notice) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = Notice{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *Notice) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v Notice) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *Notice) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"severity":`...)
	b = jx.AppendString(b, string(v.Severity))
	b = jx.Comma(b)
	b = append(b, `"title":`...)
	b = jx.AppendString(b, v.Title)
	if v.Description.OK {
		b = jx.Comma(b)
		b = append(b, `"description":`...)
		b = jx.AppendString(b, v.Description.V)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type CompactionID string
type CompactionStatus string

const (
	CompactionStatusInProgress CompactionStatus = "in_progress"
	CompactionStatusCompleted  CompactionStatus = "completed"
	CompactionStatusFailed     CompactionStatus = "failed"
	CompactionStatusCancelled  CompactionStatus = "cancelled"
)

func (v *CompactionStatus) decodeJX(d *jx.Dec) {
	m := d.Mark()
	_ = m
	s := d.StrBytes()
	switch string(s) {
	case "in_progress":
		*v = CompactionStatusInProgress
	case "completed":
		*v = CompactionStatusCompleted
	case "failed":
		*v = CompactionStatusFailed
	case "cancelled":
		*v = CompactionStatusCancelled
	default:
		*v = CompactionStatus(s)
	}
}

type CompactionUpdate struct {
	CompactionID CompactionID          `json:"compactionId"`
	Status       CompactionStatus      `json:"status"`
	Summary      Patch[[]ContentBlock] `json:"summary,omitzero"`
	Error        Patch[string]         `json:"error,omitzero"`
	Meta         Patch[RawMessage]     `json:"_meta,omitzero"`
}

func (v *CompactionUpdate) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "compactionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.CompactionID = CompactionID(d.Str())
		case "status":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Status.decodeJX(d)
		case "summary":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if d.Null() {
				v.Summary.State = PatchNull
			} else {
				mk := d.Mark()
				if d.Array() {
					v.Summary.V = []ContentBlock{}
					for d.More(']') {
						mk := d.Mark()
						var e ContentBlock
						e = decodeContentBlock(d)
						if d.Failed() && d.Recover(mk) {
							continue
						}
						v.Summary.V = append(v.Summary.V, e)
					}
				}
				v.Summary.State = PatchValue
				if d.Failed() && d.Recover(mk) {
					v.Summary = Patch[[]ContentBlock]{}
				}
			}
		case "error":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if d.Null() {
				v.Error.State = PatchNull
			} else {
				mk := d.Mark()
				v.Error.V = d.Str()
				v.Error.State = PatchValue
				if d.Failed() && d.Recover(mk) {
					v.Error = Patch[string]{}
				}
			}
		case "_meta":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if d.Null() {
				v.Meta.State = PatchNull
			} else {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta.V = d.Raw()
				}
				v.Meta.State = PatchValue
				if d.Failed() && d.Recover(mk) {
					v.Meta = Patch[RawMessage]{}
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "compactionId")
		case seen&0x2 == 0:
			d.Missing(m, "status")
		}
	}
}
func (v *CompactionUpdate) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *CompactionUpdate) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = CompactionUpdate{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *CompactionUpdate) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v CompactionUpdate) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *CompactionUpdate) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"compactionId":`...)
	b = jx.AppendString(b, string(v.CompactionID))
	b = jx.Comma(b)
	b = append(b, `"status":`...)
	b = jx.AppendString(b, string(v.Status))
	if v.Summary.State != 0 {
		b = jx.Comma(b)
		b = append(b, `"summary":`...)
		if v.Summary.State == PatchNull {
			b = append(b, "null"...)
		} else {
			b = append(b, '[')
			for i := range v.Summary.V {
				if i > 0 {
					b = append(b, ',')
				}
				b = appendContentBlock(b, v.Summary.V[i])
			}
			b = append(b, ']')
		}
	}
	if v.Error.State != 0 {
		b = jx.Comma(b)
		b = append(b, `"error":`...)
		if v.Error.State == PatchNull {
			b = append(b, "null"...)
		} else {
			b = jx.AppendString(b, v.Error.V)
		}
	}
	if v.Meta.State != 0 {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		if v.Meta.State == PatchNull {
			b = append(b, "null"...)
		} else {
			b = jx.AppendRaw(b, v.Meta.V)
		}
	}
	return b
}

type CompactionSummaryChunk struct {
	CompactionID CompactionID `json:"compactionId"`
	Content      ContentBlock `json:"content"`
	Meta         RawMessage   `json:"_meta,omitzero"`
}

func (v *CompactionSummaryChunk) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "compactionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.CompactionID = CompactionID(d.Str())
		case "content":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Content = decodeContentBlock(d)
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "compactionId")
		case seen&0x2 == 0:
			d.Missing(m, "content")
		}
	}
}
func (v *CompactionSummaryChunk) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *CompactionSummaryChunk) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = CompactionSummaryChunk{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *CompactionSummaryChunk) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v CompactionSummaryChunk) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *CompactionSummaryChunk) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"compactionId":`...)
	b = jx.AppendString(b, string(v.CompactionID))
	b = jx.Comma(b)
	b = append(b, `"content":`...)
	b = appendContentBlock(b, v.Content)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type CompleteElicitationNotification struct {
	ElicitationID ElicitationID `json:"elicitationId"`
	Meta          RawMessage    `json:"_meta,omitzero"`
}

func (v *CompleteElicitationNotification) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "elicitationId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.ElicitationID = ElicitationID(d.Str())
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "elicitationId")
		}
	}
}
func (v *CompleteElicitationNotification) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *CompleteElicitationNotification) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = CompleteElicitationNotification{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *CompleteElicitationNotification) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v CompleteElicitationNotification) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *CompleteElicitationNotification) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"elicitationId":`...)
	b = jx.AppendString(b, string(v.ElicitationID))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ExtNotification = RawMessage
type InitializeRequest struct {
	ProtocolVersion    ProtocolVersion     `json:"protocolVersion"`
	ClientCapabilities *ClientCapabilities `json:"clientCapabilities,omitzero"`
	ClientInfo         *Implementation     `json:"clientInfo,omitzero"`
	Meta               RawMessage          `json:"_meta,omitzero"`
}

func (v *InitializeRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "protocolVersion":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.ProtocolVersion = ProtocolVersion(d.Int(0, 65535))
		case "clientCapabilities":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			{
				mk := d.Mark()
				v.ClientCapabilities = new(ClientCapabilities)
				v.ClientCapabilities.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.ClientCapabilities = nil
				}
			}
		case "clientInfo":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.ClientInfo = new(Implementation)
				v.ClientInfo.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.ClientInfo = nil
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "protocolVersion")
		}
	}
}
func (v *InitializeRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *InitializeRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = InitializeRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *InitializeRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v InitializeRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *InitializeRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"protocolVersion":`...)
	b = jx.AppendInt(b, int64(v.ProtocolVersion))
	if v.ClientCapabilities != nil {
		b = jx.Comma(b)
		b = append(b, `"clientCapabilities":`...)
		b = v.ClientCapabilities.appendJX(b)
	}
	if v.ClientInfo != nil {
		b = jx.Comma(b)
		b = append(b, `"clientInfo":`...)
		b = v.ClientInfo.appendJX(b)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ClientCapabilities struct {
	Fs          *FileSystemCapabilities    `json:"fs,omitzero"`
	Terminal    bool                       `json:"terminal,omitzero"`
	Session     *ClientSessionCapabilities `json:"session,omitzero"`
	Auth        *AuthCapabilities          `json:"auth,omitzero"`
	Elicitation *ElicitationCapabilities   `json:"elicitation,omitzero"`
	Meta        RawMessage                 `json:"_meta,omitzero"`
}

func (v *ClientCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "fs":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			{
				mk := d.Mark()
				v.Fs = new(FileSystemCapabilities)
				v.Fs.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Fs = nil
				}
			}
		case "terminal":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			{
				mk := d.Mark()
				v.Terminal = d.Bool()
				if d.Failed() && d.Recover(mk) {
					v.Terminal = false
				}
			}
		case "session":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.Session = new(ClientSessionCapabilities)
				v.Session.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Session = nil
				}
			}
		case "auth":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			{
				mk := d.Mark()
				v.Auth = new(AuthCapabilities)
				v.Auth.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Auth = nil
				}
			}
		case "elicitation":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				mk := d.Mark()
				v.Elicitation = new(ElicitationCapabilities)
				v.Elicitation.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Elicitation = nil
				}
			}
		case "_meta":
			if seen&0x20 != 0 {
				d.Dup()
			}
			seen |= 0x20
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *ClientCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ClientCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ClientCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ClientCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ClientCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ClientCapabilities) appendMembers(b []byte) []byte {
	if v.Fs != nil {
		b = jx.Comma(b)
		b = append(b, `"fs":`...)
		b = v.Fs.appendJX(b)
	}
	if v.Terminal {
		b = jx.Comma(b)
		b = append(b, `"terminal":`...)
		b = jx.AppendBool(b, v.Terminal)
	}
	if v.Session != nil {
		b = jx.Comma(b)
		b = append(b, `"session":`...)
		b = v.Session.appendJX(b)
	}
	if v.Auth != nil {
		b = jx.Comma(b)
		b = append(b, `"auth":`...)
		b = v.Auth.appendJX(b)
	}
	if v.Elicitation != nil {
		b = jx.Comma(b)
		b = append(b, `"elicitation":`...)
		b = v.Elicitation.appendJX(b)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type FileSystemCapabilities struct {
	ReadTextFile  bool       `json:"readTextFile,omitzero"`
	WriteTextFile bool       `json:"writeTextFile,omitzero"`
	Meta          RawMessage `json:"_meta,omitzero"`
}

func (v *FileSystemCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "readTextFile":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			{
				mk := d.Mark()
				v.ReadTextFile = d.Bool()
				if d.Failed() && d.Recover(mk) {
					v.ReadTextFile = false
				}
			}
		case "writeTextFile":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			{
				mk := d.Mark()
				v.WriteTextFile = d.Bool()
				if d.Failed() && d.Recover(mk) {
					v.WriteTextFile = false
				}
			}
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *FileSystemCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *FileSystemCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = FileSystemCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *FileSystemCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v FileSystemCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *FileSystemCapabilities) appendMembers(b []byte) []byte {
	if v.ReadTextFile {
		b = jx.Comma(b)
		b = append(b, `"readTextFile":`...)
		b = jx.AppendBool(b, v.ReadTextFile)
	}
	if v.WriteTextFile {
		b = jx.Comma(b)
		b = append(b, `"writeTextFile":`...)
		b = jx.AppendBool(b, v.WriteTextFile)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ClientSessionCapabilities struct {
	Compaction    *CompactionCapabilities           `json:"compaction,omitzero"`
	ConfigOptions *SessionConfigOptionsCapabilities `json:"configOptions,omitzero"`
	Notices       *NoticeCapabilities               `json:"notices,omitzero"`
	Meta          RawMessage                        `json:"_meta,omitzero"`
}

func (v *ClientSessionCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "compaction":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.Compaction = new(CompactionCapabilities)
				v.Compaction.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Compaction = nil
				}
			}
		case "configOptions":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.ConfigOptions = new(SessionConfigOptionsCapabilities)
				v.ConfigOptions.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.ConfigOptions = nil
				}
			}
		case "notices":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.Notices = new(NoticeCapabilities)
				v.Notices.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Notices = nil
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *ClientSessionCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ClientSessionCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ClientSessionCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ClientSessionCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ClientSessionCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ClientSessionCapabilities) appendMembers(b []byte) []byte {
	if v.Compaction != nil {
		b = jx.Comma(b)
		b = append(b, `"compaction":`...)
		b = v.Compaction.appendJX(b)
	}
	if v.ConfigOptions != nil {
		b = jx.Comma(b)
		b = append(b, `"configOptions":`...)
		b = v.ConfigOptions.appendJX(b)
	}
	if v.Notices != nil {
		b = jx.Comma(b)
		b = append(b, `"notices":`...)
		b = v.Notices.appendJX(b)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type CompactionCapabilities struct{}

func (v *CompactionCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *CompactionCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *CompactionCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = CompactionCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *CompactionCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v CompactionCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *CompactionCapabilities) appendMembers(b []byte) []byte {
	return b
}

type SessionConfigOptionsCapabilities struct {
	Boolean *BooleanConfigOptionCapabilities `json:"boolean,omitzero"`
	Meta    RawMessage                       `json:"_meta,omitzero"`
}

func (v *SessionConfigOptionsCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "boolean":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.Boolean = new(BooleanConfigOptionCapabilities)
				v.Boolean.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Boolean = nil
				}
			}
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *SessionConfigOptionsCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SessionConfigOptionsCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SessionConfigOptionsCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SessionConfigOptionsCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SessionConfigOptionsCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SessionConfigOptionsCapabilities) appendMembers(b []byte) []byte {
	if v.Boolean != nil {
		b = jx.Comma(b)
		b = append(b, `"boolean":`...)
		b = v.Boolean.appendJX(b)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type BooleanConfigOptionCapabilities struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *BooleanConfigOptionCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *BooleanConfigOptionCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *BooleanConfigOptionCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = BooleanConfigOptionCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *BooleanConfigOptionCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v BooleanConfigOptionCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *BooleanConfigOptionCapabilities) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type NoticeCapabilities struct{}

func (v *NoticeCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *NoticeCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *NoticeCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = NoticeCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *NoticeCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v NoticeCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *NoticeCapabilities) appendMembers(b []byte) []byte {
	return b
}

type AuthCapabilities struct {
	Terminal bool       `json:"terminal,omitzero"`
	Meta     RawMessage `json:"_meta,omitzero"`
}

func (v *AuthCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "terminal":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			{
				mk := d.Mark()
				v.Terminal = d.Bool()
				if d.Failed() && d.Recover(mk) {
					v.Terminal = false
				}
			}
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *AuthCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *AuthCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = AuthCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *AuthCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v AuthCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *AuthCapabilities) appendMembers(b []byte) []byte {
	if v.Terminal {
		b = jx.Comma(b)
		b = append(b, `"terminal":`...)
		b = jx.AppendBool(b, v.Terminal)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ElicitationCapabilities struct {
	Form *ElicitationFormCapabilities `json:"form,omitzero"`
	URL  *ElicitationURLCapabilities  `json:"url,omitzero"`
	Meta RawMessage                   `json:"_meta,omitzero"`
}

func (v *ElicitationCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "form":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.Form = new(ElicitationFormCapabilities)
				v.Form.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.Form = nil
				}
			}
		case "url":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.URL = new(ElicitationURLCapabilities)
				v.URL.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.URL = nil
				}
			}
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *ElicitationCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ElicitationCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ElicitationCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ElicitationCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ElicitationCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ElicitationCapabilities) appendMembers(b []byte) []byte {
	if v.Form != nil {
		b = jx.Comma(b)
		b = append(b, `"form":`...)
		b = v.Form.appendJX(b)
	}
	if v.URL != nil {
		b = jx.Comma(b)
		b = append(b, `"url":`...)
		b = v.URL.appendJX(b)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ElicitationFormCapabilities struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *ElicitationFormCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *ElicitationFormCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ElicitationFormCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ElicitationFormCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ElicitationFormCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ElicitationFormCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ElicitationFormCapabilities) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ElicitationURLCapabilities struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *ElicitationURLCapabilities) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *ElicitationURLCapabilities) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ElicitationURLCapabilities) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ElicitationURLCapabilities{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ElicitationURLCapabilities) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ElicitationURLCapabilities) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ElicitationURLCapabilities) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type AuthenticateRequest struct {
	MethodID AuthMethodID `json:"methodId"`
	Meta     RawMessage   `json:"_meta,omitzero"`
}

func (v *AuthenticateRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "methodId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.MethodID = AuthMethodID(d.Str())
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "methodId")
		}
	}
}
func (v *AuthenticateRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *AuthenticateRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = AuthenticateRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *AuthenticateRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v AuthenticateRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *AuthenticateRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"methodId":`...)
	b = jx.AppendString(b, string(v.MethodID))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type LogoutRequest struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *LogoutRequest) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *LogoutRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *LogoutRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = LogoutRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *LogoutRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v LogoutRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *LogoutRequest) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type NewSessionRequest struct {
	Cwd                   string      `json:"cwd"`
	AdditionalDirectories []string    `json:"additionalDirectories,omitzero"`
	MCPServers            []MCPServer `json:"mcpServers"`
	Meta                  RawMessage  `json:"_meta,omitzero"`
}

func (v *NewSessionRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "cwd":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Cwd = d.Str()
		case "additionalDirectories":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				if d.Array() {
					v.AdditionalDirectories = []string{}
					for d.More(']') {
						var e string
						e = d.Str()
						v.AdditionalDirectories = append(v.AdditionalDirectories, e)
					}
				}
			}
		case "mcpServers":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				if d.Array() {
					v.MCPServers = []MCPServer{}
					for d.More(']') {
						var e MCPServer
						e = decodeMCPServer(d)
						v.MCPServers = append(v.MCPServers, e)
					}
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x5 != 0x5 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "cwd")
		case seen&0x4 == 0:
			d.Missing(m, "mcpServers")
		}
	}
}
func (v *NewSessionRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *NewSessionRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = NewSessionRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *NewSessionRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v NewSessionRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *NewSessionRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"cwd":`...)
	b = jx.AppendString(b, v.Cwd)
	if v.AdditionalDirectories != nil {
		b = jx.Comma(b)
		b = append(b, `"additionalDirectories":`...)
		b = append(b, '[')
		for i := range v.AdditionalDirectories {
			if i > 0 {
				b = append(b, ',')
			}
			b = jx.AppendString(b, v.AdditionalDirectories[i])
		}
		b = append(b, ']')
	}
	b = jx.Comma(b)
	b = append(b, `"mcpServers":`...)
	b = append(b, '[')
	for i := range v.MCPServers {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendMCPServer(b, v.MCPServers[i])
	}
	b = append(b, ']')
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type MCPServer interface {
	isMCPServer()
	appendMembers([]byte) []byte
}

func decodeMCPServer(d *jx.Dec) MCPServer {
	m := d.Mark()
	_ = m
	tag, found := d.Tag("type")
	_ = found
	switch string(tag) {
	case "http":
		x := new(MCPServerHTTP)
		x.decodeJX(d)
		return x
	case "sse":
		x := new(MCPServerSSE)
		x.decodeJX(d)
		return x
	default:
		x := new(MCPServerStdio)
		x.decodeJX(d)
		return x
	}
}
func appendMCPServerMembers(b []byte, v MCPServer) []byte {
	if v == nil {
		return b
	}
	switch v.(type) {
	case *MCPServerHTTP:
		b = append(jx.Comma(b), `"type":"http"`...)
	case *MCPServerSSE:
		b = append(jx.Comma(b), `"type":"sse"`...)
	}
	return v.appendMembers(b)
}
func appendMCPServer(b []byte, v MCPServer) []byte {
	b = append(b, '{')
	b = appendMCPServerMembers(b, v)
	return append(b, '}')
}

// DecodeMCPServer reads one value, for use outside a generated struct.
func DecodeMCPServer(b []byte) (MCPServer, error) {
	d := jx.New(b)
	v := decodeMCPServer(d)
	d.End()
	return v, d.Err()
}
func AppendMCPServer(b []byte, v MCPServer) []byte {
	return appendMCPServer(b, v)
}

type HTTPHeader struct {
	Name  string     `json:"name"`
	Value string     `json:"value"`
	Meta  RawMessage `json:"_meta,omitzero"`
}

func (v *HTTPHeader) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "name":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Name = d.Str()
		case "value":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Value = d.Str()
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "name")
		case seen&0x2 == 0:
			d.Missing(m, "value")
		}
	}
}
func (v *HTTPHeader) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *HTTPHeader) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = HTTPHeader{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *HTTPHeader) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v HTTPHeader) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *HTTPHeader) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"name":`...)
	b = jx.AppendString(b, v.Name)
	b = jx.Comma(b)
	b = append(b, `"value":`...)
	b = jx.AppendString(b, v.Value)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type MCPServerHTTP struct {
	Name    string       `json:"name"`
	URL     string       `json:"url"`
	Headers []HTTPHeader `json:"headers"`
	Meta    RawMessage   `json:"_meta,omitzero"`
}

func (v *MCPServerHTTP) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "name":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Name = d.Str()
		case "url":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.URL = d.Str()
		case "headers":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				if d.Array() {
					v.Headers = []HTTPHeader{}
					for d.More(']') {
						var e HTTPHeader
						e.decodeJX(d)
						v.Headers = append(v.Headers, e)
					}
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x7 != 0x7 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "name")
		case seen&0x2 == 0:
			d.Missing(m, "url")
		case seen&0x4 == 0:
			d.Missing(m, "headers")
		}
	}
}
func (v *MCPServerHTTP) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *MCPServerHTTP) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = MCPServerHTTP{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *MCPServerHTTP) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v MCPServerHTTP) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *MCPServerHTTP) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"name":`...)
	b = jx.AppendString(b, v.Name)
	b = jx.Comma(b)
	b = append(b, `"url":`...)
	b = jx.AppendString(b, v.URL)
	b = jx.Comma(b)
	b = append(b, `"headers":`...)
	b = append(b, '[')
	for i := range v.Headers {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.Headers[i].appendJX(b)
	}
	b = append(b, ']')
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type MCPServerSSE struct {
	Name    string       `json:"name"`
	URL     string       `json:"url"`
	Headers []HTTPHeader `json:"headers"`
	Meta    RawMessage   `json:"_meta,omitzero"`
}

func (v *MCPServerSSE) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "name":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Name = d.Str()
		case "url":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.URL = d.Str()
		case "headers":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				if d.Array() {
					v.Headers = []HTTPHeader{}
					for d.More(']') {
						var e HTTPHeader
						e.decodeJX(d)
						v.Headers = append(v.Headers, e)
					}
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x7 != 0x7 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "name")
		case seen&0x2 == 0:
			d.Missing(m, "url")
		case seen&0x4 == 0:
			d.Missing(m, "headers")
		}
	}
}
func (v *MCPServerSSE) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *MCPServerSSE) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = MCPServerSSE{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *MCPServerSSE) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v MCPServerSSE) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *MCPServerSSE) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"name":`...)
	b = jx.AppendString(b, v.Name)
	b = jx.Comma(b)
	b = append(b, `"url":`...)
	b = jx.AppendString(b, v.URL)
	b = jx.Comma(b)
	b = append(b, `"headers":`...)
	b = append(b, '[')
	for i := range v.Headers {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.Headers[i].appendJX(b)
	}
	b = append(b, ']')
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type MCPServerStdio struct {
	Name    string        `json:"name"`
	Command string        `json:"command"`
	Args    []string      `json:"args"`
	Env     []EnvVariable `json:"env"`
	Meta    RawMessage    `json:"_meta,omitzero"`
}

func (v *MCPServerStdio) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "name":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Name = d.Str()
		case "command":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Command = d.Str()
		case "args":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				if d.Array() {
					v.Args = []string{}
					for d.More(']') {
						var e string
						e = d.Str()
						v.Args = append(v.Args, e)
					}
				}
			}
		case "env":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				if d.Array() {
					v.Env = []EnvVariable{}
					for d.More(']') {
						var e EnvVariable
						e.decodeJX(d)
						v.Env = append(v.Env, e)
					}
				}
			}
		case "_meta":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0xf != 0xf {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "name")
		case seen&0x2 == 0:
			d.Missing(m, "command")
		case seen&0x4 == 0:
			d.Missing(m, "args")
		case seen&0x8 == 0:
			d.Missing(m, "env")
		}
	}
}
func (v *MCPServerStdio) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *MCPServerStdio) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = MCPServerStdio{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *MCPServerStdio) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v MCPServerStdio) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *MCPServerStdio) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"name":`...)
	b = jx.AppendString(b, v.Name)
	b = jx.Comma(b)
	b = append(b, `"command":`...)
	b = jx.AppendString(b, v.Command)
	b = jx.Comma(b)
	b = append(b, `"args":`...)
	b = append(b, '[')
	for i := range v.Args {
		if i > 0 {
			b = append(b, ',')
		}
		b = jx.AppendString(b, v.Args[i])
	}
	b = append(b, ']')
	b = jx.Comma(b)
	b = append(b, `"env":`...)
	b = append(b, '[')
	for i := range v.Env {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.Env[i].appendJX(b)
	}
	b = append(b, ']')
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type LoadSessionRequest struct {
	MCPServers            []MCPServer `json:"mcpServers"`
	Cwd                   string      `json:"cwd"`
	AdditionalDirectories []string    `json:"additionalDirectories,omitzero"`
	SessionID             SessionID   `json:"sessionId"`
	Meta                  RawMessage  `json:"_meta,omitzero"`
}

func (v *LoadSessionRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "mcpServers":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				if d.Array() {
					v.MCPServers = []MCPServer{}
					for d.More(']') {
						var e MCPServer
						e = decodeMCPServer(d)
						v.MCPServers = append(v.MCPServers, e)
					}
				}
			}
		case "cwd":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Cwd = d.Str()
		case "additionalDirectories":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				if d.Array() {
					v.AdditionalDirectories = []string{}
					for d.More(']') {
						var e string
						e = d.Str()
						v.AdditionalDirectories = append(v.AdditionalDirectories, e)
					}
				}
			}
		case "sessionId":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			v.SessionID = SessionID(d.Str())
		case "_meta":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0xb != 0xb {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "mcpServers")
		case seen&0x2 == 0:
			d.Missing(m, "cwd")
		case seen&0x8 == 0:
			d.Missing(m, "sessionId")
		}
	}
}
func (v *LoadSessionRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *LoadSessionRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = LoadSessionRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *LoadSessionRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v LoadSessionRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *LoadSessionRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"mcpServers":`...)
	b = append(b, '[')
	for i := range v.MCPServers {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendMCPServer(b, v.MCPServers[i])
	}
	b = append(b, ']')
	b = jx.Comma(b)
	b = append(b, `"cwd":`...)
	b = jx.AppendString(b, v.Cwd)
	if v.AdditionalDirectories != nil {
		b = jx.Comma(b)
		b = append(b, `"additionalDirectories":`...)
		b = append(b, '[')
		for i := range v.AdditionalDirectories {
			if i > 0 {
				b = append(b, ',')
			}
			b = jx.AppendString(b, v.AdditionalDirectories[i])
		}
		b = append(b, ']')
	}
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ListSessionsRequest struct {
	Cwd    Opt[string] `json:"cwd,omitzero"`
	Cursor Opt[string] `json:"cursor,omitzero"`
	Meta   RawMessage  `json:"_meta,omitzero"`
}

func (v *ListSessionsRequest) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "cwd":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				v.Cwd.V = d.Str()
				v.Cwd.OK = true
			}
		case "cursor":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				v.Cursor.V = d.Str()
				v.Cursor.OK = true
			}
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *ListSessionsRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ListSessionsRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ListSessionsRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ListSessionsRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ListSessionsRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ListSessionsRequest) appendMembers(b []byte) []byte {
	if v.Cwd.OK {
		b = jx.Comma(b)
		b = append(b, `"cwd":`...)
		b = jx.AppendString(b, v.Cwd.V)
	}
	if v.Cursor.OK {
		b = jx.Comma(b)
		b = append(b, `"cursor":`...)
		b = jx.AppendString(b, v.Cursor.V)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type DeleteSessionRequest struct {
	SessionID SessionID  `json:"sessionId"`
	Meta      RawMessage `json:"_meta,omitzero"`
}

func (v *DeleteSessionRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		}
	}
}
func (v *DeleteSessionRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *DeleteSessionRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = DeleteSessionRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *DeleteSessionRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v DeleteSessionRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *DeleteSessionRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ResumeSessionRequest struct {
	SessionID             SessionID   `json:"sessionId"`
	Cwd                   string      `json:"cwd"`
	AdditionalDirectories []string    `json:"additionalDirectories,omitzero"`
	MCPServers            []MCPServer `json:"mcpServers,omitzero"`
	Meta                  RawMessage  `json:"_meta,omitzero"`
}

func (v *ResumeSessionRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "cwd":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Cwd = d.Str()
		case "additionalDirectories":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				if d.Array() {
					v.AdditionalDirectories = []string{}
					for d.More(']') {
						var e string
						e = d.Str()
						v.AdditionalDirectories = append(v.AdditionalDirectories, e)
					}
				}
			}
		case "mcpServers":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				if d.Array() {
					v.MCPServers = []MCPServer{}
					for d.More(']') {
						var e MCPServer
						e = decodeMCPServer(d)
						v.MCPServers = append(v.MCPServers, e)
					}
				}
			}
		case "_meta":
			if seen&0x10 != 0 {
				d.Dup()
			}
			seen |= 0x10
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		case seen&0x2 == 0:
			d.Missing(m, "cwd")
		}
	}
}
func (v *ResumeSessionRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ResumeSessionRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ResumeSessionRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ResumeSessionRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ResumeSessionRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ResumeSessionRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	b = jx.Comma(b)
	b = append(b, `"cwd":`...)
	b = jx.AppendString(b, v.Cwd)
	if v.AdditionalDirectories != nil {
		b = jx.Comma(b)
		b = append(b, `"additionalDirectories":`...)
		b = append(b, '[')
		for i := range v.AdditionalDirectories {
			if i > 0 {
				b = append(b, ',')
			}
			b = jx.AppendString(b, v.AdditionalDirectories[i])
		}
		b = append(b, ']')
	}
	if v.MCPServers != nil {
		b = jx.Comma(b)
		b = append(b, `"mcpServers":`...)
		b = append(b, '[')
		for i := range v.MCPServers {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendMCPServer(b, v.MCPServers[i])
		}
		b = append(b, ']')
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type CloseSessionRequest struct {
	SessionID SessionID  `json:"sessionId"`
	Meta      RawMessage `json:"_meta,omitzero"`
}

func (v *CloseSessionRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		}
	}
}
func (v *CloseSessionRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *CloseSessionRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = CloseSessionRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *CloseSessionRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v CloseSessionRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *CloseSessionRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SetSessionModeRequest struct {
	SessionID SessionID     `json:"sessionId"`
	ModeID    SessionModeID `json:"modeId"`
	Meta      RawMessage    `json:"_meta,omitzero"`
}

func (v *SetSessionModeRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "modeId":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.ModeID = SessionModeID(d.Str())
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		case seen&0x2 == 0:
			d.Missing(m, "modeId")
		}
	}
}
func (v *SetSessionModeRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SetSessionModeRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SetSessionModeRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SetSessionModeRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SetSessionModeRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SetSessionModeRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	b = jx.Comma(b)
	b = append(b, `"modeId":`...)
	b = jx.AppendString(b, string(v.ModeID))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type SetSessionConfigOptionRequestVariant interface {
	isSetSessionConfigOptionRequestVariant()
	appendMembers([]byte) []byte
}
type SetSessionConfigOptionRequestBoolean struct {
	Value bool `json:"value"`
}

func (v *SetSessionConfigOptionRequestBoolean) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "value":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Value = d.Bool()
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "value")
		}
	}
}
func (v *SetSessionConfigOptionRequestBoolean) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SetSessionConfigOptionRequestBoolean) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SetSessionConfigOptionRequestBoolean{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SetSessionConfigOptionRequestBoolean) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SetSessionConfigOptionRequestBoolean) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SetSessionConfigOptionRequestBoolean) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"value":`...)
	b = jx.AppendBool(b, v.Value)
	return b
}

type SetSessionConfigOptionRequestValueID struct {
	Value SessionConfigValueID `json:"value"`
}

func (v *SetSessionConfigOptionRequestValueID) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "value":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Value = SessionConfigValueID(d.Str())
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "value")
		}
	}
}
func (v *SetSessionConfigOptionRequestValueID) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SetSessionConfigOptionRequestValueID) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SetSessionConfigOptionRequestValueID{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SetSessionConfigOptionRequestValueID) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SetSessionConfigOptionRequestValueID) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SetSessionConfigOptionRequestValueID) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"value":`...)
	b = jx.AppendString(b, string(v.Value))
	return b
}
func decodeSetSessionConfigOptionRequestVariant(d *jx.Dec) SetSessionConfigOptionRequestVariant {
	m := d.Mark()
	_ = m
	tag, found := d.Tag("type")
	_ = found
	switch string(tag) {
	case "boolean":
		x := new(SetSessionConfigOptionRequestBoolean)
		x.decodeJX(d)
		return x
	default:
		x := new(SetSessionConfigOptionRequestValueID)
		x.decodeJX(d)
		return x
	}
}
func appendSetSessionConfigOptionRequestVariantMembers(b []byte, v SetSessionConfigOptionRequestVariant) []byte {
	if v == nil {
		return b
	}
	switch v.(type) {
	case *SetSessionConfigOptionRequestBoolean:
		b = append(jx.Comma(b), `"type":"boolean"`...)
	}
	return v.appendMembers(b)
}
func appendSetSessionConfigOptionRequestVariant(b []byte, v SetSessionConfigOptionRequestVariant) []byte {
	b = append(b, '{')
	b = appendSetSessionConfigOptionRequestVariantMembers(b, v)
	return append(b, '}')
}

// DecodeSetSessionConfigOptionRequestVariant reads one value, for use outside a generated struct.
func DecodeSetSessionConfigOptionRequestVariant(b []byte) (SetSessionConfigOptionRequestVariant, error) {
	d := jx.New(b)
	v := decodeSetSessionConfigOptionRequestVariant(d)
	d.End()
	return v, d.Err()
}
func AppendSetSessionConfigOptionRequestVariant(b []byte, v SetSessionConfigOptionRequestVariant) []byte {
	return appendSetSessionConfigOptionRequestVariant(b, v)
}

type SetSessionConfigOptionRequest struct {
	SessionID SessionID       `json:"sessionId"`
	ConfigID  SessionConfigID `json:"configId"`
	Meta      RawMessage      `json:"_meta,omitzero"`
	Variant   SetSessionConfigOptionRequestVariant
}

func (v *SetSessionConfigOptionRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "configId":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.ConfigID = SessionConfigID(d.Str())
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		case seen&0x2 == 0:
			d.Missing(m, "configId")
		}
	}
	if d.Failed() {
		return
	}
	e := d.Mark()
	d.Rewind(m)
	v.Variant = decodeSetSessionConfigOptionRequestVariant(d)
	if !d.Failed() {
		d.Rewind(e)
	}
}
func (v *SetSessionConfigOptionRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SetSessionConfigOptionRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SetSessionConfigOptionRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SetSessionConfigOptionRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SetSessionConfigOptionRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SetSessionConfigOptionRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	b = jx.Comma(b)
	b = append(b, `"configId":`...)
	b = jx.AppendString(b, string(v.ConfigID))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	b = appendSetSessionConfigOptionRequestVariantMembers(b, v.Variant)
	return b
}

type PromptRequest struct {
	SessionID SessionID      `json:"sessionId"`
	Prompt    []ContentBlock `json:"prompt"`
	Meta      RawMessage     `json:"_meta,omitzero"`
}

func (v *PromptRequest) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "prompt":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if d.Array() {
				v.Prompt = []ContentBlock{}
				for d.More(']') {
					var e ContentBlock
					e = decodeContentBlock(d)
					v.Prompt = append(v.Prompt, e)
				}
			}
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		case seen&0x2 == 0:
			d.Missing(m, "prompt")
		}
	}
}
func (v *PromptRequest) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *PromptRequest) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = PromptRequest{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *PromptRequest) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v PromptRequest) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *PromptRequest) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	b = jx.Comma(b)
	b = append(b, `"prompt":`...)
	b = append(b, '[')
	for i := range v.Prompt {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendContentBlock(b, v.Prompt[i])
	}
	b = append(b, ']')
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type WriteTextFileResponse struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *WriteTextFileResponse) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *WriteTextFileResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *WriteTextFileResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = WriteTextFileResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *WriteTextFileResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v WriteTextFileResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *WriteTextFileResponse) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ReadTextFileResponse struct {
	Content string     `json:"content"`
	Meta    RawMessage `json:"_meta,omitzero"`
}

func (v *ReadTextFileResponse) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "content":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Content = d.Str()
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "content")
		}
	}
}
func (v *ReadTextFileResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ReadTextFileResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ReadTextFileResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ReadTextFileResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ReadTextFileResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ReadTextFileResponse) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"content":`...)
	b = jx.AppendString(b, v.Content)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type RequestPermissionResponse struct {
	Outcome RequestPermissionOutcome `json:"outcome"`
	Meta    RawMessage               `json:"_meta,omitzero"`
}

func (v *RequestPermissionResponse) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "outcome":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Outcome = decodeRequestPermissionOutcome(d)
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "outcome")
		}
	}
}
func (v *RequestPermissionResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *RequestPermissionResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = RequestPermissionResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *RequestPermissionResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v RequestPermissionResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *RequestPermissionResponse) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"outcome":`...)
	b = appendRequestPermissionOutcome(b, v.Outcome)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type RequestPermissionOutcome interface {
	isRequestPermissionOutcome()
	appendMembers([]byte) []byte
}

// RequestPermissionOutcomeOther is a variant this version does not know; it is kept as received.
type RequestPermissionOutcomeOther struct {
	Tag string
	Raw RawMessage
}

func (v *RequestPermissionOutcomeOther) appendMembers(b []byte) []byte {
	return jx.AppendMembers(b, v.Raw)
}

type RequestPermissionOutcomeCancelled struct{}

func (v *RequestPermissionOutcomeCancelled) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *RequestPermissionOutcomeCancelled) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *RequestPermissionOutcomeCancelled) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = RequestPermissionOutcomeCancelled{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *RequestPermissionOutcomeCancelled) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v RequestPermissionOutcomeCancelled) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *RequestPermissionOutcomeCancelled) appendMembers(b []byte) []byte {
	return b
}
func decodeRequestPermissionOutcome(d *jx.Dec) RequestPermissionOutcome {
	m := d.Mark()
	_ = m
	tag, found := d.Tag("outcome")
	if !found {
		if !d.Failed() {
			if d.Peek() == '{' {
				d.Missing(m, "outcome")
			} else {
				d.Obj()
			}
		}
		return nil
	}
	switch string(tag) {
	case "cancelled":
		x := new(RequestPermissionOutcomeCancelled)
		x.decodeJX(d)
		return x
	case "selected":
		x := new(SelectedPermissionOutcome)
		x.decodeJX(d)
		return x
	}
	r := d.Raw()
	if d.Failed() {
		return nil
	}
	return &RequestPermissionOutcomeOther{Tag: string(tag), Raw: r}
}
func appendRequestPermissionOutcomeMembers(b []byte, v RequestPermissionOutcome) []byte {
	if v == nil {
		return b
	}
	switch v.(type) {
	case *RequestPermissionOutcomeCancelled:
		b = append(jx.Comma(b), `"outcome":"cancelled"`...)
	case *SelectedPermissionOutcome:
		b = append(jx.Comma(b), `"outcome":"selected"`...)
	}
	return v.appendMembers(b)
}
func appendRequestPermissionOutcome(b []byte, v RequestPermissionOutcome) []byte {
	if o, ok := v.(*RequestPermissionOutcomeOther); ok {
		return append(b, o.Raw...)
	}
	b = append(b, '{')
	b = appendRequestPermissionOutcomeMembers(b, v)
	return append(b, '}')
}

// DecodeRequestPermissionOutcome reads one value, for use outside a generated struct.
func DecodeRequestPermissionOutcome(b []byte) (RequestPermissionOutcome, error) {
	d := jx.New(b)
	v := decodeRequestPermissionOutcome(d)
	d.End()
	return v, d.Err()
}
func AppendRequestPermissionOutcome(b []byte, v RequestPermissionOutcome) []byte {
	return appendRequestPermissionOutcome(b, v)
}

type SelectedPermissionOutcome struct {
	OptionID PermissionOptionID `json:"optionId"`
	Meta     RawMessage         `json:"_meta,omitzero"`
}

func (v *SelectedPermissionOutcome) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "optionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.OptionID = PermissionOptionID(d.Str())
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "optionId")
		}
	}
}
func (v *SelectedPermissionOutcome) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *SelectedPermissionOutcome) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = SelectedPermissionOutcome{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *SelectedPermissionOutcome) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v SelectedPermissionOutcome) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *SelectedPermissionOutcome) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"optionId":`...)
	b = jx.AppendString(b, string(v.OptionID))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type CreateTerminalResponse struct {
	TerminalID TerminalID `json:"terminalId"`
	Meta       RawMessage `json:"_meta,omitzero"`
}

func (v *CreateTerminalResponse) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "terminalId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.TerminalID = TerminalID(d.Str())
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "terminalId")
		}
	}
}
func (v *CreateTerminalResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *CreateTerminalResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = CreateTerminalResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *CreateTerminalResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v CreateTerminalResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *CreateTerminalResponse) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"terminalId":`...)
	b = jx.AppendString(b, string(v.TerminalID))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type TerminalOutputResponse struct {
	Output     string              `json:"output"`
	Truncated  bool                `json:"truncated"`
	ExitStatus *TerminalExitStatus `json:"exitStatus,omitzero"`
	Meta       RawMessage          `json:"_meta,omitzero"`
}

func (v *TerminalOutputResponse) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "output":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.Output = d.Str()
		case "truncated":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			v.Truncated = d.Bool()
		case "exitStatus":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				v.ExitStatus = new(TerminalExitStatus)
				v.ExitStatus.decodeJX(d)
				if d.Failed() && d.Recover(mk) {
					v.ExitStatus = nil
				}
			}
		case "_meta":
			if seen&0x8 != 0 {
				d.Dup()
			}
			seen |= 0x8
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x3 != 0x3 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "output")
		case seen&0x2 == 0:
			d.Missing(m, "truncated")
		}
	}
}
func (v *TerminalOutputResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *TerminalOutputResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = TerminalOutputResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *TerminalOutputResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v TerminalOutputResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *TerminalOutputResponse) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"output":`...)
	b = jx.AppendString(b, v.Output)
	b = jx.Comma(b)
	b = append(b, `"truncated":`...)
	b = jx.AppendBool(b, v.Truncated)
	if v.ExitStatus != nil {
		b = jx.Comma(b)
		b = append(b, `"exitStatus":`...)
		b = v.ExitStatus.appendJX(b)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type TerminalExitStatus struct {
	ExitCode Opt[uint32] `json:"exitCode,omitzero"`
	Signal   Opt[string] `json:"signal,omitzero"`
	Meta     RawMessage  `json:"_meta,omitzero"`
}

func (v *TerminalExitStatus) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "exitCode":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.ExitCode.V = uint32(d.Int(0, 4294967295))
				v.ExitCode.OK = true
				if d.Failed() && d.Recover(mk) {
					v.ExitCode = Opt[uint32]{}
				}
			}
		case "signal":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.Signal.V = d.Str()
				v.Signal.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Signal = Opt[string]{}
				}
			}
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *TerminalExitStatus) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *TerminalExitStatus) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = TerminalExitStatus{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *TerminalExitStatus) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v TerminalExitStatus) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *TerminalExitStatus) appendMembers(b []byte) []byte {
	if v.ExitCode.OK {
		b = jx.Comma(b)
		b = append(b, `"exitCode":`...)
		b = jx.AppendUint(b, uint64(v.ExitCode.V))
	}
	if v.Signal.OK {
		b = jx.Comma(b)
		b = append(b, `"signal":`...)
		b = jx.AppendString(b, v.Signal.V)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type ReleaseTerminalResponse struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *ReleaseTerminalResponse) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *ReleaseTerminalResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ReleaseTerminalResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ReleaseTerminalResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ReleaseTerminalResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ReleaseTerminalResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ReleaseTerminalResponse) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type WaitForTerminalExitResponse struct {
	ExitCode Opt[uint32] `json:"exitCode,omitzero"`
	Signal   Opt[string] `json:"signal,omitzero"`
	Meta     RawMessage  `json:"_meta,omitzero"`
}

func (v *WaitForTerminalExitResponse) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "exitCode":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				v.ExitCode.V = uint32(d.Int(0, 4294967295))
				v.ExitCode.OK = true
				if d.Failed() && d.Recover(mk) {
					v.ExitCode = Opt[uint32]{}
				}
			}
		case "signal":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				v.Signal.V = d.Str()
				v.Signal.OK = true
				if d.Failed() && d.Recover(mk) {
					v.Signal = Opt[string]{}
				}
			}
		case "_meta":
			if seen&0x4 != 0 {
				d.Dup()
			}
			seen |= 0x4
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *WaitForTerminalExitResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *WaitForTerminalExitResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = WaitForTerminalExitResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *WaitForTerminalExitResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v WaitForTerminalExitResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *WaitForTerminalExitResponse) appendMembers(b []byte) []byte {
	if v.ExitCode.OK {
		b = jx.Comma(b)
		b = append(b, `"exitCode":`...)
		b = jx.AppendUint(b, uint64(v.ExitCode.V))
	}
	if v.Signal.OK {
		b = jx.Comma(b)
		b = append(b, `"signal":`...)
		b = jx.AppendString(b, v.Signal.V)
	}
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type KillTerminalResponse struct {
	Meta RawMessage `json:"_meta,omitzero"`
}

func (v *KillTerminalResponse) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *KillTerminalResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *KillTerminalResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = KillTerminalResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *KillTerminalResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v KillTerminalResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *KillTerminalResponse) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type CreateElicitationResponseVariant interface {
	isCreateElicitationResponseVariant()
	appendMembers([]byte) []byte
}

// CreateElicitationResponseVariantOther is a variant this version does not know; it is kept as received.
type CreateElicitationResponseVariantOther struct {
	Tag string
	Raw RawMessage
}

func (v *CreateElicitationResponseVariantOther) appendMembers(b []byte) []byte {
	return jx.AppendMembers(b, v.Raw)
}

type CreateElicitationResponseDecline struct{}

func (v *CreateElicitationResponseDecline) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *CreateElicitationResponseDecline) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *CreateElicitationResponseDecline) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = CreateElicitationResponseDecline{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *CreateElicitationResponseDecline) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v CreateElicitationResponseDecline) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *CreateElicitationResponseDecline) appendMembers(b []byte) []byte {
	return b
}

type CreateElicitationResponseCancel struct{}

func (v *CreateElicitationResponseCancel) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *CreateElicitationResponseCancel) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *CreateElicitationResponseCancel) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = CreateElicitationResponseCancel{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *CreateElicitationResponseCancel) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v CreateElicitationResponseCancel) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *CreateElicitationResponseCancel) appendMembers(b []byte) []byte {
	return b
}
func decodeCreateElicitationResponseVariant(d *jx.Dec) CreateElicitationResponseVariant {
	m := d.Mark()
	_ = m
	tag, found := d.Tag("action")
	if !found {
		if !d.Failed() {
			if d.Peek() == '{' {
				d.Missing(m, "action")
			} else {
				d.Obj()
			}
		}
		return nil
	}
	switch string(tag) {
	case "accept":
		x := new(ElicitationAcceptAction)
		x.decodeJX(d)
		return x
	case "decline":
		x := new(CreateElicitationResponseDecline)
		x.decodeJX(d)
		return x
	case "cancel":
		x := new(CreateElicitationResponseCancel)
		x.decodeJX(d)
		return x
	}
	r := d.Raw()
	if d.Failed() {
		return nil
	}
	return &CreateElicitationResponseVariantOther{Tag: string(tag), Raw: r}
}
func appendCreateElicitationResponseVariantMembers(b []byte, v CreateElicitationResponseVariant) []byte {
	if v == nil {
		return b
	}
	switch v.(type) {
	case *ElicitationAcceptAction:
		b = append(jx.Comma(b), `"action":"accept"`...)
	case *CreateElicitationResponseDecline:
		b = append(jx.Comma(b), `"action":"decline"`...)
	case *CreateElicitationResponseCancel:
		b = append(jx.Comma(b), `"action":"cancel"`...)
	}
	return v.appendMembers(b)
}
func appendCreateElicitationResponseVariant(b []byte, v CreateElicitationResponseVariant) []byte {
	if o, ok := v.(*CreateElicitationResponseVariantOther); ok {
		return append(b, o.Raw...)
	}
	b = append(b, '{')
	b = appendCreateElicitationResponseVariantMembers(b, v)
	return append(b, '}')
}

// DecodeCreateElicitationResponseVariant reads one value, for use outside a generated struct.
func DecodeCreateElicitationResponseVariant(b []byte) (CreateElicitationResponseVariant, error) {
	d := jx.New(b)
	v := decodeCreateElicitationResponseVariant(d)
	d.End()
	return v, d.Err()
}
func AppendCreateElicitationResponseVariant(b []byte, v CreateElicitationResponseVariant) []byte {
	return appendCreateElicitationResponseVariant(b, v)
}

type CreateElicitationResponse struct {
	Meta    RawMessage `json:"_meta,omitzero"`
	Variant CreateElicitationResponseVariant
}

func (v *CreateElicitationResponse) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "_meta":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if d.Failed() {
		return
	}
	e := d.Mark()
	d.Rewind(m)
	v.Variant = decodeCreateElicitationResponseVariant(d)
	if !d.Failed() {
		d.Rewind(e)
	}
}
func (v *CreateElicitationResponse) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *CreateElicitationResponse) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = CreateElicitationResponse{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *CreateElicitationResponse) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v CreateElicitationResponse) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *CreateElicitationResponse) appendMembers(b []byte) []byte {
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	b = appendCreateElicitationResponseVariantMembers(b, v.Variant)
	return b
}

type ElicitationContentValue struct {
	Raw RawMessage
}

func (v *ElicitationContentValue) decodeJX(d *jx.Dec) {
	v.Raw = d.Raw()
}
func (v *ElicitationContentValue) appendJX(b []byte) []byte {
	return jx.AppendRaw(b, v.Raw)
}
func (v *ElicitationContentValue) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ElicitationContentValue{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ElicitationContentValue) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ElicitationContentValue) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}

type ElicitationAcceptAction struct {
	Content map[string]ElicitationContentValue `json:"content,omitzero"`
}

func (v *ElicitationAcceptAction) decodeJX(d *jx.Dec) {
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "content":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			if !d.Null() {
				if d.Obj() {
					v.Content = map[string]ElicitationContentValue{}
					for d.More('}') {
						k := string(d.Key())
						var e ElicitationContentValue
						e.decodeJX(d)
						v.Content[k] = e
					}
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
}
func (v *ElicitationAcceptAction) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *ElicitationAcceptAction) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = ElicitationAcceptAction{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *ElicitationAcceptAction) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v ElicitationAcceptAction) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *ElicitationAcceptAction) appendMembers(b []byte) []byte {
	if v.Content != nil {
		b = jx.Comma(b)
		b = append(b, `"content":`...)
		b = append(b, '{')
		for _, k := range jx.Keys(v.Content) {
			b = jx.Comma(b)
			b = jx.AppendString(b, k)
			b = append(b, ':')
			e := v.Content[k]
			b = e.appendJX(b)
		}
		b = append(b, '}')
	}
	return b
}

type CancelNotification struct {
	SessionID SessionID  `json:"sessionId"`
	Meta      RawMessage `json:"_meta,omitzero"`
}

func (v *CancelNotification) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "sessionId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.SessionID = SessionID(d.Str())
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "sessionId")
		}
	}
}
func (v *CancelNotification) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *CancelNotification) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = CancelNotification{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *CancelNotification) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v CancelNotification) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *CancelNotification) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"sessionId":`...)
	b = jx.AppendString(b, string(v.SessionID))
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}

type CancelRequestNotification struct {
	RequestID RequestID  `json:"requestId"`
	Meta      RawMessage `json:"_meta,omitzero"`
}

func (v *CancelRequestNotification) decodeJX(d *jx.Dec) {
	m := d.Mark()
	if !d.Obj() {
		return
	}
	var seen uint64
	for d.More('}') {
		switch string(d.Key()) {
		case "requestId":
			if seen&0x1 != 0 {
				d.Dup()
			}
			seen |= 0x1
			v.RequestID.decodeJX(d)
		case "_meta":
			if seen&0x2 != 0 {
				d.Dup()
			}
			seen |= 0x2
			if !d.Null() {
				mk := d.Mark()
				if d.Peek() != '{' {
					d.Obj()
				} else {
					v.Meta = d.Raw()
				}
				if d.Failed() && d.Recover(mk) {
					v.Meta = nil
				}
			}
		default:
			d.Skip()
		}
	}
	_ = seen
	if seen&0x1 != 0x1 {
		switch {
		case seen&0x1 == 0:
			d.Missing(m, "requestId")
		}
	}
}
func (v *CancelRequestNotification) appendJX(b []byte) []byte {
	b = append(b, '{')
	b = v.appendMembers(b)
	return append(b, '}')
}
func (v *CancelRequestNotification) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*v = CancelRequestNotification{}
	v.decodeJX(&d)
	d.End()
	return d.Err()
}
func (v *CancelRequestNotification) AppendJSON(b []byte) []byte {
	return v.appendJX(b)
}
func (v CancelRequestNotification) MarshalJSON() ([]byte, error) {
	return v.appendJX(nil), nil
}
func (v *CancelRequestNotification) appendMembers(b []byte) []byte {
	b = jx.Comma(b)
	b = append(b, `"requestId":`...)
	b = v.RequestID.appendJX(b)
	if v.Meta != nil {
		b = jx.Comma(b)
		b = append(b, `"_meta":`...)
		b = jx.AppendRaw(b, v.Meta)
	}
	return b
}
func (*AgentMessageChunk) isSessionUpdate()                                           {}
func (*AgentThoughtChunk) isSessionUpdate()                                           {}
func (*AudioContent) isContentBlock()                                                 {}
func (*AuthMethodAgent) isAuthMethod()                                                {}
func (*AuthMethodTerminal) isAuthMethod()                                             {}
func (*AvailableCommandInputOther) isAvailableCommandInput()                          {}
func (*AvailableCommandsUpdate) isSessionUpdate()                                     {}
func (*BlobResourceContents) isEmbeddedResourceResource()                             {}
func (*BooleanPropertySchema) isElicitationPropertySchema()                           {}
func (*CompactionSummaryChunk) isSessionUpdate()                                      {}
func (*CompactionUpdate) isSessionUpdate()                                            {}
func (*ConfigOptionUpdate) isSessionUpdate()                                          {}
func (*Content) isToolCallContent()                                                   {}
func (*ContentBlockOther) isContentBlock()                                            {}
func (*CreateElicitationRequestVariantOther) isCreateElicitationRequestVariant()      {}
func (*CreateElicitationResponseCancel) isCreateElicitationResponseVariant()          {}
func (*CreateElicitationResponseDecline) isCreateElicitationResponseVariant()         {}
func (*CreateElicitationResponseVariantOther) isCreateElicitationResponseVariant()    {}
func (*CurrentModeUpdate) isSessionUpdate()                                           {}
func (*Diff) isToolCallContent()                                                      {}
func (*ElicitationAcceptAction) isCreateElicitationResponseVariant()                  {}
func (*ElicitationFormMode) isCreateElicitationRequestVariant()                       {}
func (*ElicitationFormModeVariantOther) isElicitationFormModeVariant()                {}
func (*ElicitationPropertySchemaOther) isElicitationPropertySchema()                  {}
func (*ElicitationRequestScope) isElicitationFormModeVariant()                        {}
func (*ElicitationRequestScope) isElicitationURLModeVariant()                         {}
func (*ElicitationSessionScope) isElicitationFormModeVariant()                        {}
func (*ElicitationSessionScope) isElicitationURLModeVariant()                         {}
func (*ElicitationURLMode) isCreateElicitationRequestVariant()                        {}
func (*ElicitationURLModeVariantOther) isElicitationURLModeVariant()                  {}
func (*EmbeddedResource) isContentBlock()                                             {}
func (*EmbeddedResourceResourceOther) isEmbeddedResourceResource()                    {}
func (*ImageContent) isContentBlock()                                                 {}
func (*IntegerPropertySchema) isElicitationPropertySchema()                           {}
func (*MCPServerHTTP) isMCPServer()                                                   {}
func (*MCPServerSSE) isMCPServer()                                                    {}
func (*MCPServerStdio) isMCPServer()                                                  {}
func (*MultiSelectItemsOther) isMultiSelectItems()                                    {}
func (*MultiSelectPropertySchema) isElicitationPropertySchema()                       {}
func (*Notice) isSessionUpdate()                                                      {}
func (*NumberPropertySchema) isElicitationPropertySchema()                            {}
func (*Plan) isSessionUpdate()                                                        {}
func (*RequestPermissionOutcomeCancelled) isRequestPermissionOutcome()                {}
func (*RequestPermissionOutcomeOther) isRequestPermissionOutcome()                    {}
func (*ResourceLink) isContentBlock()                                                 {}
func (*SelectedPermissionOutcome) isRequestPermissionOutcome()                        {}
func (*SessionConfigBoolean) isSessionConfigOptionVariant()                           {}
func (*SessionConfigOptionVariantOther) isSessionConfigOptionVariant()                {}
func (*SessionConfigSelect) isSessionConfigOptionVariant()                            {}
func (*SessionInfoUpdate) isSessionUpdate()                                           {}
func (*SessionUpdateOther) isSessionUpdate()                                          {}
func (*SetSessionConfigOptionRequestBoolean) isSetSessionConfigOptionRequestVariant() {}
func (*SetSessionConfigOptionRequestValueID) isSetSessionConfigOptionRequestVariant() {}
func (*StringMultiSelectItems) isMultiSelectItems()                                   {}
func (*StringPropertySchema) isElicitationPropertySchema()                            {}
func (*Terminal) isToolCallContent()                                                  {}
func (*TextContent) isContentBlock()                                                  {}
func (*TextResourceContents) isEmbeddedResourceResource()                             {}
func (*TitledMultiSelectItems) isMultiSelectItems()                                   {}
func (*ToolCall) isSessionUpdate()                                                    {}
func (*ToolCallContentOther) isToolCallContent()                                      {}
func (*ToolCallUpdate) isSessionUpdate()                                              {}
func (*UnstructuredCommandInput) isAvailableCommandInput()                            {}
func (*UsageUpdate) isSessionUpdate()                                                 {}
func (*UserMessageChunk) isSessionUpdate()                                            {}

// Method names.
const (
	MethodAuthenticate             = "authenticate"
	MethodInitialize               = "initialize"
	MethodLogout                   = "logout"
	MethodSessionCancel            = "session/cancel"
	MethodSessionClose             = "session/close"
	MethodSessionDelete            = "session/delete"
	MethodSessionList              = "session/list"
	MethodSessionLoad              = "session/load"
	MethodSessionNew               = "session/new"
	MethodSessionPrompt            = "session/prompt"
	MethodSessionResume            = "session/resume"
	MethodSessionSetConfigOption   = "session/set_config_option"
	MethodSessionSetMode           = "session/set_mode"
	MethodElicitationComplete      = "elicitation/complete"
	MethodElicitationCreate        = "elicitation/create"
	MethodFsReadTextFile           = "fs/read_text_file"
	MethodFsWriteTextFile          = "fs/write_text_file"
	MethodSessionRequestPermission = "session/request_permission"
	MethodSessionUpdate            = "session/update"
	MethodTerminalCreate           = "terminal/create"
	MethodTerminalKill             = "terminal/kill"
	MethodTerminalOutput           = "terminal/output"
	MethodTerminalRelease          = "terminal/release"
	MethodTerminalWaitForExit      = "terminal/wait_for_exit"
	MethodCancelRequest            = "$/cancel_request"
)

// AgentHandler is what the agent side implements.
type AgentHandler interface {
	Authenticate(context.Context, *AuthenticateRequest) (*AuthenticateResponse, error)
	Initialize(context.Context, *InitializeRequest) (*InitializeResponse, error)
	Logout(context.Context, *LogoutRequest) (*LogoutResponse, error)
	Cancel(context.Context, *CancelNotification) error
	CloseSession(context.Context, *CloseSessionRequest) (*CloseSessionResponse, error)
	DeleteSession(context.Context, *DeleteSessionRequest) (*DeleteSessionResponse, error)
	ListSessions(context.Context, *ListSessionsRequest) (*ListSessionsResponse, error)
	LoadSession(context.Context, *LoadSessionRequest) (*LoadSessionResponse, error)
	NewSession(context.Context, *NewSessionRequest) (*NewSessionResponse, error)
	Prompt(context.Context, *PromptRequest) (*PromptResponse, error)
	ResumeSession(context.Context, *ResumeSessionRequest) (*ResumeSessionResponse, error)
	SetSessionConfigOption(context.Context, *SetSessionConfigOptionRequest) (*SetSessionConfigOptionResponse, error)
	SetSessionMode(context.Context, *SetSessionModeRequest) (*SetSessionModeResponse, error)
}

// UnimplementedAgentHandler answers every method with method not found. Embed it, so that a method added later does not break your type.
type UnimplementedAgentHandler struct{}

func (UnimplementedAgentHandler) Authenticate(context.Context, *AuthenticateRequest) (*AuthenticateResponse, error) {
	return nil, MethodNotFound("authenticate")
}
func (UnimplementedAgentHandler) Initialize(context.Context, *InitializeRequest) (*InitializeResponse, error) {
	return nil, MethodNotFound("initialize")
}
func (UnimplementedAgentHandler) Logout(context.Context, *LogoutRequest) (*LogoutResponse, error) {
	return nil, MethodNotFound("logout")
}
func (UnimplementedAgentHandler) Cancel(context.Context, *CancelNotification) error {
	return MethodNotFound("session/cancel")
}
func (UnimplementedAgentHandler) CloseSession(context.Context, *CloseSessionRequest) (*CloseSessionResponse, error) {
	return nil, MethodNotFound("session/close")
}
func (UnimplementedAgentHandler) DeleteSession(context.Context, *DeleteSessionRequest) (*DeleteSessionResponse, error) {
	return nil, MethodNotFound("session/delete")
}
func (UnimplementedAgentHandler) ListSessions(context.Context, *ListSessionsRequest) (*ListSessionsResponse, error) {
	return nil, MethodNotFound("session/list")
}
func (UnimplementedAgentHandler) LoadSession(context.Context, *LoadSessionRequest) (*LoadSessionResponse, error) {
	return nil, MethodNotFound("session/load")
}
func (UnimplementedAgentHandler) NewSession(context.Context, *NewSessionRequest) (*NewSessionResponse, error) {
	return nil, MethodNotFound("session/new")
}
func (UnimplementedAgentHandler) Prompt(context.Context, *PromptRequest) (*PromptResponse, error) {
	return nil, MethodNotFound("session/prompt")
}
func (UnimplementedAgentHandler) ResumeSession(context.Context, *ResumeSessionRequest) (*ResumeSessionResponse, error) {
	return nil, MethodNotFound("session/resume")
}
func (UnimplementedAgentHandler) SetSessionConfigOption(context.Context, *SetSessionConfigOptionRequest) (*SetSessionConfigOptionResponse, error) {
	return nil, MethodNotFound("session/set_config_option")
}
func (UnimplementedAgentHandler) SetSessionMode(context.Context, *SetSessionModeRequest) (*SetSessionModeResponse, error) {
	return nil, MethodNotFound("session/set_mode")
}

// AgentSide makes a Handler that decodes, dispatches to h and encodes.
func AgentSide(h AgentHandler) Handler {
	return agentSide{h}
}

type agentSide struct {
	h AgentHandler
}

func (s agentSide) HandleRequest(ctx context.Context, method string, p json.RawMessage) (Appender, error) {
	switch method {
	case "authenticate":
		v := new(AuthenticateRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.Authenticate(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(AuthenticateResponse)
		}
		return r, nil
	case "initialize":
		v := new(InitializeRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.Initialize(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(InitializeResponse)
		}
		return r, nil
	case "logout":
		v := new(LogoutRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.Logout(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(LogoutResponse)
		}
		return r, nil
	case "session/close":
		v := new(CloseSessionRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.CloseSession(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(CloseSessionResponse)
		}
		return r, nil
	case "session/delete":
		v := new(DeleteSessionRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.DeleteSession(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(DeleteSessionResponse)
		}
		return r, nil
	case "session/list":
		v := new(ListSessionsRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.ListSessions(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(ListSessionsResponse)
		}
		return r, nil
	case "session/load":
		v := new(LoadSessionRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.LoadSession(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(LoadSessionResponse)
		}
		return r, nil
	case "session/new":
		v := new(NewSessionRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.NewSession(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(NewSessionResponse)
		}
		return r, nil
	case "session/prompt":
		v := new(PromptRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.Prompt(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(PromptResponse)
		}
		return r, nil
	case "session/resume":
		v := new(ResumeSessionRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.ResumeSession(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(ResumeSessionResponse)
		}
		return r, nil
	case "session/set_config_option":
		v := new(SetSessionConfigOptionRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.SetSessionConfigOption(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(SetSessionConfigOptionResponse)
		}
		return r, nil
	case "session/set_mode":
		v := new(SetSessionModeRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.SetSessionMode(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(SetSessionModeResponse)
		}
		return r, nil
	}
	if x, ok := s.h.(ExtHandler); ok {
		r, err := x.ExtRequest(ctx, method, p)
		if err != nil {
			return nil, err
		}
		return appendFunc(func(b []byte) []byte { return jx.AppendRaw(b, r) }), nil
	}
	return nil, MethodNotFound(method)
}
func (s agentSide) HandleNotification(ctx context.Context, method string, p json.RawMessage) error {
	switch method {
	case "session/cancel":
		v := new(CancelNotification)
		if err := v.UnmarshalJSON(p); err != nil {
			return InvalidParams(method, err)
		}
		return s.h.Cancel(ctx, v)
	}
	if x, ok := s.h.(ExtHandler); ok {
		return x.ExtNotification(ctx, method, p)
	}
	return MethodNotFound(method)
}

// Agent calls the methods of the agent at the other end of Conn.
type Agent struct {
	Conn Caller
}

func (a Agent) Authenticate(ctx context.Context, p *AuthenticateRequest) (*AuthenticateResponse, error) {
	r := new(AuthenticateResponse)
	if err := a.Conn.Call(ctx, "authenticate", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Agent) Initialize(ctx context.Context, p *InitializeRequest) (*InitializeResponse, error) {
	r := new(InitializeResponse)
	if err := a.Conn.Call(ctx, "initialize", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Agent) Logout(ctx context.Context, p *LogoutRequest) (*LogoutResponse, error) {
	r := new(LogoutResponse)
	if err := a.Conn.Call(ctx, "logout", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Agent) Cancel(ctx context.Context, p *CancelNotification) error {
	return a.Conn.Notify(ctx, "session/cancel", p)
}
func (a Agent) CloseSession(ctx context.Context, p *CloseSessionRequest) (*CloseSessionResponse, error) {
	r := new(CloseSessionResponse)
	if err := a.Conn.Call(ctx, "session/close", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Agent) DeleteSession(ctx context.Context, p *DeleteSessionRequest) (*DeleteSessionResponse, error) {
	r := new(DeleteSessionResponse)
	if err := a.Conn.Call(ctx, "session/delete", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Agent) ListSessions(ctx context.Context, p *ListSessionsRequest) (*ListSessionsResponse, error) {
	r := new(ListSessionsResponse)
	if err := a.Conn.Call(ctx, "session/list", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Agent) LoadSession(ctx context.Context, p *LoadSessionRequest) (*LoadSessionResponse, error) {
	r := new(LoadSessionResponse)
	if err := a.Conn.Call(ctx, "session/load", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Agent) NewSession(ctx context.Context, p *NewSessionRequest) (*NewSessionResponse, error) {
	r := new(NewSessionResponse)
	if err := a.Conn.Call(ctx, "session/new", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Agent) Prompt(ctx context.Context, p *PromptRequest) (*PromptResponse, error) {
	r := new(PromptResponse)
	if err := a.Conn.Call(ctx, "session/prompt", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Agent) ResumeSession(ctx context.Context, p *ResumeSessionRequest) (*ResumeSessionResponse, error) {
	r := new(ResumeSessionResponse)
	if err := a.Conn.Call(ctx, "session/resume", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Agent) SetSessionConfigOption(ctx context.Context, p *SetSessionConfigOptionRequest) (*SetSessionConfigOptionResponse, error) {
	r := new(SetSessionConfigOptionResponse)
	if err := a.Conn.Call(ctx, "session/set_config_option", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Agent) SetSessionMode(ctx context.Context, p *SetSessionModeRequest) (*SetSessionModeResponse, error) {
	r := new(SetSessionModeResponse)
	if err := a.Conn.Call(ctx, "session/set_mode", p, r); err != nil {
		return nil, err
	}
	return r, nil
}

// ClientHandler is what the client side implements.
type ClientHandler interface {
	CompleteElicitation(context.Context, *CompleteElicitationNotification) error
	CreateElicitation(context.Context, *CreateElicitationRequest) (*CreateElicitationResponse, error)
	ReadTextFile(context.Context, *ReadTextFileRequest) (*ReadTextFileResponse, error)
	WriteTextFile(context.Context, *WriteTextFileRequest) (*WriteTextFileResponse, error)
	RequestPermission(context.Context, *RequestPermissionRequest) (*RequestPermissionResponse, error)
	SessionUpdate(context.Context, *SessionNotification) error
	CreateTerminal(context.Context, *CreateTerminalRequest) (*CreateTerminalResponse, error)
	KillTerminal(context.Context, *KillTerminalRequest) (*KillTerminalResponse, error)
	TerminalOutput(context.Context, *TerminalOutputRequest) (*TerminalOutputResponse, error)
	ReleaseTerminal(context.Context, *ReleaseTerminalRequest) (*ReleaseTerminalResponse, error)
	WaitForTerminalExit(context.Context, *WaitForTerminalExitRequest) (*WaitForTerminalExitResponse, error)
}

// UnimplementedClientHandler answers every method with method not found. Embed it, so that a method added later does not break your type.
type UnimplementedClientHandler struct{}

func (UnimplementedClientHandler) CompleteElicitation(context.Context, *CompleteElicitationNotification) error {
	return MethodNotFound("elicitation/complete")
}
func (UnimplementedClientHandler) CreateElicitation(context.Context, *CreateElicitationRequest) (*CreateElicitationResponse, error) {
	return nil, MethodNotFound("elicitation/create")
}
func (UnimplementedClientHandler) ReadTextFile(context.Context, *ReadTextFileRequest) (*ReadTextFileResponse, error) {
	return nil, MethodNotFound("fs/read_text_file")
}
func (UnimplementedClientHandler) WriteTextFile(context.Context, *WriteTextFileRequest) (*WriteTextFileResponse, error) {
	return nil, MethodNotFound("fs/write_text_file")
}
func (UnimplementedClientHandler) RequestPermission(context.Context, *RequestPermissionRequest) (*RequestPermissionResponse, error) {
	return nil, MethodNotFound("session/request_permission")
}
func (UnimplementedClientHandler) SessionUpdate(context.Context, *SessionNotification) error {
	return MethodNotFound("session/update")
}
func (UnimplementedClientHandler) CreateTerminal(context.Context, *CreateTerminalRequest) (*CreateTerminalResponse, error) {
	return nil, MethodNotFound("terminal/create")
}
func (UnimplementedClientHandler) KillTerminal(context.Context, *KillTerminalRequest) (*KillTerminalResponse, error) {
	return nil, MethodNotFound("terminal/kill")
}
func (UnimplementedClientHandler) TerminalOutput(context.Context, *TerminalOutputRequest) (*TerminalOutputResponse, error) {
	return nil, MethodNotFound("terminal/output")
}
func (UnimplementedClientHandler) ReleaseTerminal(context.Context, *ReleaseTerminalRequest) (*ReleaseTerminalResponse, error) {
	return nil, MethodNotFound("terminal/release")
}
func (UnimplementedClientHandler) WaitForTerminalExit(context.Context, *WaitForTerminalExitRequest) (*WaitForTerminalExitResponse, error) {
	return nil, MethodNotFound("terminal/wait_for_exit")
}

// ClientSide makes a Handler that decodes, dispatches to h and encodes.
func ClientSide(h ClientHandler) Handler {
	return clientSide{h}
}

type clientSide struct {
	h ClientHandler
}

func (s clientSide) HandleRequest(ctx context.Context, method string, p json.RawMessage) (Appender, error) {
	switch method {
	case "elicitation/create":
		v := new(CreateElicitationRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.CreateElicitation(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(CreateElicitationResponse)
		}
		return r, nil
	case "fs/read_text_file":
		v := new(ReadTextFileRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.ReadTextFile(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(ReadTextFileResponse)
		}
		return r, nil
	case "fs/write_text_file":
		v := new(WriteTextFileRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.WriteTextFile(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(WriteTextFileResponse)
		}
		return r, nil
	case "session/request_permission":
		v := new(RequestPermissionRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.RequestPermission(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(RequestPermissionResponse)
		}
		return r, nil
	case "terminal/create":
		v := new(CreateTerminalRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.CreateTerminal(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(CreateTerminalResponse)
		}
		return r, nil
	case "terminal/kill":
		v := new(KillTerminalRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.KillTerminal(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(KillTerminalResponse)
		}
		return r, nil
	case "terminal/output":
		v := new(TerminalOutputRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.TerminalOutput(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(TerminalOutputResponse)
		}
		return r, nil
	case "terminal/release":
		v := new(ReleaseTerminalRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.ReleaseTerminal(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(ReleaseTerminalResponse)
		}
		return r, nil
	case "terminal/wait_for_exit":
		v := new(WaitForTerminalExitRequest)
		if err := v.UnmarshalJSON(p); err != nil {
			return nil, InvalidParams(method, err)
		}
		r, err := s.h.WaitForTerminalExit(ctx, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(WaitForTerminalExitResponse)
		}
		return r, nil
	}
	if x, ok := s.h.(ExtHandler); ok {
		r, err := x.ExtRequest(ctx, method, p)
		if err != nil {
			return nil, err
		}
		return appendFunc(func(b []byte) []byte { return jx.AppendRaw(b, r) }), nil
	}
	return nil, MethodNotFound(method)
}
func (s clientSide) HandleNotification(ctx context.Context, method string, p json.RawMessage) error {
	switch method {
	case "elicitation/complete":
		v := new(CompleteElicitationNotification)
		if err := v.UnmarshalJSON(p); err != nil {
			return InvalidParams(method, err)
		}
		return s.h.CompleteElicitation(ctx, v)
	case "session/update":
		v := new(SessionNotification)
		if err := v.UnmarshalJSON(p); err != nil {
			return InvalidParams(method, err)
		}
		return s.h.SessionUpdate(ctx, v)
	}
	if x, ok := s.h.(ExtHandler); ok {
		return x.ExtNotification(ctx, method, p)
	}
	return MethodNotFound(method)
}

// Client calls the methods of the client at the other end of Conn.
type Client struct {
	Conn Caller
}

func (a Client) CompleteElicitation(ctx context.Context, p *CompleteElicitationNotification) error {
	return a.Conn.Notify(ctx, "elicitation/complete", p)
}
func (a Client) CreateElicitation(ctx context.Context, p *CreateElicitationRequest) (*CreateElicitationResponse, error) {
	r := new(CreateElicitationResponse)
	if err := a.Conn.Call(ctx, "elicitation/create", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Client) ReadTextFile(ctx context.Context, p *ReadTextFileRequest) (*ReadTextFileResponse, error) {
	r := new(ReadTextFileResponse)
	if err := a.Conn.Call(ctx, "fs/read_text_file", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Client) WriteTextFile(ctx context.Context, p *WriteTextFileRequest) (*WriteTextFileResponse, error) {
	r := new(WriteTextFileResponse)
	if err := a.Conn.Call(ctx, "fs/write_text_file", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Client) RequestPermission(ctx context.Context, p *RequestPermissionRequest) (*RequestPermissionResponse, error) {
	r := new(RequestPermissionResponse)
	if err := a.Conn.Call(ctx, "session/request_permission", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Client) SessionUpdate(ctx context.Context, p *SessionNotification) error {
	return a.Conn.Notify(ctx, "session/update", p)
}
func (a Client) CreateTerminal(ctx context.Context, p *CreateTerminalRequest) (*CreateTerminalResponse, error) {
	r := new(CreateTerminalResponse)
	if err := a.Conn.Call(ctx, "terminal/create", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Client) KillTerminal(ctx context.Context, p *KillTerminalRequest) (*KillTerminalResponse, error) {
	r := new(KillTerminalResponse)
	if err := a.Conn.Call(ctx, "terminal/kill", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Client) TerminalOutput(ctx context.Context, p *TerminalOutputRequest) (*TerminalOutputResponse, error) {
	r := new(TerminalOutputResponse)
	if err := a.Conn.Call(ctx, "terminal/output", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Client) ReleaseTerminal(ctx context.Context, p *ReleaseTerminalRequest) (*ReleaseTerminalResponse, error) {
	r := new(ReleaseTerminalResponse)
	if err := a.Conn.Call(ctx, "terminal/release", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
func (a Client) WaitForTerminalExit(ctx context.Context, p *WaitForTerminalExitRequest) (*WaitForTerminalExitResponse, error) {
	r := new(WaitForTerminalExitResponse)
	if err := a.Conn.Call(ctx, "terminal/wait_for_exit", p, r); err != nil {
		return nil, err
	}
	return r, nil
}
