package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// history is a weave and what happened to it.
type history struct {
	w       weave
	changes []string // sessions by ChangeID, from 1
	ids     uint64
	decided uint32
}

func newHistory(text string) *history { return &history{w: weaveOf(text)} }

func (h *history) session(id ChangeID) string { return h.changes[id-1] }

func (h *history) agent(session, text string) *history {
	h.changes = append(h.changes, session)
	h.w = h.w.write(text, writer{
		by:   ChangeID(len(h.changes)),
		same: func(id ChangeID) bool { return h.session(id) == session },
		turn: func(id ChangeID) bool { return h.session(id) == session },
	})
	return h
}

func (h *history) user(text string) *history {
	h.w = h.w.write(text, writer{})
	return h
}

func (h *history) undone(text string) *history {
	h.w = h.w.write(text, writer{undo: true})
	return h
}

func (h *history) runs() []*run {
	runs, w := h.w.runs(h.session, func() uint64 { h.ids++; return h.ids })
	h.w = w
	return runs
}

// decide takes the hunk with a number; 0 means all.
func (h *history) decide(id uint64, to state) *history {
	h.runs()
	h.decided++
	h.w = h.w.decide(func(l line) (bool, bool) {
		if id == 0 {
			return true, true
		}
		return only(id)(l)
	}, to, h.decided)
	h.runs()
	return h
}

// show prints hunks: number, session, ranges, texts and, if so, the user's lines.
func (h *history) show() string {
	var out []string
	for _, r := range h.runs() {
		s := fmt.Sprintf("%d %s %d-%d>%d-%d -%s +%s", r.id, r.session, r.base0, r.base1, r.current0, r.current1,
			strings.Join(slices.Concat(r.old, r.others), ""), strings.Join(r.new, ""))
		if len(r.user) > 0 {
			s += fmt.Sprint(" user ", r.user)
		}
		out = append(out, strings.ReplaceAll(s, "\n", "/"))
	}
	return strings.Join(out, "; ")
}

