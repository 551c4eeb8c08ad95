// Package elicitation answers the questions an agent asks its user: forms to
// fill in and web pages to visit. A question that is malformed or unsafe, or that
// reaches nobody, is never answered with yes.
//
// See https://agentclientprotocol.com/protocol/elicitation.
package elicitation

import (
	"errors"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
)

// Question is one question for the user. Exactly one of Form and URL is set.
type Question struct {
	Message  string         // what is needed and why; an agent wrote it
	Session  acp.SessionID  // that asks; empty if Request asks
	ToolCall acp.ToolCallID // of the session; empty: the session as such
	Request  acp.RequestID  // that asks, while there is no session
	Form     *acp.ElicitationSchema
	URL      *Link
	ID       acp.ElicitationID // of the web page
}

// Describe returns the question of a request. It fails for a mode this version
// does not know and for a page that must not be shown (ParseLink).
func Describe(req *acp.CreateElicitationRequest) (*Question, error) {
	q := &Question{Message: req.Message}
	var scope any
	switch v := req.Variant.(type) {
	case *acp.ElicitationFormMode:
		q.Form, scope = &v.RequestedSchema, v.Variant
	case *acp.ElicitationURLMode:
		link, err := ParseLink(v.URL)
		if err != nil {
			return nil, err
		}
		q.URL, q.ID, scope = link, v.ElicitationID, v.Variant
	case *acp.CreateElicitationRequestOther:
		return nil, fmt.Errorf("the mode %q is not supported", v.Tag)
	default:
		return nil, errors.New("the mode is missing")
	}
	switch s := scope.(type) {
	case *acp.ElicitationSessionScope:
		q.Session, q.ToolCall = s.SessionID, s.ToolCallID.Or("")
	case *acp.ElicitationRequestScope:
		q.Request = s.RequestID
	}
	return q, nil
}
