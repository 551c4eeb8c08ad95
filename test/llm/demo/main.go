// Command demo is a model that repairs one script, for a look at a coding agent without
// a key: it prints its address and serves until it is killed.
package main

import (
	"fmt"
	"log"

	"github.com/hermes-nvim/hermes/test/llm"
)

// script answers "The greeting has a typo. Fix it and run it."
const script = `THINK The greeting must be in greet.sh.
CALL todo {"items":[{"content":"Find the typo","status":"in_progress"},{"content":"Fix it","status":"pending"},{"content":"Run the script","status":"pending"}]}
CALL read {"path":"greet.sh"}
SAY "world" is misspelt in line 2.
CALL edit {"path":"greet.sh","old":"wrold","new":"world"}
CALL todo {"items":[{"content":"Find the typo","status":"completed"},{"content":"Fix it","status":"completed"},{"content":"Run the script","status":"in_progress"}]}
CALL terminal {"command":"sh greet.sh"}
`

func main() {
	server, err := llm.Start(script)
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	fmt.Println(server.URL + "/v1")
	select {}
}
