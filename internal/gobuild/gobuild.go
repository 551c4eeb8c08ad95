// Package gobuild gives tests the programs of this module.
package gobuild

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"syscall"
)

// Programs is the variable with the folder of programs that make test has built, each at the
// path of its package in the module.
const Programs = "HERMES_PROGRAMS"

// Program returns the program of a package of this module, such as tools/hermes. Without
// Programs it builds it in a folder, as make build does, so that both share what is compiled.
// The error has the output of the compiler.
func Program(folder, pkg string) (string, error) {
	if built := os.Getenv(Programs); built != "" {
		program := filepath.Join(built, filepath.FromSlash(pkg))
		if _, err := os.Stat(program); err != nil {
			return "", fmt.Errorf("%s: %w; scripts/programs says what is built there", Programs, err)
		}
		return program, nil
	}
	if folder == "" {
		return "", errors.New("no folder to build a program in")
	}
	program := filepath.Join(folder, path.Base(pkg))
	build := exec.Command("go", "build", "-trimpath", "-o", program, "github.com/hermes-nvim/hermes/"+pkg)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	return program, nil
}

// Write writes a program that is run right after, such as a script. No other process of the test
// is started meanwhile: it would have the file open for writing for a moment, and a program that
// somebody writes cannot be run ("text file busy"). Anybody may run it, whatever the umask says.
func Write(name, text string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return errors.Join(os.WriteFile(name, []byte(text), 0o700), os.Chmod(name, 0o755))
}
