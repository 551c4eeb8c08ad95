package examples

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/gobuild"
)

var programs string // the folder where they were built

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "examples")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	programs = dir + string(filepath.Separator)
	if err := gobuild.To(programs, "./..."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func TestTheClientTalksToTheAgent(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(programs+"client", "hello there", programs+"agent").CombinedOutput()
	if got := string(out); err != nil || got != "hello there\nend_turn\n" {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestProgramsSayHowTheyAreUsed(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command(programs + "client").CombinedOutput(); err == nil || !strings.Contains(string(out), "usage: client") {
		t.Errorf("%v\n%s", err, out)
	}
}
