package neovim

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// editors are the Neovims to test in. In CI there must be some.
func editors(t *testing.T) []string {
	t.Helper()
	list := filepath.SplitList(os.Getenv("HERMES_NVIM"))
	if len(list) == 0 && os.Getenv("CI") != "" {
		t.Fatal("HERMES_NVIM names no Neovim")
	}
	if len(list) == 0 {
		t.Skip("HERMES_NVIM names no Neovim; make test sets it")
	}
	return list
}

// TestNeovimTakesTheFiles writes what is generated into an empty plugin and
// loads it there.
func TestNeovimTakesTheFiles(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("testdata/take.lua")
	if err != nil {
		t.Fatal(err)
	}
	for _, nvim := range editors(t) {
		dir := t.TempDir()
		for path, data := range files(t) {
			file := filepath.Join(dir, path)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(nvim, "--clean", "--headless", "-l", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "taken") {
			t.Errorf("%s: %v\n%s", nvim, err, out)
		}
	}
}
