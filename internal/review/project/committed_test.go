package project

import (
	"testing"

	"github.com/hermes-nvim/hermes/runtime/review"
)

// Changes that the user commits are accepted, and no others.
func TestACommitOfTheUserAccepts(t *testing.T) {
	t.Parallel()
	text := "1\n2\n3\n4\n5\n"
	for name, c := range map[string]struct {
		settle bool
		commit func(r *rig, a review.Author)
		want   []string
	}{
		"everything": {true, func(r *rig, a review.Author) { r.ends(a); r.git("commit", "-qam", "x") }, nil},
		"one file":   {true, func(r *rig, a review.Author) { r.ends(a); r.git("commit", "-qm", "x", "d/g") }, []string{"f s disk? 1>one 5>five", "gone s disk? x>"}},
		"a part of a file": {true, func(r *rig, a review.Author) {
			r.ends(a)
			all := "one\n2\n3\n4\nfive\n"
			r.write("f", "one\n2\n3\n4\n5\n")
			r.git("add", "f")
			r.write("f", all)
			r.git("commit", "-qm", "x")
		}, []string{"d/g s disk? x>y", "f s disk? 5>five", "gone s disk? x>"}},
		"only staged":         {true, func(r *rig, a review.Author) { r.ends(a); r.git("add", "-A") }, []string{"d/g s disk? x>y", "f s disk? 1>one 5>five", "gone s disk? x>"}},
		"the agent commits":   {true, func(r *rig, a review.Author) { r.git("commit", "-qam", "x"); r.ends(a) }, []string{"d/g s disk? x>y", "f s disk? 1>one 5>five", "gone s disk? x>"}},
		"packed at once":      {true, func(r *rig, a review.Author) { r.ends(a); r.git("commit", "-qam", "x"); r.git("gc", "-q") }, []string{"d/g s disk? x>y", "f s disk? 1>one 5>five", "gone s disk? x>"}},
		"it is not asked for": {false, func(r *rig, a review.Author) { r.ends(a); r.git("commit", "-qam", "x") }, []string{"d/g s disk? x>y", "f s disk? 1>one 5>five", "gone s disk? x>"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "f", text, "d/g", "x\n", "gone", "x\n")
			r.git("init", "-q")
			r.git("add", "-A")
			r.git("commit", "-qm", "begin")
			r.opts.Settle = c.settle
			r.reopen()
			a := r.turn("s")
			r.write("f", "one\n2\n3\n4\nfive\n", "d/g", "y\n")
			r.remove("gone")
			r.Scan(a)
			r.wait()
			c.commit(r, a)
			r.noticeCommit()
			r.wait()
			r.is(c.want...)
		})
	}
}
