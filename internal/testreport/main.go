// Command testreport reads what go test -json has printed and says which tests failed
// and which are unstable: those that failed and passed when they ran again.
//
//	testreport -to DIR -alone COMMAND [FILE...]    appends to the lists of scripts/verdict
//	testreport -rates [FILE...]                    prints how often each test passed
//
// COMMAND runs tests alone: "-run NAME PACKAGE" is appended to it. Without files it reads
// standard input.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	to := flag.String("to", "", "append to the lists in this `folder`")
	alone := flag.String("alone", "go test", "the `command` that runs tests alone")
	rates := flag.Bool("rates", false, "print how often each test passed, and exit with 1 if one failed")
	flag.Parse()
	if err := run(*to, *alone, *rates, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
}

func run(to, alone string, rates bool, files []string) error {
	results := newResults()
	if len(files) == 0 {
		if err := results.read(os.Stdin); err != nil {
			return err
		}
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		err = results.read(f)
		f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if rates {
		if below := results.rates(os.Stdout); below > 0 {
			return fmt.Errorf("%d tests did not pass every time", below)
		}
		return nil
	}
	failed, unstable := results.sort()
	for list, tests := range map[string][]*test{"failed": failed, "unstable": unstable} {
		if err := appendTo(filepath.Join(to, list), tests, alone); err != nil {
			return err
		}
	}
	return nil
}

// appendTo appends to a list of scripts/verdict: a line with what failed and why, and indented
// lines with its messages, the command that runs it alone and, for unstable tests, their
// output when they failed.
func appendTo(name string, tests []*test, alone string) error {
	if len(tests) == 0 {
		return nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	for _, t := range tests {
		fmt.Fprintf(f, "%s\n", t.summary())
		if said := t.said(); said != "" {
			fmt.Fprintf(f, "  said: %s\n", said)
		}
		fmt.Fprintf(f, "  alone: %s\n", t.command(alone))
		for i, r := range t.runs {
			if len(t.runs) == 1 || t.name == "" {
				break
			}
			fmt.Fprintf(f, "  run %d: %s\n", i+1, r.action)
			if r.passed() {
				continue
			}
			for _, line := range r.lines(40) {
				fmt.Fprintf(f, "    %s\n", cut(line, 300))
			}
		}
	}
	return f.Close()
}

// An event is a line of go test -json.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string

	ImportPath string // of what does not build
}

// A test is one that a package has at its top, with its subtests, or, without a name, what a
// package printed outside of tests.
type test struct {
	pkg, name string
	runs      []*once
}

// once is one run of a test.
type once struct {
	action string // "" while it runs, or when it never ended
	output strings.Builder
}

func (r *once) passed() bool { return r.action == "pass" || r.action == "skip" }

func (r *once) raced() bool { return strings.Contains(r.output.String(), "WARNING: DATA RACE") }

// lines are the last lines that say something.
func (r *once) lines(count int) []string {
	var lines []string
	for line := range strings.Lines(r.output.String()) {
		line = strings.TrimRight(line, "\n")
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "=== ") && !strings.HasPrefix(text, "--- PASS") {
			lines = append(lines, line)
		}
	}
	if len(lines) > count {
		lines = append([]string{fmt.Sprintf("(%d lines before)", len(lines)-count)}, lines[len(lines)-count:]...)
	}
	return lines
}

var place = regexp.MustCompile(`^\s*\w[\w./-]*\.go:\d+(:\d+)?: `)

func cut(line string, length int) string {
	if len(line) <= length {
		return line
	}
	return strings.ToValidUTF8(line[:length], "") + "[...]"
}

// reason is the line that most likely says why a run failed.
func (r *once) reason() string {
	reason, _ := r.why()
	return reason
}

