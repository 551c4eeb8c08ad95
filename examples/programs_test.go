package examples

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
	if out, err := exec.Command("go", "build", "-trimpath", "-o", programs, "./...").CombinedOutput(); err != nil {
		os.Stderr.Write(out)
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

func TestTheCheckFindsWhatTheSchemaForbids(t *testing.T) {
	t.Parallel()
	const good = "../runtime/trace/testdata/sdk-reject.jsonl"
	if out, err := exec.Command(programs+"check", good).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`"stopReason":"`), []byte(`"stopReason":"no_such_`), 1)
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	if err := os.WriteFile(bad, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(programs+"check", bad).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "agent answer to session/prompt: /result/stopReason: enum: ") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestProgramsSayHowTheyAreUsed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"client", "check"} {
		if out, err := exec.Command(programs + name).CombinedOutput(); err == nil || !strings.Contains(string(out), "usage: "+name) {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
