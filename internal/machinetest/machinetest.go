// Package machinetest checks the table of a state machine.
package machinetest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/machine"
	"github.com/hermes-nvim/hermes/test/editors"
)

// Check fails the test if one of all states is not reached from another of them, or if the table
// has a move that changes nothing.
func Check[E, S comparable](t *testing.T, table machine.Table[E, S], all []S) {
	t.Helper()
	for _, from := range all {
		if got := reachable(table, from); len(got) != len(all) {
			t.Errorf("%v leads to %v only", from, got)
		}
	}
	for event, moves := range table {
		for from, to := range moves {
			if from == to {
				t.Errorf("event %v leaves %v as it is", event, from)
			}
		}
	}
}

// Listed fails the test if the help does not list a state as one of hermes.state().
func Listed[S ~string](t *testing.T, all []S) {
	t.Helper()
	help, err := os.ReadFile(filepath.Join(editors.Root(t), "doc", "hermes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(help), "hermes.state(")
	if !found {
		t.Fatal("the help does not describe the state")
	}
	for _, s := range all {
		if !strings.Contains(list, `"`+string(s)+`"`) {
			t.Errorf("the help does not list %s", s)
		}
	}
}

// reachable returns the states that a table leads to from the first one. The
// first one itself is among them only if something leads back to it.
func reachable[E, S comparable](table machine.Table[E, S], first S) []S {
	found, open := []S{}, []S{first}
	for len(open) > 0 {
		from := open[0]
		open = open[1:]
		for _, moves := range table {
			if to, ok := moves[from]; ok && !slices.Contains(found, to) {
				found, open = append(found, to), append(open, to)
			}
		}
	}
	return found
}
