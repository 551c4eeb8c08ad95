// Package gobuild builds programs for tests as make build does, so that both share what is
// compiled.
package gobuild

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// To builds packages to a file, or to a folder if the path ends with a separator. The error has the
// output of the compiler.
func To(path string, packages ...string) error {
	build := exec.Command("go", append([]string{"build", "-trimpath", "-o", path}, packages...)...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", strings.Join(packages, " "), err, out)
	}
	return nil
}
