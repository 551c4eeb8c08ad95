package approval

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
)

// A model chooses how long a command is and what is in it. Where the work grows with the square of
// its length, or doubles with each thing in it, some of these have no verdict in minutes.
func TestNoCommandIsTooMuchToJudge(t *testing.T) {
	t.Parallel()
	around := func(before, in, after string) func(int) string {
		return func(n int) string { return strings.Repeat(before, n) + in + strings.Repeat(after, n) }
	}
	numbers := strings.Repeat("1 ", maxTurns)
	for name, c := range map[string]struct {
		line func(n int) string
		most int  // how often it is repeated; 0: until the line is as long as it may be
		asks bool // because it is too much, and not only at the most
	}{
		"substitutions":             {line: around("$(echo ", "", ")")},
		"substitutions without end": {line: around("$(", "", "")},
		"substitutions in a row":    {line: around("echo $(echo a $(echo b $(echo c)));", "", "")},
		"backquotes":                {line: around("`", "", "")},
		"subshells":                 {line: around("(", "a", ")")},
		"conditions":                {line: around("if true; then ", "a", "; fi")},
		"functions":                 {line: around("f() { f; }; ", "", "")},
		"pipes":                     {line: around("cat | ", "cat", "")},
		"here-documents":            {line: around("cat <<A\na\nA\n", "", "")},
		"braces":                    {line: around("a{b,c}", "", ""), asks: true},
		"sequences":                 {line: around("{1..9999}", "", ""), most: maxBrace},
		"sequences in a row":        {line: around("{1..9999} ", "", ""), asks: true},
		"loops":                     {line: around("for a in "+numbers+"; do ", "echo $a", "; done"), most: 100},
		"loops of their own variables": {line: func(n int) string {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, "for a%d in %s; do ", i, numbers)
			}
			return b.String() + "echo $a0" + strings.Repeat("; done", n)
		}, most: 100, asks: true},
		"defaults":             {line: around("${a:-", "", "}")},
		"sums":                 {line: func(n int) string { return "echo $((" + strings.Repeat("1+", n) + "1))" }},
		"doubled variables":    {line: around("a=$a$a; ", "eval $a", "")},
		"evals":                {line: around("eval ", "echo", ""), asks: true},
		"wrappers":             {line: around("env ", "echo", ""), asks: true},
		"wrappers that append": {line: around("xargs ", "rm", ""), asks: true},
		"shells":               {line: around(`sh -c "`, "", "")},
		"folders":              {line: around("cd a; ", "rm b", "")},
		"stars":                {line: func(n int) string { return "rm " + strings.Repeat("*", n) }},
		"a path":               {line: func(n int) string { return "rm " + strings.Repeat("/a", n) }},
		"arguments":            {line: func(n int) string { return "rm " + strings.Repeat("a ", n) }, asks: true},
		"redirections":         {line: around("> a ", "", ""), asks: true},
		"aliases":              {line: around("alias a=b; ", "a", "")},
		"options of git":       {line: func(n int) string { return "git " + strings.Repeat("-c a=b ", n) + "push" }, asks: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			most := cmp.Or(c.most, maxLine)
			for len(c.line(most)) > maxLine {
				most = most * 3 / 4
			}
			for _, n := range []int{1, most / 8, most} {
				v := patience.Ends(t, "verdict", func() Verdict { return place.Judge(c.line(n)) })
				tooMuch := len(v.Findings) > 0 && v.Findings[0].Rule == unreadable.name
				if c.asks && n == most && !tooMuch {
					t.Errorf("%d times: %+v", n, v)
				}
			}
		})
	}
}
