package say

import (
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// Done is the end of an operation: what became of it, or why it failed.
type Done struct {
	ID     string       `json:"id"`
	Result any          `json:"result,omitempty"` // JSON (json.RawMessage), or a *wire.Object
	Error  *wire.Object `json:"error,omitempty"`
}

// Notice is a line for the user.
type Notice struct {
	Level   string `json:"level"` // error, warn or info
	Message string `json:"message"`
}

func (Done) Kind() string   { return wire.KindDone }
func (Notice) Kind() string { return wire.KindNotice }
