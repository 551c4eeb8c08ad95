//go:build unix

package pathname

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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

func TestHowFarAPathExists(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.MkdirAll(dir+"/a/b", 0o700),
		os.WriteFile(dir+"/a/file", nil, 0o600),
		os.Symlink("a/b", dir+"/link"),
		os.Symlink("nowhere/else", dir+"/dangling"),
		os.Symlink("loop", dir+"/loop"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	endless := strings.Repeat("n/", 1<<20) + "n"
	for path, want := range map[string][2]string{
		"/":                      {"/", ""},
		dir:                      {dir, ""},
		dir + "/a/b":             {dir + "/a/b", ""},
		dir + "/a//./b/":         {dir + "/a/b", ""},
		dir + "/a/c":             {dir + "/a", "c"},
		dir + "/a/c/d/e":         {dir + "/a", "c/d/e"},
		dir + "/a/file/x":        {dir + "/a/file", "x"},
		dir + "/link":            {dir + "/a/b", ""},
		dir + "/link/c/d":        {dir + "/a/b", "c/d"},
		dir + "/dangling":        {dir, "dangling"},
		dir + "/dangling/x":      {dir, "dangling/x"},
		dir + "/loop/x":          {dir, "loop/x"},
		dir + "/link/" + endless: {dir + "/a/b", endless},
		dir + "/" + strings.Repeat("long", 1<<20): {dir, strings.Repeat("long", 1<<20)},
	} {
		if real, rest := Existing(path); real != want[0] || rest != want[1] {
			t.Errorf("%.100s: %.100q, %.100q", path, real, rest)
		}
	}
}
