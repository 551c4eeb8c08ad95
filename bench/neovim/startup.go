package neovim

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Startup is what a plugin file adds to the start of Neovim, in milliseconds: the
// median of many starts, and the shortest.
type Startup struct{ Median, Best float64 }

// MeasureStartup measures the plugin file of Hermes beside an empty one, which is
// the least that any plugin costs. The times are those of --startuptime.
func MeasureStartup(ctx context.Context, program, root string, starts int) (hermes, empty Startup, err error) {
	fail := func(err error) (Startup, Startup, error) { return Startup{}, Startup{}, err }
	if root, err = filepath.Abs(root); err != nil {
		return fail(err)
	}
	dir, err := os.MkdirTemp("", "bench-neovim")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	nothing := filepath.Join(dir, "empty")
	if err := os.MkdirAll(filepath.Join(nothing, "plugin"), 0o755); err != nil {
		return fail(err)
	}
	if err := os.WriteFile(pluginFile(nothing), nil, 0o644); err != nil {
		return fail(err)
	}
	var times [2][]float64
	for range starts {
		for i, root := range []string{root, nothing} {
			ms, err := sourced(ctx, program, root, dir)
			if err != nil {
				return fail(err)
			}
			times[i] = append(times[i], ms)
		}
	}
	return summarize(times[0]), summarize(times[1]), nil
}

func pluginFile(root string) string { return filepath.Join(root, "plugin", "hermes.lua") }

func summarize(times []float64) Startup {
	slices.Sort(times)
	return Startup{Median: times[len(times)/2], Best: times[0]}
}

// sourced starts a Neovim and returns how long it took to source the plugin file.
func sourced(ctx context.Context, program, root, dir string) (ms float64, err error) {
	log := filepath.Join(dir, "startuptime")
	defer os.Remove(log) // Neovim appends
	cmd := exec.CommandContext(ctx, program, "--clean", "--headless", "-n", "--cmd", "set rtp^="+root, "--startuptime", log, "+qa!")
	cmd.Env = environ(dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", program, err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) { // clock, self and sourced, self: sourcing FILE
		times, file, _ := strings.Cut(line, ": sourcing ")
		if fields := strings.Fields(times); strings.TrimSpace(file) == pluginFile(root) && len(fields) > 1 {
			return strconv.ParseFloat(fields[1], 64)
		}
	}
	return 0, fmt.Errorf("%s: %s was not sourced\n%s", program, pluginFile(root), text)
}
