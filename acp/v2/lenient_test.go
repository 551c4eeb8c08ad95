package v2

import (
	"encoding/json"
	"testing"
)

// C111 of the conformance list: the values of version 2 are open.
func TestUnknownValuesAreKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		into interface {
			json.Unmarshaler
			AppendJSON([]byte) []byte
		}
	}{
		{`{"stopReason":"_nap"}`, new(IdleStateUpdate)},
		{`{"toolCallId":"c","kind":"_juggle","status":"_paused"}`, new(ToolCallUpdate)},
		{`{"content":"c","priority":"_urgent","status":"_stuck"}`, new(PlanEntry)},
		{`{"optionId":"o","name":"n","kind":"_allow_sometimes"}`, new(PermissionOption)},
		{`{"cwd":"/","mcpServers":[{"type":"_pigeon","name":"n","loft":7}]}`, new(NewSessionRequest)},
		{`{"outcome":{"outcome":"_shrug","why":null}}`, new(RequestPermissionResponse)},
		{`{"sessionId":"s","update":{"sessionUpdate":"_new","x":[1.50]}}`, new(UpdateSessionNotification)},
	} {
		if err := c.into.UnmarshalJSON([]byte(c.text)); err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if got := string(c.into.AppendJSON(nil)); got != c.text {
			t.Errorf("%s\nis written as\n%s", c.text, got)
		}
	}
}
