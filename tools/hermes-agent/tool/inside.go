package tool

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/hermes-nvim/hermes/internal/pathname"
)

var errOutside = errors.New("it is outside of the folders of the session")

// inside follows the links of a path that tools use without the client, and makes sure
// that they do not lead out of the folders of the session.
func (c *Call) inside(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	for _, root := range slices.Concat([]string{c.Cwd}, c.Roots) {
		if root, err = filepath.EvalSymlinks(root); err != nil {
			continue
		}
		if pathname.Within(root, path) {
			return path, nil
		}
	}
	return "", errOutside
}
