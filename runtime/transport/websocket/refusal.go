package websocket

import (
	"encoding/json"
	"errors"
)

var errNotInitialize = errors.New("the first message is not an initialize request")

// refusal is the answer to a second initialize.
func refusal(id json.RawMessage) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	return append(b, `,"error":{"code":-32600,"message":"Invalid request","data":"the connection is initialized"}}`...)
}
