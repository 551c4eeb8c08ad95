package tool

import (
	"runtime"
	"slices"
	"testing"
)

func TestOnlyLinesThatNeedAShellGetOne(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are those of Unix")
	}
	for line, want := range map[string][]string{
		"ls -l src/a.go":     {"ls", "-l", "src/a.go"},
		"  ls  ":             {"ls"},
		"env A=1 ls":         {"env", "A=1", "ls"},
		"cd src":             nil,
		"A=1 ls":             nil,
		"ls *.go":            nil,
		"ls ~/x":             nil,
		"ls $HOME":           nil,
		"ls 'a b'":           nil,
		"ls | wc":            nil,
		"ls\nls":             nil,
		"ls # all":           nil,
		"no-such-program":    nil,
		"# only a comment":   nil,
		"ls \u2013l":         nil,
		"./no-such-script x": nil,
	} {
		if want == nil {
			want = []string{"/bin/sh", "-c", line}
		}
		if got := commandVector(line); !slices.Equal(got, want) {
			t.Errorf("%q runs %q, want %q", line, got, want)
		}
	}
}
