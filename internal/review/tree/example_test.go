package tree_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/review/tree"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	root := filepath.Join(dir, "project")
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	write(".gitignore", "*.log\n")
	write("main.go", "package main\n")
	write("run.log", "started\n")

	st, err := store.Open(filepath.Join(dir, "state"), store.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()
	ctx := context.Background()
	project := tree.New(root, st, tree.Options{})
	before, err := project.Scan(ctx)
	if err != nil {
		log.Fatal(err)
	}
	checkpoint, err := before.Save(st)
	if err != nil {
		log.Fatal(err)
	}

	write("main.go", "package other\n") // as an agent does
	write("cmd/new.go", "package cmd\n")
	write("run.log", "stopped\n")
	now, err := project.Scan(ctx)
	if err != nil {
		log.Fatal(err)
	}
	before, err = tree.Load(st, checkpoint)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range tree.Compare(before, now) {
		text, _ := st.Get(c.Old.Hash)
		fmt.Printf("%s: %v, was %q\n", c.Path, c.What, text)
	}
	// Output:
	// cmd/new.go: created, was ""
	// main.go: content, was "package main\n"
}
