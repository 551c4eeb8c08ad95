package serve

import (
	"slices"
	"testing"
)

func TestMentionsAreWordsThatBeginWithAnAt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want [][]string
	}{
		{"see @main.go, please", [][]string{{"main.go,", "main.go"}}},
		{"(@src/a.go).", [][]string{{"src/a.go).", "src/a.go"}}},
		{`@"two words.txt" and @b`, [][]string{{"two words.txt"}, {"b"}}},
		{"mail me@main.go", nil},
		{"a\n@b\tc@d", [][]string{{"b"}}},
		{"@", nil},
		{`@"open`, nil},
		{`@ö.txt`, [][]string{{"ö.txt"}}},
		// An "@" inside of a name is part of it.
		{"@a(@.env", [][]string{{"a(@.env"}}},
		{`@"a (@.env" x`, [][]string{{"a (@.env"}}},
		{`@"a (@.env`, [][]string{{".env"}}},
		// The name of a command is the agent's.
		{"/fix(@.env", nil},
		{"/fix(@.env @main.go", [][]string{{"main.go"}}},
		{"  /fix(@.env\n@main.go", [][]string{{"main.go"}}},
		{"say /fix @a", [][]string{{"a"}}},
	} {
		if got := mentioned(test.text); !slices.EqualFunc(got, test.want, slices.Equal) {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}
