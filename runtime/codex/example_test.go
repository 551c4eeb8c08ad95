package codex_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/hermes-nvim/hermes/runtime/codex"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

// A program that runs unattended allows commands in the project and no more.
func ExampleSession_RunTurn() {
	s := codex.NewSession(nil, codex.Options{
		Dir:      "/home/me/project",
		Settings: codex.Settings{Profile: codex.ProfileAuto},
		Deadline: 5 * time.Minute,
	})
	defer s.Close()
	r := s.RunTurn(context.Background(), &appserver.UserInputText{Text: "make the tests pass"})
	if r.Err != nil {
		log.Fatal(r.Err)
	}
	fmt.Println(r.FinalText, r.Tools)
}
