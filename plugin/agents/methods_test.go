package agents

import (
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

func TestWhatTheDecoderForgivesOfAResultDoesNotReachLua(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{ "sessionId":"s","later":[1.50,null],"modes":null}`:            `{ "sessionId":"s","later":[1.50,null],"modes":null}`,
		`{"sessionId":"s","modes":"bad","_meta":{"a":1},"later":[1.50]}`: `{"sessionId":"s","_meta":{"a":1},"later":[1.50]}`,
	} {
		got := []byte(text)
		if err := methods[acp.MethodSessionNew].read(&got); err != nil || string(got) != want {
			t.Errorf("%s became %s, %v", text, got, err)
		}
	}
	bad := []byte(`{"sessionId":5}`)
	if err := methods[acp.MethodSessionNew].read(&bad); err == nil {
		t.Error("a result that is not valid is taken")
	}
}
