package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The output of go test -json, shortened: TestFlaky fails and passes when it runs again,
// TestAlways fails each time.
const twice = `{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestFlaky"}
{"Action":"output","Package":"m/a","Test":"TestFlaky","Output":"=== RUN   TestFlaky\n"}
{"Action":"run","Package":"m/a","Test":"TestFlaky/sub"}
{"Action":"output","Package":"m/a","Test":"TestFlaky/sub","Output":"    a_test.go:3: first time\n"}
{"Action":"output","Package":"m/a","Test":"TestFlaky/sub","Output":"        of two\n        and more\n"}
{"Action":"output","Package":"m/a","Test":"TestFlaky/sub","Output":"    a_test.go:4: next\n"}
{"Action":"fail","Package":"m/a","Test":"TestFlaky/sub"}
{"Action":"fail","Package":"m/a","Test":"TestFlaky"}
{"Action":"run","Package":"m/a","Test":"TestAlways"}
{"Action":"output","Package":"m/a","Test":"TestAlways","Output":"    a_test.go:9: never\n"}
{"Action":"fail","Package":"m/a","Test":"TestAlways"}
{"Action":"run","Package":"m/a","Test":"TestFine"}
{"Action":"pass","Package":"m/a","Test":"TestFine"}
{"Action":"output","Package":"m/a","Output":"FAIL\n"}
{"Action":"fail","Package":"m/a"}
{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestFlaky"}
{"Action":"output","Package":"m/a","Test":"TestFlaky","Output":"    a_test.go:3: what passes is not printed\n"}
{"Action":"pass","Package":"m/a","Test":"TestFlaky"}
{"Action":"pass","Package":"m/a"}
{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestAlways"}
{"Action":"output","Package":"m/a","Test":"TestAlways","Output":"    a_test.go:9: never\n"}
{"Action":"fail","Package":"m/a","Test":"TestAlways"}
{"Action":"fail","Package":"m/a"}
`

func TestATestThatPassesWhenItRunsAgainIsUnstable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, in         string
		failed, unstable []string // the start of each line that is not indented
	}{
		{"failed again or not", twice, []string{"m/a TestAlways: a_test.go:9: never"}, []string{"m/a TestFlaky: a_test.go:3: first time"}},
		{
			"a panic",
			`{"Action":"run","Package":"m/b","Test":"TestP"}
{"Action":"output","Package":"m/b","Test":"TestP","Output":"panic: x\n"}
{"Action":"output","Package":"m/b","Test":"TestP","Output":"goroutine 1 [running]:\n"}
{"Action":"fail","Package":"m/b"}
`,
			[]string{"m/b TestP: panic: x"}, nil,
		},
		{
			"a data race that does not come again",
			`{"Action":"run","Package":"m/r","Test":"TestR"}
{"Action":"output","Package":"m/r","Test":"TestR","Output":"WARNING: DATA RACE\n"}
{"Action":"output","Package":"m/r","Test":"TestR","Output":"    testing.go:1712: race detected during execution of test\n"}
{"Action":"fail","Package":"m/r","Test":"TestR"}
{"Action":"run","Package":"m/r","Test":"TestR"}
{"Action":"pass","Package":"m/r","Test":"TestR"}
{"Action":"pass","Package":"m/r"}
`,
			[]string{"m/r TestR: testing.go:1712: race detected during execution of test"}, nil,
		},
		{
			"what does not build",
			`{"ImportPath":"m/c [m/c.test]","Action":"build-output","Output":"# m/c\n"}
{"ImportPath":"m/c [m/c.test]","Action":"build-output","Output":"c/c.go:3:5: undefined: x\n"}
{"ImportPath":"m/c [m/c.test]","Action":"build-fail"}
{"Action":"output","Package":"m/c","Output":"FAIL\tm/c [build failed]\n"}
{"Action":"fail","Package":"m/c"}
`,
			[]string{"m/c: c/c.go:3:5: undefined: x"}, nil,
		},
		{
			"a package that ends by itself",
			`{"Action":"start","Package":"m/d"}
{"Action":"output","Package":"m/d","Output":"a leak\n"}
{"Action":"fail","Package":"m/d"}
`,
			[]string{"m/d: a leak"}, nil,
		},
		{"nothing", `{"Action":"start","Package":"m/e"}` + "\n" + `{"Action":"pass","Package":"m/e"}` + "\n", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in := filepath.Join(dir, "in")
			if err := os.WriteFile(in, []byte(test.in), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := run(dir, "go test -race", false, []string{in}); err != nil {
				t.Fatal(err)
			}
			for list, want := range map[string][]string{"failed": test.failed, "unstable": test.unstable} {
				text, err := os.ReadFile(filepath.Join(dir, list))
				if err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				var got []string
				for line := range strings.Lines(string(text)) {
					if !strings.HasPrefix(line, " ") {
						got = append(got, strings.TrimSpace(line))
					}
				}
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("%s: got %q, want %q\n%s", list, got, want, text)
				}
			}
		})
	}
}

func TestAListSaysHowATestRunsAloneAndWhatItPrintedWhenItFailed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.WriteFile(in, []byte(twice), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, "go test -race", false, []string{in}); err != nil {
		t.Fatal(err)
	}
	unstable, err := os.ReadFile(filepath.Join(dir, "unstable"))
	if err != nil {
		t.Fatal(err)
	}
	want := `m/a TestFlaky: a_test.go:3: first time
  said: of two | and more
  alone: go test -race -run '^TestFlaky$' m/a
  run 1: fail
        a_test.go:3: first time
            of two
            and more
        a_test.go:4: next
  run 2: pass
`
	if string(unstable) != want {
		t.Errorf("got\n%swant\n%s", unstable, want)
	}
}

func TestRatesNameWhatDoesNotPassEveryTime(t *testing.T) {
	t.Parallel()
	results := newResults()
	if err := results.read(strings.NewReader(twice)); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if below := results.rates(&out); below != 2 {
		t.Errorf("%d tests are below", below)
	}
	want := `0 of 2: m/a TestAlways: a_test.go:9: never
1 of 2: m/a TestFlaky: a_test.go:3: first time
5 runs of tests
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
