//go:build unix

package process

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/runtime/launch"
)

// TestMain also is a keeper, a launcher of sandboxes, a supervisor, and an agent that starts a
// command and does not end it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "keep":
			os.Exit(launch.Keep(os.Args[2:]))
		case "sandbox":
			var r confine.Rules
			if err := json.Unmarshal([]byte(os.Args[2]), &r); err != nil {
				panic(err)
			}
			path, _ := exec.LookPath(os.Args[4])
			panic(confine.Exec(r, path, os.Args[4:], os.Environ()))
		case "supervise":
			os.Exit(Supervise(os.Args[2:], []string{"/proc/self/exe", "supervised"}, os.Stderr))
		case "supervised":
			os.Exit(shim.Child(os.Args[2:]))
		case "agent":
			r := New(Options{Keeper: []string{"/proc/self/exe", "keep"}})
			if _, err := r.Start(context.Background(), Command{Line: os.Args[2], Dir: os.Args[3]}); err != nil {
				panic(err)
			}
			select {}
		}
	}
	os.Exit(m.Run())
}

// pids returns the processes that a command has noted in a file.
func pids(t *testing.T, file string, count int) []int {
	t.Helper()
	var list []int
	for _, word := range strings.Fields(read(t, file)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pid)
	}
	if len(list) != count {
		t.Fatalf("%d processes are noted, want %d", len(list), count)
	}
	return list
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func registry(t *testing.T, o Options) *Registry {
	t.Helper()
	r := New(o)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func start(t *testing.T, r *Registry, line string) string {
	t.Helper()
	i, err := r.Start(t.Context(), Command{Line: line, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return i.ID
}

// program puts an executable script into a folder of its own and returns the
// folder.
func program(t *testing.T, name, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := gobuild.Write(filepath.Join(dir, name), "#!/bin/sh\n"+script); err != nil {
		t.Fatal(err)
	}
	return dir
}
