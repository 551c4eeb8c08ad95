package neovim

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/gen/emit"
	"github.com/hermes-nvim/hermes/gen/ir"
	"github.com/hermes-nvim/hermes/schema"
)

const root = "../../.."

// load reads the stable schema once; no test changes it.
var load = sync.OnceValues(func() (*ir.Spec, error) {
	d, err := schema.Load(schema.V1)
	if err != nil {
		return nil, err
	}
	patches, err := schema.ReadPatches(schema.Tree)
	if err != nil {
		return nil, err
	}
	docs, err := schema.ReadDocs(schema.Tree)
	if err != nil {
		return nil, err
	}
	return ir.Lower(d, ir.Overlay{Patches: patches.Of(schema.V1), Words: docs.For(schema.V1)})
})

// v1 is the stable schema with its words, and a copy of the rows to change.
func v1(t *testing.T) (*ir.Spec, EventRows) {
	t.Helper()
	s, err := load()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := schema.ReadOverlay[EventRows](schema.Tree, schema.EventsFile)
	if err != nil {
		t.Fatal(err)
	}
	return s, rows
}

func files(t *testing.T) map[string]string {
	t.Helper()
	s, rows := v1(t)
	return byPath(t, s, rows)
}

func byPath(t *testing.T, s *ir.Spec, rows EventRows) map[string]string {
	t.Helper()
	list, err := Files(s, rows)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for _, f := range list {
		m[f.Path] = string(f.Data)
	}
	return m
}

func TestTheTreeHoldsTheGeneratedFiles(t *testing.T) {
	t.Parallel()
	for path, want := range files(t) {
		got, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Error(err)
			continue
		}
		if string(got) != want {
			t.Errorf("%s is stale: run go generate ./...", path)
		}
	}
}

func TestTwoRunsWriteTheSameBytes(t *testing.T) {
	t.Parallel()
	s, rows := v1(t)
	first, err := Files(s, rows)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Files(s, rows)
	if err != nil {
		t.Fatal(err)
	}
	same := func(a, b emit.Output) bool { return a.Path == b.Path && string(a.Data) == string(b.Data) }
	if !slices.EqualFunc(first, second, same) {
		t.Error("the output differs from run to run")
	}
}

func TestTheFirstLineSaysThatTheFileIsGenerated(t *testing.T) {
	t.Parallel()
	for path, data := range files(t) {
		head, _, _ := strings.Cut(data, "\n")
		if !strings.Contains(head, "enerated by acpgen") || !strings.Contains(head, "DO NOT EDIT") {
			t.Errorf("%s begins with %q", path, head)
		}
	}
}

func TestEveryEventIsDocumented(t *testing.T) {
	t.Parallel()
	s, rows := v1(t)
	events, err := table(s, &rows)
	if err != nil {
		t.Fatal(err)
	}
	all := files(t)
	for _, e := range events {
		for path, want := range map[string]string{
			"doc/hermes-events.txt":               "*hermes-event-" + e.Name + "*",
			"docs/events.md":                      "| `" + e.Name + "`",
			"lua/hermes/core/event_types_gen.lua": "---@class hermes.event." + e.Name + ":",
			"lua/hermes/core/events_gen.lua":      "  " + e.Name + " = {",
			"plugin/events/events_gen.go":         `"` + e.Name + `"`,
		} {
			if !strings.Contains(all[path], want) {
				t.Errorf("%s has no %s", path, want)
			}
		}
	}
}

var (
	typeUse = regexp.MustCompile(`hermes\.[A-Za-z][A-Za-z_.]*`)
	typeDef = regexp.MustCompile(`(?m)^---@(?:class|alias) (hermes\.[A-Za-z_.]*)`)
	quoted1 = regexp.MustCompile(`"[^"]*"|#.*`)
)

func TestEveryTypeIsDefined(t *testing.T) {
	t.Parallel()
	defined := map[string]bool{}
	var handWritten []string
	for _, pattern := range []string{"*.lua", "*/*.lua", "*/*/*.lua"} {
		list, err := filepath.Glob("../../../lua/hermes/" + pattern)
		if err != nil || len(list) == 0 {
			t.Fatalf("no hand-written Lua: %v", err)
		}
		handWritten = append(handWritten, list...)
	}
	for _, path := range handWritten {
		if strings.HasSuffix(path, "_gen.lua") {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range typeDef.FindAllSubmatch(b, -1) {
			defined[string(m[1])] = true
		}
	}
	all := files(t)
	for path, data := range all {
		for _, m := range typeDef.FindAllStringSubmatch(data, -1) {
			if defined[m[1]] {
				t.Errorf("%s: %s is defined twice", path, m[1])
			}
			defined[m[1]] = true
		}
	}
	for path, data := range all {
		if !strings.HasSuffix(path, ".lua") {
			continue
		}
		for _, line := range strings.Split(data, "\n") {
			if !strings.HasPrefix(line, "---@") && !strings.HasPrefix(line, "---|") {
				continue
			}
			for _, use := range typeUse.FindAllString(quoted1.ReplaceAllString(line, ""), -1) {
				if !defined[use] {
					t.Errorf("%s: %s is not defined: %s", path, use, line)
				}
			}
		}
	}
}

func TestHelpFitsItsWidthAndItsTagsAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	tag := regexp.MustCompile(`\*(hermes[^*\s]*)\*`)
	links := regexp.MustCompile(`\|(hermes[^|\s]*)\|`)
	help := files(t)["doc/hermes-events.txt"]
	for i, line := range strings.Split(help, "\n") {
		if len(line) > helpWidth || strings.HasSuffix(line, " ") {
			t.Errorf("line %d: %q", i+1, line)
		}
		for _, m := range tag.FindAllStringSubmatch(line, -1) {
			if seen[m[1]] {
				t.Errorf("line %d: tag %s occurs twice", i+1, m[1])
			}
			seen[m[1]] = true
		}
	}
	for _, m := range links.FindAllStringSubmatch(help, -1) {
		if !seen[m[1]] {
			t.Errorf("the link %s leads nowhere", m[1])
		}
	}
	s, _ := v1(t)
	for _, m := range s.Methods {
		if m.Handler != "protocol" && !seen["hermes-method-"+m.Wire] {
			t.Errorf("%s has no tag", m.Wire)
		}
	}
}
