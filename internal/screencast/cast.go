package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// recording is what a terminal showed, in the format asciicast 2.
type recording struct {
	columns, lines int
	title          string
	events         []event
}

// event is output, and when it came.
type event struct {
	at   time.Duration
	data string
}

type header struct {
	Version int               `json:"version"`
	Width   int               `json:"width"`
	Height  int               `json:"height"`
	Title   string            `json:"title"`
	Env     map[string]string `json:"env"`
}

func (r *recording) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(header{2, r.columns, r.lines, r.title, map[string]string{"TERM": term}}); err != nil {
		return nil, err
	}
	for _, v := range r.events {
		if err := e.Encode([]any{json.Number(fmt.Sprintf("%.3f", v.at.Seconds())), "o", v.data}); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

func decode(data []byte) (*recording, error) {
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, 1<<24)
	var h header
	if !s.Scan() {
		return nil, fmt.Errorf("decode recording: it is empty")
	}
	if err := json.Unmarshal(s.Bytes(), &h); err != nil {
		return nil, fmt.Errorf("decode recording: line 1: %w", err)
	}
	r := &recording{columns: h.Width, lines: h.Height, title: h.Title}
	for n := 2; s.Scan(); n++ {
		var at float64
		var kind, text string
		if err := json.Unmarshal(s.Bytes(), &[]any{&at, &kind, &text}); err != nil {
			return nil, fmt.Errorf("decode recording: line %d: %w", n, err)
		}
		if kind == "o" {
			r.events = append(r.events, event{time.Duration(at * float64(time.Second)).Round(time.Millisecond), text})
		}
	}
	return r, s.Err()
}
