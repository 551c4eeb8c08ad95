package httpstream

import (
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/acp/v2"
)

func TestMethodsOfEveryVersionAreKnown(t *testing.T) {
	t.Parallel()
	type row struct{ session, known bool }
	want := map[string]row{"session/nonesuch": {}, "session/update": {}}
	for _, p := range []acp.Protocol{acp.V1, v2.V2} {
		for _, m := range p.Methods() {
			if m.Handler == acp.SideAgent || m.Handler == acp.SideBoth {
				want[m.Name] = row{want[m.Name].session || m.Session, true}
			}
		}
	}
	for method, want := range want {
		if session, known := aboutSession(method); (row{session, known}) != want {
			t.Errorf("%s: session %v, known %v; want %v", method, session, known, want)
		}
	}
}
