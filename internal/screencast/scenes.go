package main

import (
	"slices"
	"time"
)

// animated is the scene that is recorded.
const animated = "demo"

const reading = 2 * time.Second

// The tour of the demo agent: scripts/demo types the prompt, and the user allows
// an edit and a command.
var (
	asked = scene{{wait: "kind: edit"}, {wait: "2: Allow"}}
	tour  = slices.Concat(asked, scene{
		{wait: "2: Allow", pause: reading, keys: ":Hermes respond\r"},
		{wait: "2: Allow", pause: reading / 2, keys: "2\r"},
		{wait: "kind: execute", pause: reading, keys: ":Hermes respond\r"},
		{wait: "kind: execute", pause: reading / 2, keys: "2\r"},
		{wait: "That was the tour", pause: reading},
	})
)

var scenes = map[string]scene{
	animated:   tour,
	"question": asked,
	"review":   slices.Concat(tour, scene{{wait: "tour", keys: "\x1b\x17h:Hermes review\r"}, {wait: "1 hunk", pause: reading}}),
	"status":   slices.Concat(tour, scene{{wait: "tour", keys: ":Hermes status\r"}, {wait: "idle", pause: reading}}),
	"traffic": slices.Concat(tour, scene{
		{wait: "tour", keys: ":Hermes traffic\r"},
		{wait: "Hermes", pause: reading, keys: "\x17pi/say Nothing is hidden.\x13"},
		{wait: "session/prompt", pause: reading, keys: "\x1b\x17p"},
		{wait: "session/prompt"},
	}),
}
