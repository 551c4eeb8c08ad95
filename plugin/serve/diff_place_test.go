package serve

import (
	"strings"
	"testing"
)

func TestTheOldTextOfADiffIsFoundInItsFile(t *testing.T) {
	t.Parallel()
	const text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight two\n"
	long := strings.Repeat("x", maxAround)
	for name, c := range map[string]struct {
		text, old, now string
		want           diffPlace
	}{
		"in a line":            {text, "iv", "IV", diffPlace{Times: 1, Line: 2, OldText: "two\nthree\nfour\nfive\nsix\nseven\neight two\n", NewText: "two\nthree\nfour\nfIVe\nsix\nseven\neight two\n"}},
		"lines":                {text, "one\n", "", diffPlace{Times: 1, Line: 1, OldText: "one\ntwo\nthree\nfour\n", NewText: "two\nthree\nfour\n"}},
		"over lines":           {text, "n\neight", "N EIGHT", diffPlace{Times: 1, Line: 4, OldText: "four\nfive\nsix\nseven\neight two\n", NewText: "four\nfive\nsix\nseveN EIGHT two\n"}},
		"the whole file":       {text, text, "one\n", diffPlace{Times: 1}},
		"nowhere":              {text, "nine", "ten", diffPlace{Times: 0}},
		"twice":                {text, "two", "2", diffPlace{Times: 2}},
		"no break at the end":  {"a\nb", "b", "c", diffPlace{Times: 1, Line: 1, OldText: "a\nb", NewText: "a\nc"}},
		"in an endless line":   {long + "here" + long, "here", "there", diffPlace{Times: 1, Line: 1, OldText: "here", NewText: "there"}},
		"beside an empty line": {"\n\n\n\n\nhere\n", "here", "", diffPlace{Times: 1, Line: 3, OldText: "\n\n\nhere\n", NewText: "\n\n\n\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := placeIn(c.text, c.old, c.now); got != c.want {
				t.Errorf("%+v", got)
			}
		})
	}
}
