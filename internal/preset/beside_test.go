package preset

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// showProgram in the environment makes the test program print which hermes-agent it
// would start, because what is beside a program depends on where that is.
const showProgram = "PRESET_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if file := os.Getenv(showProgram); file != "" {
		mine, err := ReadFile(file)
		if err != nil {
			panic(err)
		}
		p, err := Builtin().With(mine).Find("hermes")
		if err != nil {
			panic(err)
		}
		os.Stdout.WriteString(strings.Join(append([]string{p.Process().Path}, p.Process().Args...), " "))
		return
	}
	os.Exit(m.Run())
}

func TestTheAgentInTheBoxIsTheOneBesideTheProgram(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "hermes")
	// Not written here: a program cannot start while a process that another test starts
	// still has it open.
	if out, err := exec.Command("cp", self, program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	beside := filepath.Join(dir, "hermes-agent")
	for _, test := range []struct {
		name string
		mode os.FileMode // of the one beside; 0: there is none
		mine string      // the presets of the user
		want string
	}{
		{"beside", 0o700, "{}", beside + " acp"},
		{"not executable", 0o600, "{}", "hermes-agent acp"},
		{"in PATH", 0, "{}", "hermes-agent acp"},
		{"the user's", 0o700, `{"hermes":{"command":"hermes-agent","args":["x"]}}`, "hermes-agent x"},
		{"the user's arguments", 0o700, `{"hermes":{"args":["x"]}}`, beside + " x"},
	} {
		os.Remove(beside)
		if test.mode != 0 {
			if err := os.WriteFile(beside, []byte("#!/bin/sh\n"), test.mode); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(dir, "mine.json")
		if err := os.WriteFile(file, []byte(test.mine), 0o600); err != nil {
			t.Fatal(err)
		}
		x := exec.Command(program)
		x.Env = slices.Concat(os.Environ(), []string{showProgram + "=" + file})
		if out, err := x.Output(); err != nil || string(out) != test.want {
			t.Errorf("%s: %s, %v; want %s", test.name, out, err, test.want)
		}
	}
}
