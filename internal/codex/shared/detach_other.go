//go:build !unix

package shared

import (
	"errors"
	"fmt"
)

// Detach is for Unix.
func Detach([]string) error {
	return fmt.Errorf("shared sessions of codex: %w on this system", errors.ErrUnsupported)
}
