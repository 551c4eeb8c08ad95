package wire

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Operation is a request or a notification from Neovim to the host.
type Operation struct {
	Takes any // the zero value of what Neovim sends
	Gives any // the zero value of what it ends with; nil: of nothing, or of what an agent sends

	// Do takes what Neovim sends as JSON. An error ends the operation id.
	Do func(id, text string) error
}

// reader is what decodes itself.
type reader interface{ Read(text string) error }

// Takes is an operation that is carried out by do.
func Takes[T any](do func(id string, p T) error) Operation {
	var zero T
	return Operation{Takes: zero, Do: func(id, text string) error {
		var p T
		if err := decode(text, &p); err != nil {
			return err
		}
		return do(id, p)
	}}
}

// Ends is the operation as one that ends with a value like result.
func (o Operation) Ends(result any) Operation {
	o.Gives = result
	return o
}

// decode reads what Neovim sends. A member that v lacks is an error: what the user has set
// would be left out without a word.
func decode(text string, v any) error {
	if r, ok := v.(reader); ok {
		return r.Read(text)
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		return nil
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return Unknown("argument", strings.Trim(name, `"`))
	}
	return Invalid("bad arguments: %v", err)
}

// Unknown is the error for something of Neovim that the host does not know.
func Unknown(what, name string) error {
	return &Error{Kind: ErrorInvalid, Message: fmt.Sprintf("the host does not know the %s %q; rebuild it to match the plugin", what, name)}
}
