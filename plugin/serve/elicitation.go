package serve

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/elicitation"
)

// CreateElicitation puts a form or a page to the user. A page whose link could
// mislead is declined without asking. If anything goes wrong, the answer is
// that the user cancelled.
func (k *Client) CreateElicitation(ctx context.Context, p *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	if !k.Permissions().MayElicit() {
		return nil, acp.MethodNotFound(acp.MethodElicitationCreate)
	}
	raw := p.AppendJSON(nil)
	session, ofSession := acp.SessionOf(raw) // otherwise it is about a request
	data := wire.From(raw)
	if fields, _ := ctx.Value(formKey{}).([]string); len(fields) > 0 {
		data.Strs("fields", fields)
	}
	if page, ok := p.Variant.(*acp.ElicitationURLMode); ok {
		link, err := elicitation.ParseLink(page.URL)
		if err != nil {
			k.Editor.Notice("warn", "%s wanted to open a page: %v", k.Agent, err)
			return &acp.CreateElicitationResponse{Variant: &acp.CreateElicitationResponseDecline{}}, nil
		}
		data.Str("host", link.Host)
	}
	q := ask.Question{
		Event:  events.Request(acp.MethodElicitationCreate, acp.CreateElicitationRequestVariantTag(p.Variant)),
		Method: acp.MethodElicitationCreate, Session: acp.SessionID(session), Alone: !ofSession,
		Data: data, User: true,
	}
	v, err := k.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	r := new(acp.CreateElicitationResponse)
	if v.Cancelled || v.Default || v.Error != nil {
		v.Result = json.RawMessage(`{"action":"cancel"}`)
	}
	if err := r.UnmarshalJSON(v.Result); err != nil {
		k.Editor.Notice("error", "the answer to %s from %s is not valid: %v", q.Event, v.By, err)
		return r, r.UnmarshalJSON([]byte(`{"action":"cancel"}`))
	}
	return r, nil
}

// formKey is the key of a context for the names of a form's fields.
type formKey struct{}

// fieldsOf returns the names of a form's fields in the order in which the agent
// wrote them, nil for no form.
func fieldsOf(params json.RawMessage) []string {
	var form struct {
		Schema struct {
			Properties json.RawMessage `json:"properties"`
		} `json:"requestedSchema"`
	}
	if json.Unmarshal(params, &form) != nil {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(form.Schema.Properties))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return nil
	}
	var names []string
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			return nil
		}
		names = append(names, name.(string))
	}
	return names
}
