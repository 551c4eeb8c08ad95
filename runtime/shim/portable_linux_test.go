//go:build amd64 || arm64

package shim_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/shim"
	"github.com/hermes-nvim/hermes/runtime/shim/journal"
)

func TestPortableFindsChangesByComparing(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.env = []string{"SHIM_PORTABLE=1"}
	s.write("a", "one\n")
	s.write("gone", "g\n")
	s.write(".gitignore", "*.o\n")
	reports := s.editor(nil)
	out, status := s.run("sh", "-c", "echo '*' > .gitignore; echo two > a; echo n > new; echo x > x.o; rm gone; ln -s a l; echo out; kill -TERM $$")
	if out != "out\n" || status != -15 {
		t.Errorf("ended with %d\n%s", status, out)
	}
	got := s.lines(journal.Post)
	slices.Sort(got)
	want := []string{`remove gone "g\n"`, `symlink l absent ->a`, `write .gitignore "*.o\n" "*\n"`, `write a "one\n" "two\n"`, `write new absent "n\n"`}
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	for _, e := range s.events() {
		if e.Phase != "" && !e.Inferred {
			t.Errorf("nobody saw %+v", e)
		}
	}
	if r := reports(); len(r) != 5 || !r[0].Author.Inferred {
		t.Errorf("the editor got %d reports: %+v", len(r), r)
	}
}

func TestPortableHasNoGate(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.env = []string{"SHIM_PORTABLE=1"}
	s.config.Gate = &shim.Gate{}
	if out, status := s.run("sh", "-c", "echo started"); status != 125 || !strings.Contains(out, "so there is no gate") {
		t.Errorf("ended with %d\n%s", status, out)
	}
}
