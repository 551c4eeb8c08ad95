package project

import (
	"slices"
	"testing"
)

// The ignore rules at the beginning of a turn decide which of its files are
// reviewed.
func TestAnAgentCannotTakeFilesOutOfTheReview(t *testing.T) {
	t.Parallel()
	for name, hide := range map[string]func(r *rig){
		"exclude":    func(r *rig) { r.write(".git/info/exclude", "*\n") },
		"settings":   func(r *rig) { r.write(".git/config", "[core]\n\texcludesFile = "+r.path("all")+"\n", "all", "*\n") },
		"repository": func(r *rig) { r.write("sub/.git/HEAD", "ref: refs/heads/main\n", "sub/.git/info/exclude", "*\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, ".git/HEAD", "ref: refs/heads/main\n", "sub/mine", "a\n")
			a := r.turn("s")
			hide(r)
			r.write("sub/mine", "b\n", "sub/evil", "x\n")
			r.ends(a)
			for _, want := range []string{"sub/mine", "sub/evil"} {
				if got := r.Review().Paths(); !slices.Contains(got, want) {
					t.Errorf("%s is not in the review, but %q", want, got)
				}
			}
		})
	}
}
