package files_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hermes-nvim/hermes/runtime/files"
)

func Example() {
	dir, _ := os.MkdirTemp("", "workspace")
	defer os.RemoveAll(dir)
	ws, err := files.Open([]string{dir}, files.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ws.Close()

	ws.WriteText(filepath.Join(dir, "notes/todo.txt"), "one\ntwo\n")
	text, _ := ws.ReadText(filepath.Join(dir, "notes/todo.txt"), files.Range{})
	fmt.Print(text)

	_, err = ws.ReadText("/etc/passwd", files.Range{})
	fmt.Println(errors.Is(err, files.ErrOutside))

	var protected *files.ProtectedError
	err = ws.WriteText(filepath.Join(dir, "Makefile"), "all:\n")
	if errors.As(err, &protected) {
		fmt.Println("ask the user:", protected.Reason)
	}
	// Output:
	// one
	// two
	// true
	// ask the user: build
}
