package neovim

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/neovim/go-client/nvim"
)

//go:embed keys.lua
var keys string

// MeasureKeys returns what it costs to change a line of a file of 10,000 lines and
// to report that, in milliseconds: in a buffer under review, and in any other. The
// least of all rounds counts.
func MeasureKeys(ctx context.Context, program, root string, rounds int) (reviewed, plain float64, err error) {
	if root, err = filepath.Abs(root); err != nil {
		return 0, 0, err
	}
	dir, err := os.MkdirTemp("", "bench-neovim")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	v, err := nvim.NewChildProcess(
		nvim.ChildProcessContext(ctx), nvim.ChildProcessCommand(program),
		nvim.ChildProcessArgs("--clean", "--embed", "--headless", "-n", "--cmd", "set rtp^="+root),
		nvim.ChildProcessDir(dir), nvim.ChildProcessEnv(environ(dir)),
	)
	if err != nil {
		return 0, 0, err
	}
	defer v.Close()
	for round := range rounds {
		var ms [2]float64
		if err := v.ExecLua(keys, &ms, filepath.Join(dir, "file")); err != nil {
			return 0, 0, fmt.Errorf("type keys: %w", err)
		}
		if round == 0 {
			reviewed, plain = ms[0], ms[1]
		}
		reviewed, plain = min(reviewed, ms[0]), min(plain, ms[1])
	}
	return reviewed, plain, nil
}
