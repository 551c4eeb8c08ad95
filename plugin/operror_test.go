package plugin

import (
	"os"
	"strings"
	"testing"
)

func TestTheCauseOfAnAgentsErrorIsShown(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		for _, data := range []string{`"no credit left"`, `{"details":"no credit left"}`, `{"message":"no credit left","status":402}`} {
			e.lua(`notes, done = {}, {}`)
			e.prompt(`ERROR {"code":-32603,"message":"Internal error","data":` + data + `}`)
			e.is("{ done.turn.err.kind, done.turn.err.code, done.turn.err.message }", []any{"agent", -32603, "Internal error: no credit left"})
			e.is(`of("TurnEnded")[#of("TurnEnded")].error.message`, "Internal error: no credit left")
			e.is(`of("RequestFailed")[#of("RequestFailed")].message`, "Internal error: no credit left")
			e.lua(`hermes.prompt(s, ...)`, `ERROR {"code":-32603,"message":"Internal error","data":`+data+`}`)
			e.until("#notes > 0")
			e.is("notes", []string{"hermes: session/prompt: Internal error: no credit left"})
		}
		long := strings.Repeat("x", 3000) + "the end"
		e.prompt(`ERROR {"code":1,"message":"a","data":"` + long + `"}`)
		e.is("#done.turn.err.message < 2000", true)
		if log, err := os.ReadFile(e.log); err != nil || !strings.Contains(string(log), long) {
			t.Errorf("the log lacks the cause: %v", err)
		}
	})
}
