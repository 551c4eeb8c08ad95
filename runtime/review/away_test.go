package review

import (
	"slices"
	"testing"
	"time"
)

// What a user takes away outside of the editor and brings back is as it was, whatever the
// file is meanwhile: git removes a file before it writes another.
func TestHunksComeBackWithTheirText(t *testing.T) {
	t.Parallel()
	const mine, theirs = "one\ntwo\nthree\n", "zero\none\nTWO\nfour\n"
	for name, steps := range map[string][]State{
		"the text of the last commit":      {text(mine)},
		"no file":                          {{}},
		"no file, then that of the commit": {{}, text(mine)},
		"that of the commit, then no file": {text(mine), {}},
		"no file twice":                    {{}, text(theirs), {}},
		"an empty file":                    {text("")},
		"a link":                           {{Kind: Link, Target: "x"}},
		"a folder":                         {{Kind: Other, Target: "a folder"}},
		"a half":                           {text("one\n")},
	} {
		for _, restart := range []bool{false, true} {
			p := newProject(t)
			p.disk["f"] = text(mine)
			p.ok(p.Track("f", text(mine)))
			p.agent("a", "f", text("one\nTWO\nfour\n")) // a change of two lines and a removal
			p.user("f", text(theirs))
			hunks := func() (out [][]string) {
				for _, h := range p.Hunks("f") {
					out = append(out, h.Old, h.New)
				}
				return out
			}
			want := hunks()
			for _, s := range append(slices.Clone(steps), text(theirs)) {
				if restart {
					p.ok(p.Flush())
					p.open()
				}
				p.ok(p.Synced("f", s, time.Now()))
			}
			if got := hunks(); !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%s, restart %v: the hunks are %q, and were %q", name, restart, got, want)
			}
			plan, err := p.Reject(Selection{}, false)
			p.disk["f"] = text(theirs)
			p.apply(plan, err)
			if got := p.disk["f"].Text; got != "zero\n"+mine {
				t.Errorf("%s, restart %v: %q is left after a rejection", name, restart, got)
			}
		}
	}
}
