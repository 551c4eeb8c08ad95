package elicitation_test

import (
	"context"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/elicitation"
)

// A client that shows where a link leads and fills in forms with their defaults.
func ExampleGate() {
	gate := &elicitation.Gate{Ask: func(_ context.Context, q *elicitation.Question) (elicitation.Answer, error) {
		if q.URL != nil {
			fmt.Printf("%s: open %s (%s)?\n", q.Message, q.URL.Text, q.URL.Host)
			return &acp.CreateElicitationResponseDecline{}, nil
		}
		content := elicitation.Content{}
		for name, field := range q.Form.Properties {
			if f, ok := field.(*acp.StringPropertySchema); ok {
				content[name] = acp.ElicitationContentValueString(f.Default.Or(""))
			}
		}
		return &acp.ElicitationAcceptAction{Content: content}, nil
	}}
	for _, asked := range []string{
		`{"mode":"url","message":"Sign in","sessionId":"s","elicitationId":"1","url":"https://example.com/login"}`,
		`{"mode":"form","message":"Which branch?","sessionId":"s","requestedSchema":{"properties":{"branch":{"type":"string","default":"main"}}}}`,
		`{"mode":"url","message":"Sign in","sessionId":"s","elicitationId":"2","url":"javascript:alert(1)"}`,
	} {
		req := new(acp.CreateElicitationRequest)
		if err := req.UnmarshalJSON([]byte(asked)); err != nil {
			fmt.Println(err)
			return
		}
		answer, err := gate.Answer(context.Background(), req)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(string(answer.AppendJSON(nil)))
	}
	// Output:
	// Sign in: open https://example.com/login (example.com)?
	// {"action":"decline"}
	// {"action":"accept","content":{"branch":"main"}}
	// elicitation/create: link refused: the scheme "javascript" is not among https, http and mailto
}
