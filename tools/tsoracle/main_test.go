package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// The tool runs, both sides judge, and they mostly agree.
func TestBothReadersAreAsked(t *testing.T) {
	agents := os.Getenv("HERMES_AGENTS")
	if _, err := exec.LookPath("node"); err != nil || agents == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("no Node.js or no HERMES_AGENTS: nothing is skipped in CI, run 'make test'")
		}
		t.Skip("needs Node.js and HERMES_AGENTS (make test provides it)")
	}
	var out bytes.Buffer
	if err := run(2, agents, &out); err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`^(\d+) mutants, (\d+) alike`).FindSubmatch(out.Bytes())
	if m == nil {
		t.Fatalf("no totals: %s", out.Bytes())
	}
	total, _ := strconv.Atoi(string(m[1]))
	alike, _ := strconv.Atoi(string(m[2]))
	if total < 1000 || alike < total/2 || alike == total {
		t.Errorf("%d of %d mutants are alike: one side does not judge", alike, total)
	}
}
