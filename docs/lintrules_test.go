package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/tools/hermes/policy"
)

const catalogue = "lint-rules.md"

// areas are the titles of the areas of rules.
var areas = map[string]string{
	"TR": "Transport", "RPC": "JSON-RPC", "INI": "Initialization", "AUT": "Authentication", "SES": "Sessions", "LST": "Lists of sessions",
	"DEL": "Deleted sessions", "PRM": "Prompts and turns", "CAN": "Cancelled turns", "CXR": "Cancelled requests", "PER": "Permissions",
	"TOO": "Tool calls", "FS": "Files", "TER": "Terminals of the client", "ELI": "Elicitation", "CFG": "Config options", "MOD": "Modes",
	"PLN": "Plans", "CNT": "Content", "CMD": "Commands", "EXT": "Extensions", "STA": "State of version 2", "MSG": "Messages of version 2",
	"TRM": "Terminals of the agent", "DIF": "Differences", "BAT": "Batches", "SEC": "Security", "HTP": "HTTP and WebSocket",
	"ACC": "Accepted findings",
}

// coverage is a line of testdata/lint-coverage.tsv: what covers a requirement of another
// kit. The rules for those of acp-tck are in the code of the rules.
type coverage struct {
	kit, id       string
	rules, steps  []string
	remark, where string
}

func readCoverage(t *testing.T) (list []coverage) {
	t.Helper()
	byRequirement := map[string][]string{}
	for _, r := range lint.Rules() {
		for _, id := range r.Requirements {
			byRequirement[id] = append(byRequirement[id], r.ID)
		}
	}
	for i, line := range strings.Split(strings.TrimSuffix(read(t, "testdata/lint-coverage.tsv"), "\n"), "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 5 {
			t.Fatalf("lint-coverage.tsv:%d has %d columns", i+1, len(f))
		}
		if i == 0 {
			continue
		}
		c := coverage{kit: f[0], id: f[1], rules: strings.Fields(f[2]), steps: strings.Fields(f[3]), remark: f[4], where: fmt.Sprintf("lint-coverage.tsv:%d", i+1)}
		if c.kit == "acp-tck" {
			if len(c.rules) > 0 {
				t.Errorf("%s: the rules for acp-tck are in the code", c.where)
			}
			c.rules = byRequirement[c.id]
		}
		list = append(list, c)
	}
	return list
}

// Every requirement of acp-tck and every case of acpx is covered by a rule or a step of
// hermes lint run, or there is a reason why not.
func TestEveryRequirementOfOtherKitsIsCoveredOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	var kit []string
	steps := liveSteps(t)
	for _, c := range readCoverage(t) {
		if c.kit == "acp-tck" {
			kit = append(kit, c.id)
		}
		if len(c.rules)+len(c.steps) == 0 && len(c.remark) < 20 {
			t.Errorf("%s: nothing covers %s, and there is no reason", c.where, c.id)
		}
		for _, id := range c.rules {
			if lint.Find(id) == nil {
				t.Errorf("%s: there is no rule %s", c.where, id)
			}
		}
		for _, id := range c.steps {
			if !slices.Contains(steps, id) {
				t.Errorf("%s: there is no step %s", c.where, id)
			}
		}
	}
	want := strings.Fields(read(t, "../runtime/lint/testdata/requirements"))
	slices.Sort(want)
	slices.Sort(kit)
	if !slices.Equal(kit, want) {
		t.Errorf("lint-coverage.tsv has the requirements\n%v\nwant\n%v", kit, want)
	}
}

// liveSteps are the names of the steps of hermes lint run.
func liveSteps(t *testing.T) (ids []string) {
	t.Helper()
	files, err := filepath.Glob("../tools/hermes/live/steps_*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, m := range regexp.MustCompile(`\bid: "([a-z0-9-]+)"`).FindAllStringSubmatch(read(t, file), -1) {
			ids = append(ids, m[1])
		}
	}
	if len(ids) < 40 {
		t.Fatalf("only %d steps were found", len(ids))
	}
	return ids
}

