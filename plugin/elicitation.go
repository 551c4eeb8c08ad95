package plugin

import (
	"context"
	"encoding/json"

	"github.com/hermes-nvim/hermes/acp"
)

// CreateElicitation puts a form or a page to the user. Whatever goes wrong,
// the answer is that the user cancelled.
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
	q := question{
		event: requestEvent(acp.MethodElicitationCreate, scope.Mode), method: acp.MethodElicitationCreate,
		alone: scope.SessionID == nil, data: from(raw), user: true,
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