func TestHunksAre(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		h             *history
		hunks         string
		base, current string
	}{
		{"nothing", newHistory("a\n"), "", "a\n", "a\n"},
		{"a replaced line", newHistory("a\nb\nc\n").agent("s", "a\nx\nc\n"), "1 s 1-2>1-2 -b/ +x/", "a\nb\nc\n", "a\nx\nc\n"},
		{"at the start and the end", newHistory("a\nb\nc\n").agent("s", "x\nb\nc\ny\n"),
			"1 s 0-1>0-1 -a/ +x/; 2 s 3-3>3-4 - +y/", "a\nb\nc\n", "x\nb\nc\ny\n"},
		{"a whole file", newHistory("a\nb\n").agent("s", "x\n"), "1 s 0-2>0-1 -a/b/ +x/", "a\nb\n", "x\n"},
		{"of an empty file", newHistory("").agent("s", "x\n"), "1 s 0-0>0-1 - +x/", "", "x\n"},
		{"an emptied file", newHistory("x\n").agent("s", ""), "1 s 0-1>0-0 -x/ +", "x\n", ""},
		{"a last newline that is removed", newHistory("a\n").agent("s", "a"), "1 s 0-1>0-1 -a/ +a", "a\n", "a"},
		{"a last newline that is added", newHistory("a").agent("s", "a\n"), "1 s 0-1>0-1 -a +a/", "a", "a\n"},
		{"line ends", newHistory("a\r\nb\r\n").agent("s", "a\nb\r\n"), "1 s 0-1>0-1 -a\r/ +a/", "a\r\nb\r\n", "a\nb\r\n"},
		{"a byte order mark", newHistory("\ufeffa\n").agent("s", "a\n"), "1 s 0-1>0-1 -\ufeffa/ +a/", "\ufeffa\n", "a\n"},
		{"a binary file", newHistory("a\x00\nb\n").agent("s", "a\x00\nc\n"), "1 s 0-1>0-1 -a\x00/b/ +a\x00/c/", "a\x00\nb\n", "a\x00\nc\n"},
		{"of one session though of several changes", newHistory("a\n").agent("s", "a\nb\n").agent("s", "a\nb\nc\n"), "1 s 1-1>1-3 - +b/c/", "a\n", "a\nb\nc\n"},
		{"split between sessions", newHistory("a\n").agent("s", "a\nb\n").agent("t", "a\nb\nc\n"), "1 s 1-1>1-2 - +b/; 2 t 1-1>2-3 - +c/", "a\n", "a\nb\nc\n"},
		{"a line of one session that another deletes", newHistory("a\n").agent("s", "a\nb\n").agent("t", "a\n"), "1 t 1-1>1-1 -b/ +", "a\n", "a\n"},
		{"not a line that its session takes back", newHistory("a\n").agent("s", "a\nb\n").agent("s", "a\n"), "", "a\n", "a\n"},
		{"not a line that its session writes back", newHistory("a\nb\n").agent("s", "a\n").agent("s", "a\nb\n"), "", "a\nb\n", "a\nb\n"},
		{"not a line that another session writes back", newHistory("a\nb\n").agent("s", "a\n").agent("t", "a\nb\n"), "", "a\nb\n", "a\nb\n"},
		{"not what the user undoes by hand", newHistory("a\nb\nc\n").agent("s", "a\nx\nc\n").user("a\nb\nc\n"), "", "a\nb\nc\n", "a\nb\nc\n"},
		{"not what the user types", newHistory("a\n").user("a\nu\n"), "", "a\nu\n", "a\nu\n"},
		{"not what the user typed before", newHistory("a\n").user("a\nu\n").agent("s", "a\nx\n"), "1 s 1-2>1-2 -u/ +x/", "a\nu\n", "a\nx\n"},
		{"untouched by what the user types below", newHistory("a\nz\n").agent("s", "a\nx\nz\n").user("a\nx\nu\nz\n"), "1 s 1-1>1-2 - +x/", "a\nu\nz\n", "a\nx\nu\nz\n"},
		{"untouched by what the user types above", newHistory("a\nb\n").agent("s", "a\nx\n").user("a\nu\nx\n"), "1 s 2-3>2-3 -b/ +x/", "a\nu\nb\n", "a\nu\nx\n"},
		{"touched by what the user types into it", newHistory("").agent("s", "x\ny\n").user("x\nu\ny\n"), "1 s 0-1>0-3 -u/ +x/u/y/ user [1]", "u\n", "x\nu\ny\n"},
		{"touched by what the user types over it", newHistory("a\n").agent("s", "x\n").user("xu\n"), "1 s 0-1>0-0 -a/ + user [0]", "a\nxu\n", "xu\n"},
		{"touched by what the user changes at its start", newHistory("").agent("s", "x\ny\n").user("xu\ny\n"), "1 s 1-1>1-2 - +y/ user [0]", "xu\n", "xu\ny\n"},
		{"touched, in all its parts, by what the user changes between", newHistory("").agent("s", "x\n").agent("t", "x\nz\ny\n").user("x\nzu\ny\n"), "1 s 0-0>0-1 - +x/ user [1]; 2 t 1-1>2-3 - +y/ user [1]", "zu\n", "x\nzu\ny\n"},
		{"gone when the user removes it", newHistory("a\n").agent("s", "a\nx\n").user("a\n"), "", "a\n", "a\n"},
		{"pending again when the editor brings it back", newHistory("a\n").agent("s", "a\nx\n").user("a\n").undone("a\nx\n"), "1 s 1-1>1-2 - +x/", "a\n", "a\nx\n"},
		{"the user's when the user types it again", newHistory("a\n").agent("s", "a\nx\n").user("a\n").user("a\nx\n"), "", "a\nx\n", "a\nx\n"},
		{"pending again when the editor undoes a rejection", newHistory("a\nb\n").agent("s", "a\nx\n").decide(0, rejected).undone("a\nx\n"), "2 s 1-2>1-2 -b/ +x/", "a\nb\n", "a\nx\n"},
		{"pending again when the editor undoes and redoes the change", newHistory("a\nb\n").agent("s", "a\nx\n").undone("a\nb\n").undone("a\nx\n"), "1 s 1-2>1-2 -b/ +x/", "a\nb\n", "a\nx\n"},
		{"not touched for ever", newHistory("a\nz\n").agent("s", "x\nz\n").user("xu\nz\n").decide(1, rejected).agent("s", "a\nxu\ny\nz\n"), "2 s 2-2>2-3 - +y/", "a\nxu\nz\n", "a\nxu\ny\nz\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 2 {
				if got := c.h.show(); got != c.hunks {
					t.Errorf("%q, not %q", got, c.hunks)
				}
			}
			if got := c.h.w.base(); got != c.base {
				t.Errorf("the base is %q, not %q", got, c.base)
			}
			if got := c.h.w.current(); got != c.current {
				t.Errorf("the current text is %q, not %q", got, c.current)
			}
		})
	}
}