// The catalogue is what the code of the rules says.
func TestTheCatalogueOfRulesIsUpToDate(t *testing.T) {
	t.Parallel()
	page := rulesPage(t)
	if *rewrite {
		if err := os.WriteFile(catalogue, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(catalogue); err != nil || string(got) != page {
		t.Errorf("docs/%s is stale (%v): go test ./docs -run Catalogue -update", catalogue, err)
	}
	for _, r := range slices.Concat(lint.Rules(), policy.Rules()) {
		file, anchor, _ := strings.Cut(r.Catalogue(), "#")
		if !strings.HasSuffix(file, "/docs/"+catalogue) || !strings.Contains(page, "\n### "+strings.ToUpper(anchor)+"\n") {
			t.Errorf("%s is explained at %s, and there is no such heading", r.ID, r.Catalogue())
		}
	}
}

func rulesPage(t *testing.T) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- Generated from the code of the rules by go test ./docs -run Catalogue -update; do not edit. -->\n\n# The rules of `hermes lint`\n\n")
	rules := lint.Rules()
	fmt.Fprintf(&b, "%d rules about traffic, and two about [accepted findings](lint.md#configuration). `hermes lint --explain CAN02` shows a capture that fails a rule and one that passes. [lint.md](lint.md) explains what a verdict means, and what the profiles have in common.\n\n", len(rules))
	fmt.Fprintf(&b, "Versions: `1` is version 1, `2a` version 2 as drafted in August 2026, and `2b` version 2 as published with the schema of SDK 2.4.0. The strength is the word of the specification: MUST, MUST NOT, SHOULD, SHOULD NOT. SCHEMA is typed but not worded, RPC is JSON-RPC 2.0, INFER follows from the text, RFD is a proposal, and SEC and HYGIENE are ours.\n")
	area := ""
	for _, r := range slices.Concat(rules, policy.Rules()) {
		if r.Area() != area {
			area = r.Area()
			if areas[area] == "" {
				t.Errorf("the area %s has no title", area)
			}
			fmt.Fprintf(&b, "\n## %s\n", areas[area])
		}
		writeRule(&b, r)
	}
	fmt.Fprintf(&b, "\n## Other kits\n\nWhat covers the requirements of [acp-tck](https://github.com/agentclientprotocol/acp-tck), as of its commit c378cf6 for version 2 and 1997552 for version 1, and the cases of the profile acp-core-v1 0.3.0 of [acpx](https://github.com/openclaw/acpx). Steps are those of `hermes lint run`.\n\n| requirement | rules | steps | |\n|---|---|---|---|\n")
	for _, c := range readCoverage(t) {
		var links []string
		for _, id := range c.rules {
			links = append(links, fmt.Sprintf("[%s](#%s)", id, strings.ToLower(id)))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.id, strings.Join(links, " "), strings.Join(c.steps, ", "), c.remark)
	}
	return b.String()
}

func writeRule(b *strings.Builder, r *lint.Rule) {
	by := "by the " + string(r.Side)
	if r.Side == lint.BySender {
		by = "by either side"
	}
	if r.Check == nil {
		by = "in `.hermes-lint.toml`"
	}
	var profiles []string
	for _, p := range []lint.Profile{lint.Spec, lint.Recommended, lint.Strict} {
		if p.Has(r) {
			profiles = append(profiles, string(p))
		}
	}
	parts := []string{"**" + r.Severity.String() + "** " + by, "versions " + strings.ReplaceAll(r.Versions.String(), ",", ", "), string(r.Strength), strings.Join(profiles, ", ")}
	if url := r.URL(r.Versions); url != "" {
		parts = append(parts, fmt.Sprintf("[%s](%s)", r.Page, url))
	}
	if len(r.Requirements) > 0 {
		parts = append(parts, strings.Join(r.Requirements, ", "))
	}
	fmt.Fprintf(b, "\n### %s\n\n%s %s\n\n%s\n", r.ID, r.Summary, r.Why, strings.Join(parts, " · "))
}
