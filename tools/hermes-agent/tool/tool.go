// Package tool holds what the agent can do: the tools, which of them a session
// has, and the check of the arguments that models write.
//
// Tools work through the client: they read what is in the editor, write what the
// user can review, and run commands where the user sees them.
package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
)

// Tool is something a model can call. A Tool keeps no state: the state of a
// session is in its Env.
type Tool struct {
	Name        string
	Description string
	Toolset     string // the group that is switched on and off
	Kind        acp.ToolKind
	Schema      json.RawMessage // of the arguments, an object

	Asks  bool         // a call begins when the Gate has allowed it
	Reads bool         // calls change nothing, so they can run side by side
	Env   []string     // variables without which the tool is absent
	Check func() error // nil, or why the tool is absent

	// Title describes a call in a few words for the user. Nil: the name.
	Title func(c *Call) string
	// Run does the work. Its text is for the model. An error is a failed call, and
	// its text is for the model, too.
	Run func(ctx context.Context, c *Call) (string, error)
}

// Env is what the tools of one session work with.
type Env struct {
	Session   acp.SessionID
	Cwd       string
	Roots     []string // further folders of the session
	Files     Files
	Processes *process.Registry
	Gate      Gate
	// Show sends an update of the session to the client. It must not block for
	// long, and calls that run side by side use it at the same time.
	Show func(acp.SessionUpdate)
}

// Files reads and writes text. It is an acp.Client, which serves what is in the
// editor, or a services.Services, which serves the disk.
type Files interface {
	ReadTextFile(context.Context, *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error)
	WriteTextFile(context.Context, *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error)
}

// Gate decides about what a call is about to do, and may ask the user. An error
// refuses, and its text explains to the model why.
type Gate interface {
	// Read decides about showing the text of a file to the model.
	Read(ctx context.Context, call *acp.ToolCallUpdate, path string) error
	// Hides reports whether Read would ask about a file.
	Hides(path string) bool
	Edit(ctx context.Context, call *acp.ToolCallUpdate, path string) error
	// Command decides about a shell line, by how far commands reach.
	Command(ctx context.Context, call *acp.ToolCallUpdate, command string, reach process.Reach) error
	// Effect decides about what a command is about to do beyond the project. always says that
	// the answer is also one for later commands.
	Effect(ctx context.Context, call *acp.ToolCallUpdate, e process.Effect) (always bool, err error)
	// Use decides about a tool of an MCP server.
	Use(ctx context.Context, call *acp.ToolCallUpdate, f Foreign) error
}

// Foreign is a tool of an MCP server.
type Foreign struct {
	Name    string // as the model knows it
	Server  string
	Reads   bool   // the server says that it only reads, which is a claim
	Allowed bool   // by the settings, for good
	Remedy  string // how the settings allow it; empty: they cannot
}

// Call is one call of a tool.
type Call struct {
	*Env
	Shown     *acp.ToolCall   // how it was first shown, with the id
	Arguments json.RawMessage // valid for the schema of the tool
	Images    []model.Image   // which the model gets with the result
	effects   atomic.Int32    // questions about what its command is about to do
}

// Decode reads the arguments into v. Half of a surrogate pair would become another character
// without a word, in the name or the text of a file.
func (c *Call) Decode(v any) error {
	if model.HasHalf(c.Arguments) {
		return errors.New(`arguments: half of a surrogate pair (\ud800 to \udfff) is no character; write the whole pair or the character itself`)
	}
	if err := json.Unmarshal(c.Arguments, v); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	return nil
}

// Begin says that the call runs now.
func (c *Call) Begin() {
	c.Update(func(u *acp.ToolCallUpdate) { u.Status = acp.Some(acp.ToolCallStatusInProgress) })
}

// Update changes how the call is shown.
func (c *Call) Update(change func(u *acp.ToolCallUpdate)) {
	u := acp.NewToolCallUpdate(c.Shown.ToolCallID)
	change(u)
	c.Show(u)
}
