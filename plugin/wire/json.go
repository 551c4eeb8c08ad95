package wire

import (
	"encoding/json"
	"fmt"
)

// Encode is a value of the host itself as JSON. It can be encoded.
func Encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("json of our own: %v", err)) // strings and numbers
	}
	return raw
}
