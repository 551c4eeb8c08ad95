package examples

import (
	"os/exec"
	"path/filepath"
	"testing"
)

func TestTheClientTalksToTheAgent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + string(filepath.Separator)
	if out, err := exec.Command("go", "build", "-trimpath", "-o", dir, "./client", "./agent").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(dir+"client", "hello there", dir+"agent").CombinedOutput()
	if got := string(out); err != nil || got != "hello there\nend_turn\n" {
		t.Errorf("%v\n%s", err, got)
	}
}
