package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Encode is a value of the host itself as JSON. It can be encoded.
func Encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // texts of files would grow
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("json of our own: %v", err)) // strings and numbers
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
