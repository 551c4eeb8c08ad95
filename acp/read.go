package acp

import (
	"encoding/json"

	"github.com/hermes-nvim/hermes/internal/jx"
)

// Read decodes the text of d into v, a new value of a type of this package, as
// v.UnmarshalJSON does. Packages of this module use it to learn from d what it
// noticed; others cannot name the type of d.
func Read(d *jx.Dec, v json.Unmarshaler) error {
	x, ok := v.(interface{ decode(*jx.Dec, *jx.Outer) })
	if !ok {
		d.Unmarshal(v)
	} else {
		x.decode(d, nil)
	}
	return d.Close()
}
