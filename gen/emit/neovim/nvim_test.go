package neovim

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/test/editors"
)

// TestNeovimTakesTheFiles writes the generated files into an empty plugin and
// loads it.
func TestNeovimTakesTheFiles(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("testdata/take.lua")
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range editors.All(t) {
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
		cmd := exec.Command(program.Path, "--clean", "--headless", "-l", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "taken") {
			t.Errorf("%s: %v\n%s", program.Path, err, out)
		}
	}
}
