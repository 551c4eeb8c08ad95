package store_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
)

func Example() {
	state, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(state)
	dir := store.Dir(state, "/home/me/project")
	s, err := store.Open(dir, store.Options{Program: "hermes"})
	if err != nil {
		log.Fatal(err)
	}
	// A record names a blob, so the blob is put first.
	text, err := s.Put([]byte("package main\n"))
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Append([]byte("main.go " + text.String())); err != nil {
		log.Fatal(err)
	}

	var locked *store.LockedError
	_, err = store.Open(dir, store.Options{})
	fmt.Println(errors.As(err, &locked), locked.Program)
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}

	s, err = store.Open(dir, store.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for record, err := range s.Records() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.16s…\n", record)
	}
	data, err := s.Get(text)
	fmt.Printf("%s%v\n", data, err)
	// Output:
	// true hermes
	// main.go df1d036c…
	// package main
	// <nil>
}

// Checkpoints that do not fit any more go first from the journal, then from the
// disk.
func ExampleStore_Retain() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(dir, store.Options{Limits: store.Limits{Groups: 2}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	now := time.Now()
	var groups []store.Group
	for i := range 4 {
		h, err := s.Put(fmt.Append(nil, "checkpoint ", i))
		if err != nil {
			log.Fatal(err)
		}
		groups = append(groups, store.Group{At: now.Add(time.Duration(i-4) * time.Hour), Blobs: slices.Values([]store.Hash{h})})
	}
	keep, err := s.Retain(now, groups)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(keep)
	var live []store.Hash
	var records [][]byte
	for i, g := range groups {
		if keep[i] {
			live = slices.AppendSeq(live, g.Blobs)
			records = append(records, fmt.Append(nil, "checkpoint ", i))
		}
	}
	if err := s.Compact(slices.Values(records)); err != nil {
		log.Fatal(err)
	}
	pruned, err := s.Prune(slices.Values(live), 0)
	fmt.Println(pruned.Blobs, err)
	// Output:
	// [false false true true]
	// 2 <nil>
}
