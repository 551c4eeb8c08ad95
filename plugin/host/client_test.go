package host

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

// requestsOfASession are params of every request an agent may make for a
// session; SESSION stands for its id.
var requestsOfASession = map[string]string{
	acp.MethodSessionRequestPermission: `{"sessionId":SESSION,"toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Y","kind":"allow_once"}]}`,
	acp.MethodFsReadTextFile:           `{"sessionId":SESSION,"path":"/x"}`,
	acp.MethodFsWriteTextFile:          `{"sessionId":SESSION,"path":"/x","content":""}`,
	acp.MethodTerminalCreate:           `{"sessionId":SESSION,"command":"true"}`,
	acp.MethodTerminalOutput:           `{"sessionId":SESSION,"terminalId":"t"}`,
	acp.MethodTerminalWaitForExit:      `{"sessionId":SESSION,"terminalId":"t"}`,
	acp.MethodTerminalKill:             `{"sessionId":SESSION,"terminalId":"t"}`,
	acp.MethodTerminalRelease:          `{"sessionId":SESSION,"terminalId":"t"}`,
	acp.MethodElicitationCreate:        `{"mode":"form","message":"m","sessionId":SESSION,"requestedSchema":{"type":"object","properties":{}}}`,
}

// T10 of the threat model.
func TestARequestForASessionThatIsNotOpenReachesNobody(t *testing.T) {
	for _, m := range acp.V1.Methods() {
		if m.Handler == acp.SideClient && m.Request && m.Session && requestsOfASession[m.Name] == "" {
			t.Errorf("no params for %s", m.Name)
		}
	}
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(`
_G.reached = {}
for _, method in ipairs(...) do
  hermes.on_request(method, function() reached[#reached + 1] = method; return "y" end)
end`, keysOf(requestsOfASession))
		e.open()
		for method, params := range requestsOfASession {
			for _, id := range []string{`""`, `"elsewhere"`, `"s1 "`} {
				e.lua(`seen = {}`)
				e.prompt(fmt.Sprintf("CALL %s %s", method, strings.ReplaceAll(params, "SESSION", id)))
				e.is(`{ "`+method+`", said():find("has no session", 1, true) ~= nil, reached }`, []any{method, true, []string{}})
				e.is(`vim.iter(seen):any(function(x) return x.requestId ~= nil end)`, false)
			}
		}
		e.prompt("CALL session/request_permission " + strings.ReplaceAll(requestsOfASession[acp.MethodSessionRequestPermission], "SESSION", `"s1"`))
		e.is("reached", []string{acp.MethodSessionRequestPermission})
	})
}

func keysOf(m map[string]string) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}
