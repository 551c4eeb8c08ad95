package validate_test

import (
	"fmt"

	"github.com/hermes-nvim/hermes/acp/validate"
)

func Example() {
	v := validate.New(validate.V1, validate.Tolerant)
	findings, err := v.Message(validate.Client, []byte(`{"jsonrpc":"2.0","method":"session/update","params":{
		"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":42}}}}`), "")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range findings {
		fmt.Println(f)
	}
	// Output: /params/update/content/text: type: want string, got integer
}

func ExampleValidator_Value() {
	v := validate.New(validate.V2, validate.Strict)
	findings, err := v.Value("ToolCallLocation", []byte(`{"path":"/a.go","line":0}`))
	fmt.Println(findings, err)
	// Output: [/line: minimum: want at least 1 (uint32), got 0] <nil>
}
