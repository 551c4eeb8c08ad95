package terminal_test

import (
	"context"
	"fmt"

	"github.com/hermes-nvim/hermes/runtime/terminal"
)

func Example() {
	ctx := context.Background()
	m := terminal.New(terminal.Options{
		Approve: func(_ context.Context, c *terminal.Command) error {
			fmt.Println("run:", c)
			return nil
		},
	})
	defer m.Close()

	id, err := m.Create(ctx, terminal.Request{Command: "echo", Args: []string{"hello world"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	status, _ := m.Wait(ctx, id)
	text, _, _, _ := m.Output(id)
	fmt.Print(text, "exit ", status.Code, "\n")
	// Output:
	// run: echo 'hello world'
	// hello world
	// exit 0
}
