package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/preset"
)

const sandboxUsage = "confine the agent and its commands: they may change the working folder, the temporary folder and the agent's own state, and read everything but secrets. --sandbox=`RULES` takes other rules, as JSON, or a list with a command that confines; --sandbox=false turns off what agents.json says"

// sandboxFlag is the value of --sandbox, which a configuration has as well.
type sandboxFlag struct{ to **confine.Sandbox }

func (sandboxFlag) String() string { return "" }

// IsBoolFlag makes --sandbox alone mean true.
func (sandboxFlag) IsBoolFlag() bool { return true }

func (f sandboxFlag) Set(text string) error {
	s := new(confine.Sandbox)
	*f.to = s
	return json.Unmarshal([]byte(text), s)
}

// boxFor prepares the sandbox of an agent that works in a folder, and says what it
// cannot keep.
func boxFor(agent preset.Preset, env []string, folder string, stderr io.Writer) (*confine.Box, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	box, err := agent.Box(launcher(), env, folder)
	if box != nil {
		for _, lack := range box.Missing {
			fmt.Fprintf(stderr, "hermes: the sandbox is not complete: %s\n", lack)
		}
	}
	return box, err
}
