package examples

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/gobuild"
)

var client, agent string // the programs

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "examples")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for name, program := range map[string]*string{"client": &client, "agent": &agent} {
		if *program, err = gobuild.Program(dir, "examples/"+name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

func TestTheClientTalksToTheAgent(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(client, "hello there", agent).CombinedOutput()
	if got := string(out); err != nil || got != "hello there\nend_turn\n" {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestProgramsSayHowTheyAreUsed(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command(client).CombinedOutput(); err == nil || !strings.Contains(string(out), "usage: client") {
		t.Errorf("%v\n%s", err, out)
	}
}