func TestAHunkKeepsItsNumber(t *testing.T) {
	t.Parallel()
	h := newHistory("a\nb\nc\nd\ne\n").agent("s", "a\nB\nc\nD\ne\n")
	steps := []struct{ do, hunks string }{
		{"a\nB\nc\nD\ne\n", "1 s 1-2>1-2 -b/ +B/; 2 s 3-4>3-4 -d/ +D/"},
		{"a\nB\nc\nD\ne\nf\n", "1 s 1-2>1-2 -b/ +B/; 2 s 3-4>3-4 -d/ +D/; 3 s 5-5>5-6 - +f/"},
		{"a\nB\nBB\nc\nD\ne\nf\n", "1 s 1-2>1-3 -b/ +B/BB/; 2 s 3-4>4-5 -d/ +D/; 3 s 5-5>6-7 - +f/"},
		{"a\nB\nBB\nD\ne\nf\n", "1 s 1-4>1-4 -b/c/d/ +B/BB/D/; 3 s 5-5>5-6 - +f/"},
		{"a\nB\nBB\nc\nD\ne\nf\n", "1 s 1-2>1-3 -b/ +B/BB/; 4 s 3-4>4-5 -d/ +D/; 3 s 5-5>6-7 - +f/"},
	}
	for _, s := range steps {
		if got := h.agent("s", s.do).show(); got != s.hunks {
			t.Fatalf("%q, not %q", got, s.hunks)
		}
	}
}

func TestUndoOfADecisionBringsTheHunkBack(t *testing.T) {
	t.Parallel()
	for _, to := range []state{accepted, rejected} {
		h := newHistory("a\nb\nc\n").agent("s", "a\nB\nc\nd\n").decide(0, to)
		h.user("u\n" + h.w.current())
		if h.show() != "" {
			t.Fatal(h.show())
		}
		h.w = h.w.undo(h.decided, h.session)
		if got, want := h.show(), "3 s 2-3>2-3 -b/ +B/; 4 s 4-4>4-5 - +d/"; got != want {
			t.Errorf("%q, not %q", got, want)
		}
		if got, want := h.w.current(), "u\na\nB\nc\nd\n"; got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestWhatIsCommittedIsAccepted(t *testing.T) {
	t.Parallel()
	base := "a\nb\nc\nd\ne\nf\ng\n"
	current := "a\nB\nc\ne\nf\nF\ng\n" // b changed, d deleted, F added
	for committed, want := range map[string][]uint64{
		current:                           {1, 2, 3},
		base:                              nil,
		"a\nB\nc\nd\ne\nf\ng\n":           {1},
		"a\nb\nc\ne\nf\ng\n":              {2},
		"a\nb\nc\nd\ne\nf\nF\ng\n":        {3},
		"u\na\nB\nc\nd\ne\nf\nF\ng\nu\n":  {1, 3},
		"a\nB2\nc\nd2\ne\nf\nF2\ng\n":     nil,
		"a\nb\nB\nc\nd\ne\nf\nF\nFF\ng\n": {3},
	} {
		h := newHistory(base).agent("s", current)
		var got []uint64
		for _, r := range h.w.committed(committed, h.runs()) {
			got = append(got, r.id)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, not %v", committed, got, want)
		}
	}
}

func TestRememberedLinesAreBounded(t *testing.T) {
	t.Parallel()
	h := newHistory("")
	for i := range 100 {
		h.agent("s", strings.Repeat(strconv.Itoa(i)+"\n", 100)).decide(0, rejected)
		h.w, _ = h.w.forget(2000)
		if n := h.w.sum.deadBytes; n > 2000 {
			t.Fatalf("%d bytes are kept", n)
		}
	}
	h.w = h.w.undo(h.decided, h.session)
	if got := h.w.current(); got != strings.Repeat("99\n", 100) {
		t.Errorf("the last rejection cannot be undone: %q", got)
	}
}

func TestLargeWeavesAreAsSmallOnes(t *testing.T) {
	t.Parallel()
	lines := make([]string, 5000)
	for i := range lines {
		lines[i] = strconv.Itoa(i) + "\n"
	}
	h := newHistory(strings.Join(lines, ""))
	want := slices.Clone(lines)
	for i := 0; i < len(want); i += 97 {
		want[i] = "x" + want[i]
	}
	h.agent("s", strings.Join(want, ""))
	if got := len(h.runs()); got != 52 {
		t.Fatalf("%d hunks, not 52", got)
	}
	for i := 4990; i > 0; i -= 13 {
		want = slices.Insert(want, i, "u\n")
		h.w = h.w.edit(i, i, []string{"u\n"}, writer{})
		want = slices.Delete(want, i+1, i+3)
		h.w = h.w.edit(i+1, i+3, nil, writer{})
	}
	if h.w.current() != strings.Join(want, "") {
		t.Fatal("wrong text")
	}
	if got := len(h.w.blocks); got > 3*5000/blockLines {
		t.Errorf("%d blocks", got)
	}
	h.decide(0, rejected)
	if h.w.current() != h.w.base() || strings.Contains(h.w.current(), "x") {
		t.Error("a change is left after rejecting everything")
	}
}
