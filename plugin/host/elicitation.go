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
	var scope struct {
		Mode      string         `json:"mode"`
		SessionID *acp.SessionID `json:"sessionId"` // nil: it is about a request
	}
	if err := json.Unmarshal(raw, &scope); err != nil {
		return nil, acp.InvalidParams(acp.MethodElicitationCreate, err)
	}
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
		event: requestEvent(acp.MethodElicitationCreate, scope.Mode), method: acp.MethodElicitationCreate,
		alone: scope.SessionID == nil, data: data, user: true,
	}
	if !q.alone {
		q.session = *scope.SessionID
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
