package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/hermes-nvim/hermes/internal/lazyregexp"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// known is what findings of the same fault have in common in every capture: numbers in
// their pointer and text are others each time.
type known struct {
	Rule    string `json:"rule,omitempty"`
	By      string `json:"by,omitempty"`
	Pointer string `json:"pointer,omitempty"`
	// Name is the word that the specification does not have. A baseline of an older Hermes
	// does not have it, and such an entry holds for any.
	Name string `json:"name,omitempty"`
	Text string `json:"text,omitempty"`
	Step string `json:"step,omitempty"` // instead of a finding: a step of a run that failed
}

var numbers = lazyregexp.New("[0-9]+")

func knownFinding(rule, by, pointer, name, text string) known {
	same := func(s string) string { return numbers().ReplaceAllString(s, "#") }
	return known{Rule: rule, By: by, Pointer: same(pointer), Name: same(name), Text: same(text)}
}

// baseline is what was found in another version of an agent or a client, and does not
// count again. A nil baseline has nothing.
type baseline struct {
	file string

	mu  sync.Mutex
	all map[known]bool // and whether it was found again
}

// maxBaseline bounds the entries of a baseline.
const maxBaseline = 100_000

// readBaseline reads what hermes lint baseline wrote.
func readBaseline(name string) (*baseline, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b := &baseline{file: name, all: map[known]bool{}}
	in := bufio.NewScanner(file)
	for n := 1; in.Scan(); n++ {
		var k known
		if err := json.Unmarshal(in.Bytes(), &k); err != nil || k == (known{}) || len(b.all) == maxBaseline {
			return nil, fmt.Errorf("%s:%d: not a line of a baseline, which hermes lint baseline writes", name, n)
		}
		b.all[k] = false
	}
	return b, in.Err()
}

// has reports whether something is known, and notes that it was found again.
func (b *baseline) has(k known) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		if _, ok := b.all[k]; ok {
			b.all[k] = true
			return true
		}
		if k.Name == "" {
			return false
		}
		k.Name = ""
	}
}

// hasStep reports whether a step is known to fail.
func (b *baseline) hasStep(step string) bool { return b.has(known{Step: step}) }

// apply lets a linter accept what is known.
func (b *baseline) apply(o *lint.Options) {
	if b == nil {
		return
	}
	before := o.Accept
	o.Accept = func(f *lint.Finding) bool {
		accepted := before != nil && before(f)
		return b.has(knownFinding(f.Rule.ID, f.By.String(), f.Pointer, f.Name, f.Text)) || accepted
	}
}

// gone is how many entries were not found again.
func (b *baseline) gone() (n int) {
	if b == nil {
		return 0
	}
	for _, again := range b.all {
		if !again {
			n++
		}
	}
	return n
}

const lintBaselineSynopsis = `REPORT.jsonl...

Writes what reports have found, so that the next ones show only what is new. The
reports are those of hermes lint and its subcommands in the format json.
`

// lintBaseline writes the findings of reports as a baseline.
func lintBaseline(_ context.Context, args []string, std *stdio) error {
	f := newFlags("lint baseline", lintBaselineSynopsis, std.out)
	output := f.String("output", "", "write the baseline to `FILE` instead of standard output")
	f.StringVar(output, "o", "", "short for --output")
	files, err := f.parse(args)
	switch {
	case err != nil:
		return err
	case len(files) == 0:
		return usageError("no report: hermes lint --format json writes one")
	}
	all := map[known]bool{}
	for _, name := range files {
		if err := addReport(all, name); err != nil {
			return &exit{statusUsage, err}
		}
	}
	list := make([]known, 0, len(all))
	for k := range all {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b known) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.By, b.By), cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Text, b.Text))
	})
	write := func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		for _, k := range list {
			if err := e.Encode(k); err != nil {
				return err
			}
		}
		return nil
	}
	if *output == "" {
		return write(std.out)
	}
	return writeReport(*output, write)
}

// addReport adds the findings and failed steps of a report.
func addReport(all map[known]bool, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	d := json.NewDecoder(file)
	for judged := false; ; {
		var l struct {
			Finding *struct{ Rule, By, Pointer, Name, Text string }
			Step    *struct{ ID, Status string }
			Result  *struct{ Status int }
		}
		switch err := d.Decode(&l); {
		case err == io.EOF && judged:
			return nil
		case err == io.EOF:
			return fmt.Errorf("%s: not a report of hermes lint in the format json, or not a whole one", name)
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case l.Finding != nil:
			all[knownFinding(l.Finding.Rule, l.Finding.By, l.Finding.Pointer, l.Finding.Name, l.Finding.Text)] = true
		case l.Step != nil && l.Step.Status == "FAIL":
			all[known{Step: l.Step.ID}] = true
		case l.Result != nil:
			judged = true
		}
		if len(all) > maxBaseline {
			return fmt.Errorf("%s: more than %d findings", name, maxBaseline)
		}
	}
}
