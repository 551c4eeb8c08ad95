// Package model is what the agent knows of language models: the entries of a
// conversation, and one method that continues it. It depends on no vendor;
// package openai is the client of real endpoints.
package model

import (
	"context"
	"encoding/json"
	"fmt"
)

// Model continues conversations. It is safe for concurrent use.
type Model interface {
	// Complete asks for the next message of a conversation and reports it to on,
	// piece by piece, as it arrives. When it fails or ctx ends, the reply holds the
	// text and reasoning that had arrived, without tool calls.
	Complete(ctx context.Context, r Request, on func(Delta)) (Reply, error)
}

// Request is a conversation to continue.
type Request struct {
	Model    string
	Messages []Message // the system prompt first
	Tools    []Spec
	// Parameters are further members of the request, such as temperature.
	Parameters map[string]any
}

// Spec describes a tool to the model.
type Spec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // a JSON schema
}

// Delta is a piece of a reply, or a word about its delay.
type Delta struct {
	Text      string
	Reasoning string
	Notice    string // for the user: why this takes longer
}

// Reply is the end of a completion.
type Reply struct {
	Message Message
	Model   string // that answered; empty: the one that was asked
	Usage   Usage
	Stop    Stop
}

// Usage counts tokens. Zero means that the endpoint did not say.
type Usage struct {
	Input  int     `json:"input,omitempty"` // of the conversation that was sent
	Output int     `json:"output,omitempty"`
	Cached int     `json:"cached,omitempty"` // of Input, that the endpoint had read before
	Cost   float64 `json:"cost,omitempty"`   // in dollars, if the endpoint says
}

// Add adds what another request used.
func (u *Usage) Add(other Usage) {
	u.Input += other.Input
	u.Output += other.Output
	u.Cached += other.Cached
	u.Cost += other.Cost
}

// String describes what was used for people.
func (u Usage) String() string {
	text := fmt.Sprintf("%d tokens in", u.Input)
	if u.Cached > 0 {
		text += fmt.Sprintf(", %d of them cached", u.Cached)
	}
	text += fmt.Sprintf(", %d out", u.Output)
	if u.Cost > 0 {
		text += fmt.Sprintf(", $%.4f", u.Cost)
	}
	return text
}

// Stop says why a reply ended.
type Stop int

const (
	StopEnd    Stop = iota // the model was done, or wants its tools run
	StopLength             // no room was left
)

// LoginError is an error that goes away with other settings of the endpoint: there are
// none, or it does not accept the key.
type LoginError struct{ Err error }

func (e *LoginError) Error() string { return e.Err.Error() }
func (e *LoginError) Unwrap() error { return e.Err }

// OverflowError says that a conversation is longer than the context window.
type OverflowError struct {
	Err    error
	Window int // in tokens; 0: the endpoint did not say
}

func (e *OverflowError) Error() string { return e.Err.Error() }
func (e *OverflowError) Unwrap() error { return e.Err }
