package capture

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// A message is parsed where its line is read. Its tree is the one of its bytes alone,
// whatever else is in the line, however large it is, and wherever it was copied to.
func TestTheTreeOfARecordIsThatOfItsBytes(t *testing.T) {
	t.Parallel()
	messages := []string{
		`{"jsonrpc":"2.0","method":"a","params":{"x":[1,{"b/c":true,"d~":null},"y"],"":{},"s":"q\"\u00e9"}}`,
		`{"a":1,"a":2,"\u0061":3}`,
		`{"n":12345678901234567890,"l":[null]}`,
		`{"big":"` + strings.Repeat("x", smallRecord) + `"}`,
		`{"giant":"` + strings.Repeat("x", batchBytes) + `"}`,
		`null`, `[]`, `"\ud800"`, `{"deep":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
	}
	var lines []string
	for _, m := range messages {
		lines = append(lines,
			`{"dir":"c2a","t":1,"msg":`+m+`}`,
			`{"msg":`+m+`,"dir":"a2c","t":12345678901234567890}`,
			`{"extra":[12345678901234567890,null], "dir":"c2a","t":1, "msg" : `+m+` }`,
			`{"dir":"c2a","message":{"no":1},"msg":`+m+`}`,
			`{"dir":"c2a","msg":{"no":1},"msg":`+m+`}`,
			`{"seq":1,"time":"2026-11-21T05:00:00Z","direction":"agent->client","transport":"stdio","message":`+m+`}`,
			`{"dir":"c2a","raw":"no JSON"}`, `{"dir":"err","raw":"x"}`,
		)
	}
	r, err := NewReader("capture", strings.NewReader(strings.Join(lines, "\n")+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	records, trees := 0, 0
	err = Each(context.Background(), r, func(rec lint.Record) {
		records++
		var want jtree.Tree
		fails := want.Parse(rec.Bytes) != nil
		if rec.Tree == nil {
			if !fails && rec.Source == lint.Wire && len(rec.Bytes) <= batchBytes {
				t.Errorf("line %d has no tree", rec.Line)
			}
			return
		}
		if trees++; described(rec.Tree) != described(&want) {
			t.Errorf("line %d: the tree is\n%.1000s\nwant\n%.1000s", rec.Line, described(rec.Tree), described(&want))
		}
	})
	if err != nil || records != len(lines) || trees < records/2 {
		t.Errorf("%v, %d records of %d, %d with a tree", err, records, len(lines), trees)
	}
}

func described(tree *jtree.Tree) string {
	var b strings.Builder
	fmt.Fprintln(&b, tree.Depth(), tree.Odd(), tree.Escaped())
	for _, d := range tree.Duplicates() {
		fmt.Fprintln(&b, "again", d.Pointer())
	}
	for v := range tree.Root().Below() {
		fmt.Fprintln(&b, v.Pointer(), v.Kind(), v.Offset(), string(v.Text()))
	}
	return b.String()
}
