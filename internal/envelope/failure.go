package envelope

import (
	"encoding/json"

	"github.com/hermes-nvim/hermes/acp"
)

// Failure is an error answer that a transport gives itself. data may be nil.
func Failure(id json.RawMessage, message string, data any) []byte {
	e := &acp.Error{Code: acp.ErrorCodeInternalError, Message: message}
	if data != nil {
		e.Data, _ = json.Marshal(data)
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(b, `,"error":`...)
	return append(e.AppendJSON(b), '}')
}
