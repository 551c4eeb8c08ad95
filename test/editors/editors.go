// Package editors finds the Neovims that tests run in.
package editors

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neovim/go-client/nvim"
)

// Program is a Neovim.
type Program struct {
	Path    string
	Version string // such as 0.12.4
}

// All returns the Neovims of HERMES_NVIM, a list like PATH, or otherwise the one in
// PATH. If there is none the test is skipped; in CI it fails.
func All(t testing.TB) []Program {
	t.Helper()
	paths := filepath.SplitList(os.Getenv("HERMES_NVIM"))
	if len(paths) == 0 {
		paths = []string{"nvim"}
	}
	var list []Program
	for _, path := range paths {
		out, err := exec.Command(path, "--version").Output()
		if err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("no Neovim to test with: %v (nothing is skipped in CI; run 'make test')", err)
			}
			t.Skipf("no Neovim to test with: %v (run 'make test', or set HERMES_NVIM)", err)
		}
		first, _, _ := strings.Cut(string(out), "\n")
		list = append(list, Program{Path: path, Version: strings.TrimPrefix(first, "NVIM v")})
	}
	return list
}

// Start starts a Neovim with the plugin in the folder dir, with embedded RPC and more
// arguments. Its own folders are all below state, and it has nothing of the user's. It
// quits with the test.
func Start(t testing.TB, path, dir, state string, args ...string) *nvim.Nvim {
	t.Helper()
	root := Root(t)
	env := append(os.Environ(), "GORACE=atexit_sleep_ms=0", "NVIM=", "NVIM_LOG_FILE="+filepath.Join(state, "nvim.log"), "SHELL=/bin/sh")
	for _, name := range []string{"STATE", "DATA", "CONFIG", "CACHE"} {
		env = append(env, "XDG_"+name+"_HOME="+state)
	}
	v, err := nvim.NewChildProcess(
		nvim.ChildProcessCommand(path),
		nvim.ChildProcessArgs(append([]string{"--clean", "--embed", "-n", "--cmd", "set rtp^=" + root}, args...)...),
		nvim.ChildProcessEnv(env), nvim.ChildProcessDir(dir), nvim.ChildProcessLogf(t.Logf),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}

// start is the folder that the test program was started in: that of its package.
var start, _ = os.Getwd()

// Root is the folder of the module.
func Root(t testing.TB) string {
	t.Helper()
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "plugin", "hermes.lua")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatalf("%s is in no checkout of Hermes", start)
		}
	}
}

// stateTime is how long a host may take to store its reviews.
const stateTime = time.Minute

// StateDir is a state folder for Start. The host of a Neovim that a test kills, or that
// gives up waiting on a very busy machine, writes there a moment longer than Neovim lives.
func StateDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hermes-state")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for end := time.Now().Add(stateTime); os.RemoveAll(dir) != nil; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("%s cannot be removed", dir)
				return
			}
		}
	})
	return dir
}
