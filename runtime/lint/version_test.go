package lint_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// A client of version 1 asks by its rules: an agent without that version answers
// with its latest one.
func TestAnAgentMayAnswerVersion1WithALaterOne(t *testing.T) {
	t.Parallel()
	for asked, want := range map[int]string{1: "not exercised", 2: "pass", 3: "pass"} {
		text := fmt.Sprintf(`{"dir":"c2a","t":1,"msg":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%d,"capabilities":{},"info":{"name":"e","version":"1"}}}}
{"dir":"a2c","t":2,"msg":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"capabilities":{},"info":{"name":"a","version":"1"}}}}
`, asked)
		v := outcome(judge(t, []byte(text), lint.Options{Version: lint.V2b}), "INI06")
		if got := v.String(); got != want {
			t.Errorf("asked for %d: %s, want %s", asked, got, want)
		}
	}
}

// A capture may begin late and go on with another connection, so an initialize after work
// proves nothing. It is not called right either.
func TestWhetherInitializeCameFirstIsOpenWhenTheAgentHadWorked(t *testing.T) {
	t.Parallel()
	for first, want := range map[int]string{0: "fail", 5: "not exercised"} {
		l := strict()
		wire(l, fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}}`, first),
			fmt.Sprintf(`<{"jsonrpc":"2.0","id":%d,"result":{"sessionId":"s1"}}`, first),
			fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":1}}`, first+1),
			fmt.Sprintf(`<{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":1}}`, first+1))
		if got := outcome(l.Report(), "INI01").String(); got != want {
			t.Errorf("the first id is %d: %s, want %s", first, got, want)
		}
	}
}

// An answer with a version that does not exist is judged by the version that was asked for,
// so it is one fault.
func TestAVersionThatDoesNotExistIsOneFault(t *testing.T) {
	t.Parallel()
	for hello, answer := range map[string]string{
		`{"protocolVersion":1,"clientCapabilities":{"terminal":true},"clientInfo":{"name":"e","version":"1"}}`: `{"protocolVersion":3,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"a","version":"1"}}`,
		`{"protocolVersion":2,"capabilities":{"elicitation":{"form":{}}},"info":{"name":"e","version":"1"}}`:   `{"protocolVersion":3,"capabilities":{"session":{}},"info":{"name":"a","version":"1"}}`,
	} {
		l := strict()
		wire(l, `>{"jsonrpc":"2.0","id":0,"method":"initialize","params":`+hello+`}`, `<{"jsonrpc":"2.0","id":0,"result":`+answer+`}`)
		if got := broken(l.Report()); !slices.Equal(got, []string{"INI04"}) {
			t.Errorf("%s: %s", answer, got)
		}
	}
}
