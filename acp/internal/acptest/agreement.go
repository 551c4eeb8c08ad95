package acptest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp/validate"
	"github.com/hermes-nvim/hermes/internal/jx"
)

// mutantsOf is how many mutants of each definition are judged, more than 120,000 in
// all packages together. The variable HERMES_MUTANTS sets another number, for long
// runs.
const mutantsOf = 150

// agreement is the list of the intended differences.
//
//go:embed testdata/agreement.json
var agreement []byte

// A disagreement is one way in which the generated code and the validator, which
// share only the schema, judge the same text differently.
type disagreement struct {
	verdict    string
	rule       string // of the validator or of Check, or the message of the decoder
	definition string
	at         string
}

// The verdicts.
const (
	onlyDecoder   = "only the decoder refuses"
	onlyValidator = "only the validator refuses"
	elsewhere     = "both refuse, at different places"
	onlyStrict    = "what was decoded is invalid, but passes Check"
	onlyCheck     = "what was decoded is valid, but does not pass Check"
)

// meant is an entry of testdata/agreement.json: a class of intended disagreements.
// The patterns match the whole text; a missing pattern matches every text.
type meant struct {
	Verdict    string
	Rule       *pattern
	Definition *pattern
	At         *pattern
	Editions   []string // where it occurs
	Reason     string
}

func (m *meant) allows(d disagreement) bool {
	return m.Verdict == d.verdict && m.Rule.matches(d.rule) && m.Definition.matches(d.definition) && m.At.matches(d.at)
}

type pattern struct{ *regexp.Regexp }

func (p *pattern) UnmarshalText(text []byte) (err error) {
	p.Regexp, err = regexp.Compile("^(?:" + string(text) + ")$")
	return err
}

func (p *pattern) matches(s string) bool { return p == nil || p.MatchString(s) }

// testAgreement feeds mutants of random valid values to the decoder, to Check
// and to the validator.
func (k *kit) testAgreement(t *testing.T) {
	n := mutantsOf
	if raceEnabled {
		n = 6
	}
	if s := os.Getenv("HERMES_MUTANTS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatalf("HERMES_MUTANTS: %v", err)
		}
	}
	list := k.readAgreement(t)
	used := make([]int, len(list))
	j := &judge{kit: k,
		tolerant: validate.New(validate.Edition(k.Edition), validate.Tolerant),
		strict:   validate.New(validate.Edition(k.Edition), validate.Strict)}
	record := k.recorder(t)
	kinds, total, decoded, failures := map[string]int{}, 0, 0, map[string]int{}
	for _, def := range slices.Sorted(maps.Keys(k.Definitions)) {
		for v, kind := range k.mutants(def, n) {
			text := print(v)
			kinds[kind]++
			total++
			found, err := j.judge(def, text)
			if err != nil {
				t.Fatalf("%s: %v", def, err)
			}
			if j.out != nil {
				decoded++
			}
			record(mutant{k.Package.Edition, def, kind, text, j.out, j.failure})
			for _, d := range found {
				i := slices.IndexFunc(list, func(m *meant) bool { return m.allows(d) })
				if i >= 0 {
					used[i]++
					continue
				}
				class := fmt.Sprintf("%s: %s", d.verdict, d.rule)
				if failures[class]++; failures[class] <= 8 {
					t.Errorf("%s\n  %s %s\n  %.600s\n  %s", class, def, d.at, text, j.last)
				}
			}
		}
	}
	for class, n := range failures {
		t.Logf("%d times: %s", n, class)
	}
	t.Logf("%d mutants, %d decode; %v", total, decoded, kinds)
	if n < mutantsOf {
		return // too few to conclude that something never happens
	}
	for i, m := range list {
		if used[i] == 0 {
			t.Errorf("no mutant needs the entry %q (%s); delete it", m.Reason, m.Verdict)
		}
	}
	for _, m := range mutations {
		if kinds[m.name] == 0 {
			t.Errorf("no mutant has a %s", m.name)
		}
	}
	if decoded < total/5 || decoded > total*4/5 {
		t.Errorf("%d of %d mutants decode: the test has no teeth", decoded, total)
	}
}

