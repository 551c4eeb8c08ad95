package host

import (
	"errors"
	"os"
	"strings"
)

// environOp says what Neovim has changed in its environment. The host makes the same changes in
// its own, so that agents and commands get them, and programs are found where Neovim finds them.
type environOp struct {
	Set   [][]byte `json:"set,omitempty"`   // NAME=value each, of any bytes
	Unset []string `json:"unset,omitempty"` // names
}

func (op environOp) apply() (err error) {
	for _, v := range op.Set {
		name, value, _ := strings.Cut(string(v), "=")
		err = errors.Join(err, os.Setenv(name, value))
	}
	for _, name := range op.Unset {
		err = errors.Join(err, os.Unsetenv(name))
	}
	return err
}
