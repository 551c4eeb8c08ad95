package pathmap_test

import (
	"fmt"
	"log"

	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/pathmap"
)

// The agent sees the project under another name.
func ExampleWrap() {
	t, agent := transport.Pair()
	rule, err := pathmap.Parse("/home/me/project=/workspace") // here = there
	if err != nil {
		log.Fatal(err)
	}
	t = pathmap.Wrap(t, rule)

	go t.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/home/me/project/lib","mcpServers":[]}}`))
	seen, err := agent.Read(nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(seen))
	// Output: {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/workspace/lib","mcpServers":[]}}
}
