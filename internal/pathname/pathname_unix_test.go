//go:build unix

package pathname

import "testing"

func TestWhatIsBelowAFolder(t *testing.T) {
	t.Parallel()
	check(t, []way{
		{"/w", "/w", "."},
		{"/w", "/w/a", "a"},
		{"/w", "/w/a/b", "a/b"},
		{"/w", "/work", ""}, // begins alike
		{"/w", "/", ""},
		{"/w", "/W/a", ""},
		// The root has everything.
		{"/", "/", "."},
		{"/", "/w/a", "w/a"},
		{"//", "/w", "w"},
		// A separator at the end says nothing.
		{"/w/", "/w", "."},
		{"/w", "/w/", "."},
		{"/w/", "/w/a/", "a"},
		// Names are cleaned, and then those that lead out are out.
		{"/w/./x/..", "/w//a", "a"},
		{"/w", "/w/..", ""},
		{"/w", "/w/../etc", ""},
		{"/w", "/w/a/../../etc", ""},
		{"/w", "/w/a/../b", "b"},
		{"/w/..", "/etc", "etc"},
		// These only look as if they led out.
		{"/w", "/w/..a", "..a"},
		{"/w", "/w/.../a", ".../a"},
		// A backslash is a letter.
		{"/w", `/w\a`, ""},
		{"/w", `/w/..\a`, `..\a`},
		// Nobody knows where these are.
		{"", "/w", ""},
		{"", "", ""},
		{"/w", "", ""},
		{"/", "", ""},
		{".", "a", ""},
		{"w", "w/a", ""},
		{"/w", "w/a", ""},
		{"/w", "a", ""},
	})
}
