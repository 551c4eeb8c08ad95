package review

import (
	"slices"
	"testing"
	"time"
)

// Changes that a user takes away outside of the editor and brings back are as they were,
// whatever the file is meanwhile: git removes a file before it writes another.
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

// A look may see a file in the middle of a write: empty, gone, or with a part of its text.
// However many looks see it, and whomever they name as the author, pending changes that
// are still there after the write are pending.
func TestHunksOutliveAWriteThatIsSeen(t *testing.T) {
	t.Parallel()
	const mine, theirs = "one\ntwo\nthree\n", "one\nTWO\nfour\nthree\n"
	states := map[string]State{"no file": {}, "nothing": text(""), "a part": text("one\nTWO\n"), "a line": text("one\n")}
	for who, look := range map[string]func(p *project, s State){
		"the user's": func(p *project, s State) { p.ok(p.Synced("f", s, time.Now())) },
		"the agent's, in its turn": func(p *project, s State) {
			p.ok(p.Found(Author{Session: "a", Turn: "t", Source: "disk", Inferred: true}, "f", nil, s, time.Now()))
		},
		"the agent's, in the next turn": func(p *project, s State) {
			p.ok(p.Found(Author{Session: "a", Turn: "u", Source: "disk", Inferred: true}, "f", nil, s, time.Now()))
		},
		"another agent's": func(p *project, s State) {
			p.ok(p.Found(Author{Session: "b", Turn: "t", Source: "disk", Inferred: true}, "f", nil, s, time.Now()))
		},
	} {
		for _, seen := range [][]string{{"nothing"}, {"no file"}, {"no file", "nothing"}, {"nothing", "a line"}, {"no file", "a line", "a part"}, {"a part"}} {
			if part := seen[len(seen)-1]; part != "nothing" && part != "no file" && who != "the user's" {
				continue // it is then the last text of an agent
			}
			for written, rest := range map[string]string{"as it was": "", "with a line more": "five\n"} {
				for _, restart := range []bool{false, true} {
					p := newProject(t)
					p.ok(p.Track("f", text(mine)))
					p.ok(p.Changed(Author{Session: "a", Turn: "t"}, "f", nil, text(theirs)))
					for _, s := range seen {
						look(p, states[s])
						if restart {
							p.ok(p.Flush())
							p.open()
						}
					}
					p.ok(p.Synced("f", text(theirs+rest), time.Now()))
					base, now, _ := p.Known("f")
					if want := mine + rest; base.Text != want || now.Text != theirs+rest {
						t.Errorf("%s look sees %q, then it is written %s, restart %v: the base is %q, want %q; the text %q", who, seen, written, restart, base.Text, want, now.Text)
					}
				}
			}
		}
	}
}

// A look that comes before the end of the turn takes the user's stash for the agent's change.
// The pending changes are the agent's again when their text comes back, unless the agent is
// known to have taken them back.
func TestHunksComeBackWhoeverWasSaidToTakeThemAway(t *testing.T) {
	t.Parallel()
	const mine, theirs = "one\ntwo\nthree\n", "one\nTWO\nthree\n"
	for name, c := range map[string]struct {
		by   Author // who is said to have taken them away
		want string
	}{
		"a look":           {Author{Session: "a", Turn: "a", Source: "disk", Inferred: true}, "text a -two/+TWO/"},
		"a look for other": {Author{Session: "b", Turn: "b", Source: "disk", Inferred: true}, "text a -two/+TWO/"},
		"a report":         {Author{Session: "a", Turn: "a", Source: "tool"}, ""},
	} {
		for _, restart := range []bool{false, true} {
			p := newProject(t)
			p.ok(p.Track("f", text(mine)))
			p.agent("a", "f", text(theirs))
			for range 2 {
				p.ok(p.Found(c.by, "f", nil, text(mine), time.Now()))
				if restart {
					p.ok(p.Flush())
					p.open()
				}
				p.ok(p.Synced("f", text(theirs), time.Now()))
				if got := p.summary("f"); got != c.want {
					t.Errorf("%s, restart %v: %q is pending, not %q", name, restart, got, c.want)
				}
				if c.want == "" {
					break // the text is the user's now
				}
			}
		}
	}
}
