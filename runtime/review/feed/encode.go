package feed

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The message of a Report. Members are in the order of the documentation.
type (
	wireMessage struct {
		Version string `json:"jsonrpc"`
		ID      int64  `json:"id,omitempty"` // 0: of a notification
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}
	wireParams struct {
		Path    string    `json:"path,omitempty"`
		OldPath string    `json:"oldPath,omitempty"`
		NewPath string    `json:"newPath,omitempty"`
		Host    string    `json:"host,omitempty"`
		Content *string   `json:"content,omitempty"`
		Reason  string    `json:"reason,omitempty"`
		Whole   bool      `json:"whole,omitempty"`
		Meta    *wireMeta `json:"_meta,omitempty"`
	}
	wireMeta struct {
		Hermes wireHermes `json:"hermes"`
	}
	wireHermes struct {
		Phase    Phase        `json:"phase,omitempty"`
		Source   string       `json:"source,omitempty"`
		Fidelity string       `json:"fidelity,omitempty"`
		Agent    string       `json:"agent,omitempty"`
		Session  string       `json:"sessionId,omitempty"`
		Turn     string       `json:"turnId,omitempty"`
		ToolCall string       `json:"toolCallId,omitempty"`
		PID      int          `json:"pid,omitempty"`
		User     bool         `json:"user,omitempty"`
		Before   *wireVersion `json:"before,omitempty"`
		After    *wireVersion `json:"after,omitempty"`
		At       int64        `json:"at,omitempty"`
		Producer string       `json:"producer,omitempty"`
		Seq      uint64       `json:"seq,omitempty"`
	}
	wireVersion struct {
		Exists  *bool   `json:"exists,omitempty"`
		Hash    string  `json:"hash,omitempty"`
		Size    *int64  `json:"size,omitempty"`
		Content *string `json:"content,omitempty"`
		Mode    string  `json:"mode,omitempty"`
	}
	wireResume struct {
		Producer string `json:"producer"`
	}
	wireFlush struct {
		Flush int64 `json:"flush"`
	}
	wireYield struct {
		Program string `json:"program"`
		PID     int    `json:"pid"`
	}
)

// maxContent is the longest content that goes into a message, in bytes. JSON may
// need six bytes for one.
const maxContent = MaxMessage / 16

// encode returns the request for a report.
func encode(id int64, r Report) ([]byte, error) {
	h := wireHermes{
		Phase: r.Phase, Source: r.Author.Source, Agent: r.Agent,
		Session: r.Author.Session, Turn: r.Author.Turn, ToolCall: r.Author.ToolCall, PID: r.PID, User: r.User,
		Before: r.Before.wire(), Producer: r.Producer, Seq: r.Seq,
	}
	if !r.At.IsZero() {
		h.At = r.At.UnixMilli()
	}
	if r.Author.Inferred {
		h.Fidelity = "inferred"
	}
	p := wireParams{Path: r.Path, Host: clipped(r.Host, maxName), Reason: clipped(r.Reason, maxName), Whole: r.Whole}
	after := r.After.wire()
	switch {
	case r.Kind == Rename:
		p.Path, p.OldPath, p.NewPath = "", r.From, r.Path
	case r.Kind == Write && after != nil && after.Content != nil:
		p.Content, after.Content = after.Content, nil
	}
	h.After = after
	p.Meta = &wireMeta{h}
	return json.Marshal(wireMessage{"2.0", id, string(r.Kind), p})
}

// clipped is the beginning of a text that has no more bytes than are allowed.
func clipped(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// wire leaves out a text that a message cannot have; its hash and size remain.
func (v *Version) wire() *wireVersion {
	switch {
	case v == nil:
		return nil
	case v.Absent:
		return &wireVersion{Exists: new(bool)}
	}
	w := &wireVersion{}
	if v.Size >= 0 {
		w.Size = &v.Size
	}
	if !v.Hash.IsZero() {
		w.Hash = v.Hash.String()
	}
	if v.Mode != nil {
		w.Mode = fmt.Sprintf("%o", v.Mode.Perm())
	}
	if v.Text != nil && len(*v.Text) <= maxContent && utf8.ValidString(*v.Text) {
		w.Content = v.Text
	}
	return w
}
