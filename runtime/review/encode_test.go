package review

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

func TestADamagedWeaveIsRefused(t *testing.T) {
	t.Parallel()
	plain := []uint64{2, 0}
	for name, c := range map[string]struct {
		text string
		cuts []int
		runs []uint64
	}{
		"too few lines":               {"a\n", nil, plain},
		"too many lines":              {"a\nb\nc\n", nil, plain},
		"no runs":                     {"a\n", nil, nil},
		"a last line without newline": {"a\nb", nil, plain},
		"a cut outside":               {"a\nb", []int{1, 2}, plain},
		"an empty cut":                {"a\nb\n", []int{1, 0}, plain},
		"a cut of no line":            {"a\nb\n", []int{2, 1}, plain},
		"half a cut":                  {"a\nb\n", []int{1}, plain},
		"an empty run":                {"a\nb\n", nil, []uint64{0, 0, 2, 0}},
		"a run that is too long":      {"a\n", nil, []uint64{1 << 63, 0}},
		"half a run":                  {"a\n", nil, []uint64{1}},
		"a run without its facts":     {"a\n", nil, []uint64{1, 1}},
		"unknown flags":               {"a\n", nil, []uint64{1, 32, 0, 0, 0, 0, 0}},
		"a fact without a change":     {"a\n", nil, []uint64{1, 1, 0, 0, 0, 0, 0}},
		"a change without a fact":     {"a\n", nil, []uint64{1, 1, 1, 0, 1, 0, 0}},
		"a pending fact with an act":  {"a\n", nil, []uint64{1, 1, 1, 7, 0, 0, 0}},
		"a change that is no number":  {"a\n", nil, []uint64{1, 1, 1 << 40, 0, 0, 0, 0}},
	} {
		if _, err := decodeWeave(c.text, c.cuts, c.runs); !errors.Is(err, errDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// again returns a weave that was stored and loaded.
func again(w weave) (weave, error) {
	cuts, runs := w.encode()
	second, err := decodeWeave(string(w.all()), cuts, runs)
	second.crlf = w.crlf
	return second, err
}

// FuzzDecode checks that any record either is refused or gives a file that can
// be used and stored again as it is.
func FuzzDecode(f *testing.F) {
	h := newHistory("a\r\nb\nc").agent("s", "a\r\nx\nc").user("u\na\r\nx\nc").agent("t", "u\nx\nd").decide(1, rejected)
	text := string(h.w.all())
	cuts, runs := h.w.encode()
	authors := make(map[ChangeID]Author)
	for i, s := range h.changes {
		authors[ChangeID(i+1)] = Author{Session: s}
	}
	s := savedFile{Path: []byte("a"), Cuts: cuts, Runs: runs, Authors: authors, Node: savedAttribute[savedNode]{Base: savedNode{Kind: Regular}}}
	seed, err := json.Marshal(s)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed, text)
	f.Add([]byte(`{"runs":[1,0],"mode":{"base":420,"steps":[{"to":493,"by":1,"state":1}]},"authors":{"1":{}}}`), "a\n")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		var s savedFile
		if json.Unmarshal(data, &s) != nil || len(text) > 1<<16 {
			return
		}
		file, err := decodeFile(&s, text)
		if err != nil {
			return
		}
		again := string(file.text.all())
		cuts, runs := file.text.encode()
		if again != text {
			t.Fatalf("%q, not %q", again, text)
		}
		second, err := decodeWeave(again, cuts, runs)
		if err != nil || second.current() != file.text.current() || second.base() != file.text.base() {
			t.Fatalf("the second time it is %v: %v", second, err)
		}
		r := &Review{opts: Options{Remember: 1 << 20}, files: map[string]*tracked{"a": file}, authors: s.Authors, store: newMemory()}
		hunks := r.Hunks("a")
		if !reflect.DeepEqual(hunks, r.Hunks("a")) {
			t.Fatal("the hunks change")
		}
		plan, err := r.Reject(Selection{}, true)
		var mixed *MixedError
		if err != nil && !errors.Is(err, ErrNothing) && !errors.As(err, &mixed) {
			t.Fatal(err)
		}
		if err == nil {
			if err := plan.Apply(func(Change) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		r.Blame("a")
		r.Files()
		if _, err := r.Accept(Selection{}); err != nil && !errors.Is(err, ErrNothing) {
			t.Fatal(err)
		}
	})
}