// why is reason, and the lines of the same message, which are deeper.
func (r *once) why() (reason string, more []string) {
	lines := r.lines(1 << 20)
	for _, found := range []func(string) bool{
		place.MatchString,
		func(line string) bool {
			return strings.Contains(line, "WARNING: DATA RACE") || strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:")
		},
		func(line string) bool {
			return !strings.Contains(line, "--- ") && line != "FAIL" && !strings.HasPrefix(line, "FAIL\t")
		},
	} {
		if i := slices.IndexFunc(lines, found); i >= 0 {
			reason, more = strings.TrimSpace(lines[i]), lines[i+1:]
			if end := slices.IndexFunc(more, func(line string) bool { return indent(line) <= indent(lines[i]) }); end >= 0 {
				more = more[:end]
			}
			return reason, more
		}
	}
	return "it did not end", nil
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

func (t *test) passed() bool { return t.runs[len(t.runs)-1].passed() }

func (t *test) summary() string {
	what := t.pkg
	if t.name != "" {
		what += " " + t.name
	}
	for _, r := range t.runs {
		if !r.passed() {
			return what + ": " + r.reason()
		}
	}
	return what
}

// said returns the beginning and the end of the message of summary, without its first line.
func (t *test) said() string {
	const first, last = 8, 4 // lines
	for _, r := range t.runs {
		if r.passed() {
			continue
		}
		_, more := r.why()
		if len(more) > first+last {
			more = slices.Concat(more[:first], []string{"[...]"}, more[len(more)-last:])
		}
		said := make([]string, len(more))
		for i, line := range more {
			said[i] = cut(strings.TrimSpace(line), 160)
		}
		return strings.Join(said, " | ")
	}
	return ""
}

func (t *test) command(alone string) string {
	if t.name != "" {
		alone += fmt.Sprintf(" -run '^%s$'", t.name)
	}
	return alone + " " + t.pkg
}

type key struct{ pkg, name string }

// results are the runs of all tests, in the order in which they began.
type results struct {
	tests map[key]*test
	order []*test
}

func newResults() *results { return &results{tests: make(map[key]*test)} }

func (rs *results) read(r io.Reader) error {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 && line[0] == '{' {
			var e event
			if err := json.Unmarshal(line, &e); err != nil {
				return fmt.Errorf("%.80s: %w", line, err)
			}
			rs.add(e)
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (rs *results) add(e event) {
	if e.Package == "" { // what does not build
		e.Package, _, _ = strings.Cut(e.ImportPath, " ")
	}
	root, sub, _ := strings.Cut(e.Test, "/")
	k := key{e.Package, root}
	t := rs.tests[k]
	if t == nil {
		t = &test{pkg: e.Package, name: root}
		rs.tests[k], rs.order = t, append(rs.order, t)
	}
	if len(t.runs) == 0 || sub == "" && (e.Action == "run" || e.Action == "start") {
		t.runs = append(t.runs, new(once))
	}
	r := t.runs[len(t.runs)-1]
	switch e.Action {
	case "output", "build-output":
		r.output.WriteString(e.Output)
	case "pass", "fail", "skip", "build-fail":
		if sub == "" {
			r.action = strings.TrimPrefix(e.Action, "build-")
		}
	}
}

// sort returns the tests that failed and those that passed in the end. A data race is there even
// if a test passes without it. A package fails on its own when none of its tests has: it does not
// build, or it ended in the middle.
func (rs *results) sort() (failed, unstable []*test) {
	blamed := make(map[string]bool)
	for _, t := range rs.order {
		if t.name == "" || !slices.ContainsFunc(t.runs, func(r *once) bool { return !r.passed() }) {
			continue
		}
		blamed[t.pkg] = true
		if t.passed() && !slices.ContainsFunc(t.runs, (*once).raced) {
			unstable = append(unstable, t)
		} else {
			failed = append(failed, t)
		}
	}
	for _, t := range rs.order {
		if t.name == "" && !t.passed() && !blamed[t.pkg] {
			failed = append(failed, t)
		}
	}
	return failed, unstable
}

// rates prints the tests that did not pass every time, the worst first, and returns how many.
func (rs *results) rates(w io.Writer) int {
	type rate struct {
		*test
		passed int
	}
	var below []rate
	runs := 0
	for _, t := range rs.order {
		passed := 0
		for _, r := range t.runs {
			if r.passed() {
				passed++
			}
		}
		if t.name != "" {
			runs += len(t.runs)
		}
		if passed < len(t.runs) && t.name != "" {
			below = append(below, rate{t, passed})
		}
	}
	slices.SortStableFunc(below, func(a, b rate) int {
		return cmp.Compare(a.passed*len(b.runs), b.passed*len(a.runs))
	})
	for _, r := range below {
		fmt.Fprintf(w, "%d of %d: %s\n", r.passed, len(r.runs), r.summary())
	}
	fmt.Fprintf(w, "%d runs of tests\n", runs)
	return len(below)
}
