package docs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var rewrite = flag.Bool("update", false, "rewrite docs/conformance.md")

const conformancePage = "conformance.md"

// rule is one line of testdata/conformance.tsv.
type rule struct{ number, applies, text, proof string }

// TestConformance keeps the list of rules honest: no number is missing, every
// test it names exists, every test that names a rule is listed with it, and the
// page shows it as it is.
func TestConformance(t *testing.T) {
	rules := readRules(t)
	expected := 0
	for _, part := range []struct {
		format string
		last   int
	}{{"C%03d", 182}, {"R%02d", 15}, {"F%02d", 11}, {"T%02d", 44}, {"S%02d", 8}} {
		for n := 1; n <= part.last; n++ {
			number := fmt.Sprintf(part.format, n)
			if expected >= len(rules) || rules[expected].number != number {
				t.Fatalf("line %d: want %s", expected+2, number)
			}
			expected++
		}
	}
	if len(rules) != expected {
		t.Errorf("%d lines after the last number", len(rules)-expected)
	}
	tests := map[string]map[string][]string{}
	for _, r := range rules {
		for side := range strings.FieldsSeq(r.applies) {
			if !strings.Contains(" client agent server linter plugin proxy ", " "+side+" ") {
				t.Errorf("%s: applies to %q", r.number, side)
			}
		}
		if r.applies == "" || r.text == "" {
			t.Errorf("%s: empty column", r.number)
		}
		if reason, ok := strings.CutPrefix(r.proof, "no: "); ok {
			if len(reason) < 20 {
				t.Errorf("%s: %q does not give a reason", r.number, reason)
			}
			continue
		}
		for proof := range strings.SplitSeq(r.proof, "; ") {
			dir, name, _ := strings.Cut(proof, ":")
			if tests[dir] == nil {
				tests[dir] = testsIn(t, dir)
			}
			if _, ok := tests[dir][name]; !ok {
				t.Errorf("%s: there is no %s in %s", r.number, name, dir)
			}
		}
	}
	proofs := map[string]string{}
	for _, r := range rules {
		proofs[r.number] = "; " + r.proof + ";"
	}
	for dir, found := range tests {
		for name, numbers := range found {
			for _, number := range numbers {
				if !strings.Contains(proofs[number], "; "+dir+":"+name+";") {
					t.Errorf("%s in %s claims to prove %s, which does not name it", name, dir, number)
				}
			}
		}
	}
	page := conformance(rules)
	if *rewrite {
		if err := os.WriteFile(conformancePage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(conformancePage); err != nil || string(got) != page {
		t.Errorf("docs/conformance.md is stale (%v): go test ./docs -run Conformance -update", err)
	}
}

func readRules(t *testing.T) []rule {
	t.Helper()
	text, err := os.ReadFile("testdata/conformance.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var rules []rule
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[1:] {
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			t.Fatalf("line %d: %d columns", i+2, len(f))
		}
		rules = append(rules, rule{f[0], f[1], f[2], f[3]})
	}
	return rules
}

var testFunc = regexp.MustCompile(`(?m)^(?:// ([CRFTS]\d+(?:, [CRFTS]\d+)*) of the conformance list\.\n)?func ((?:Test|Example|Fuzz)\w*)\(`)

var luaSpec = regexp.MustCompile(`\b(?:it|in_line|in_window)\("([^"]+)"`)

// testsIn finds the tests of a folder, or of a file of Lua specs, with the rules they claim to prove.
func testsIn(t *testing.T, dir string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	if strings.HasSuffix(dir, ".lua") {
		text, err := os.ReadFile(filepath.Join("..", dir))
		if err != nil {
			t.Error(err)
		}
		for _, m := range luaSpec.FindAllSubmatch(text, -1) {
			found[strings.TrimRight(string(m[1]), ": ")] = nil // the rest of the name is computed
		}
		return found
	}
	files, err := filepath.Glob(filepath.Join("..", dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testFunc.FindAllSubmatch(text, -1) {
			found[string(m[2])] = strings.FieldsFunc(string(m[1]), func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	return found
}

// conformance is the page.
func conformance(rules []rule) string {
	var b strings.Builder
	proven := 0
	for _, r := range rules {
		if !strings.HasPrefix(r.proof, "no: ") {
			proven++
		}
	}
	fmt.Fprintf(&b, "<!-- Generated from docs/testdata/conformance.tsv by go test ./docs -run Conformance -update; do not edit. -->\n\n# Conformance\n\n")
	fmt.Fprintf(&b, "The duties of a client, an agent and a server of the protocol, with the tests that prove that Hermes fulfils them: %d of %d rules. The other rules say why they have no test. A test checks that every test named here exists.\n", proven, len(rules))
	titles := map[byte]string{'C': "The protocol and its transports", 'R': "What real agents do", 'F': "Faults", 'T': "Threats", 'S': "Security gates"}
	var part byte
	for _, r := range rules {
		if r.number[0] != part {
			part = r.number[0]
			fmt.Fprintf(&b, "\n## %s\n\n| | for | rule | test |\n|---|---|---|---|\n", titles[part])
		}
		proof, ok := strings.CutPrefix(r.proof, "no: ")
		if !ok {
			var links []string
			for p := range strings.SplitSeq(proof, "; ") {
				dir, name, _ := strings.Cut(p, ":")
				links = append(links, fmt.Sprintf("[%s](../%s)", name, dir))
			}
			proof = strings.Join(links, ", ")
		} else {
			proof = "*none:* " + proof
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.number, r.applies, r.text, proof)
	}
	return b.String()
}