// A mutant is a line of the files that tools/tsoracle reads.
type mutant struct {
	Edition, Definition, Kind string
	Text, Out                 []byte
	Failure                   string
}

// recorder writes mutants to a file of the folder HERMES_MUTANTS_OUT, if set.
func (k *kit) recorder(t *testing.T) func(mutant) {
	dir := os.Getenv("HERMES_MUTANTS_OUT")
	if dir == "" {
		return func(mutant) {}
	}
	f, err := os.Create(filepath.Join(dir, strings.ReplaceAll(k.Package.Edition, "/", "-")+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	lines := json.NewEncoder(f)
	return func(m mutant) {
		if err := lines.Encode(m); err != nil {
			t.Fatal(err)
		}
	}
}

// readAgreement reads the entries for this edition.
func (k *kit) readAgreement(t *testing.T) []*meant {
	var list []*meant
	d := json.NewDecoder(bytes.NewReader(agreement))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		t.Fatalf("testdata/agreement.json: %v", err)
	}
	for _, m := range list {
		if m.Reason == "" || !slices.Contains([]string{onlyDecoder, onlyValidator, elsewhere, onlyStrict, onlyCheck}, m.Verdict) {
			t.Fatalf("testdata/agreement.json: an entry has no reason, or the unknown verdict %q", m.Verdict)
		}
	}
	return slices.DeleteFunc(list, func(m *meant) bool { return !slices.Contains(m.Editions, k.Package.Edition) })
}

// judge compares decoder and validator on one text at a time.
type judge struct {
	kit              *kit
	tolerant, strict *validate.Validator
	out              []byte // nil if the decoder refused
	failure, last    string // the error of the decoder, and the verdicts of both
}

func (j *judge) judge(def string, text []byte) ([]disagreement, error) {
	found, err := j.tolerant.Value(def, text)
	if err != nil {
		return nil, err
	}
	out, v, failure := j.kit.Definitions[def](text)
	var broken []Violation
	if failure == nil {
		broken = j.kit.Check(v)
	}
	j.out, j.failure = out, ""
	if failure != nil {
		j.out, j.failure = nil, failure.Error()
	}
	j.last = fmt.Sprintf("decoder: %v\n  Check: %v\n  validator: %v", failure, broken, found)
	var differ []disagreement
	note := func(verdict, rule, at string) { differ = append(differ, disagreement{verdict, rule, def, at}) }
	if failure != nil {
		var e *jx.Error
		if !errors.As(failure, &e) {
			return nil, fmt.Errorf("an error without a place: %w", failure)
		}
		switch {
		case len(found) == 0:
			note(onlyDecoder, e.Msg, e.Pointer)
		case !e.Syntax && !slices.ContainsFunc(found, func(f validate.Finding) bool { return f.Pointer == e.Pointer }):
			note(elsewhere, e.Msg, e.Pointer)
		}
		return differ, nil
	}
	for _, f := range found {
		// Check must find what decoding accepts, at the same place.
		if !slices.ContainsFunc(broken, func(v Violation) bool { return v.Rule == f.Rule && v.Pointer == f.Pointer }) {
			note(onlyValidator, f.Rule, f.Pointer)
		}
	}
	left, err := j.strict.Value(def, out)
	if err != nil {
		return nil, err
	}
	j.last += fmt.Sprintf("\n  encoded: %.600s\n  strict: %v", out, left)
	for _, f := range left {
		if !slices.ContainsFunc(broken, func(v Violation) bool { return v.Rule == f.Rule && v.Pointer == f.Pointer }) {
			note(onlyStrict, f.Rule, f.Pointer)
		}
	}
	for _, v := range broken {
		if !slices.ContainsFunc(left, func(f validate.Finding) bool { return v.Rule == f.Rule && v.Pointer == f.Pointer }) {
			note(onlyCheck, v.Rule, v.Pointer)
		}
	}
	return differ, nil
}
