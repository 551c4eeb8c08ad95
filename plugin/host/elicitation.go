package host

import (
	"context"
	"encoding/json"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/elicitation"
)

// CreateElicitation puts a form or a page to the user. A page whose link could
// mislead is declined without asking. Whatever goes wrong, the answer is that
// the user cancelled.
func (k *client) CreateElicitation(ctx context.Context, p *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	if !on(k.conn.host.permissions().Elicitation) {
		return nil, acp.MethodNotFound(acp.MethodElicitationCreate)
	}
	raw := p.AppendJSON(nil)
	session, ofSession := acp.SessionOf(raw) // otherwise it is about a request
	data := from(raw)
	if page, ok := p.Variant.(*acp.ElicitationURLMode); ok {
		link, err := elicitation.ParseLink(page.URL)
		if err != nil {
			k.conn.host.notice("warn", "%s wanted to open a page: %v", k.conn.name, err)
			return &acp.CreateElicitationResponse{Variant: &acp.CreateElicitationResponseDecline{}}, nil
		}
		data.str("host", link.Host)
	}
	q := question{
		event:  requestEvent(acp.MethodElicitationCreate, acp.CreateElicitationRequestVariantTag(p.Variant)),
		method: acp.MethodElicitationCreate, session: acp.SessionID(session), alone: !ofSession,
		data: data, user: true,
	}
	v, err := k.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	r := new(acp.CreateElicitationResponse)
	if v.cancelled || v.Default || v.Error != nil {
		v.Result = json.RawMessage(`{"action":"cancel"}`)
	}
	if err := r.UnmarshalJSON(v.Result); err != nil {
		k.conn.host.notice("error", "the answer to %s from %s is not valid: %v", q.event, v.By, err)
		return r, r.UnmarshalJSON([]byte(`{"action":"cancel"}`))
	}
	return r, nil
}
