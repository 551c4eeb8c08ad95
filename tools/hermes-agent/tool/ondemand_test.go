package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// described are the names of the tools that the model sees, and the size of what it sees.
func described(t *testing.T, s *Set) (names string, size int) {
	t.Helper()
	b, err := json.Marshal(s.Specs())
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, spec := range s.Specs() {
		list = append(list, spec.Name)
	}
	return strings.Join(list, " "), len(b)
}

// large are tools whose schemas have some bytes.
func large(n, bytes int) []*Tool {
	var list []*Tool
	for i := range n {
		t := simple(fmt.Sprintf("t%03d", i), "mcp")
		t.Description = "Does a thing of the kind " + t.Name + ".\nAnd more.\n" + strings.Repeat("d", bytes)
		t.Schema = []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
		list = append(list, t)
	}
	return list
}

func TestManyToolsAreLoadedOnDemand(t *testing.T) {
	t.Parallel()
	base, err := NewSet([]*Tool{simple("a", "s"), simple("b", "s")}, nil, "s")
	if err != nil {
		t.Fatal(err)
	}
	few, err := base.With(large(10, 400))
	if names, _ := described(t, few); err != nil || names != "a b t000 t001 t002 t003 t004 t005 t006 t007 t008 t009" {
		t.Errorf("small tools: %s, %v", names, err)
	}
	set, err := base.With(large(60, 400))
	names, size := described(t, set)
	if err != nil || names != "a b load_tools" || size > mostDescribed {
		t.Fatalf("%s (%d bytes), %v", names, size, err)
	}
	list := set.Specs()[2].Description
	if !strings.Contains(list, "\nt000: Does a thing of the kind t000.\nt001: ") || strings.Contains(list, "And more") {
		t.Errorf("the list is %s", list)
	}
	if all := set.Names(); len(all) != 63 || all[2] != loadTool {
		t.Errorf("%q", all)
	}
	before, err := json.Marshal(set.Specs())
	if err != nil {
		t.Fatal(err)
	}
	load := func(names string) string {
		loader, arguments, err := set.Find(model.Call{Name: loadTool, Arguments: `{"names":` + names + `}`})
		if err != nil {
			return "error: " + err.Error()
		}
		c := &Call{Arguments: arguments}
		c.Shown = acp.NewToolCall("1", loader.Title(c))
		text, err := loader.Run(t.Context(), c)
		if err != nil {
			return "error: " + err.Error()
		}
		return text
	}
	for _, step := range []struct{ names, says, described string }{
		{`[]`, "error: name the tools to load", "a b load_tools"},
		{`["x","y"]`, `error: there is no tool "x", "y" in the list`, "a b load_tools"},
		{`["t007","t003"]`, "You can call them now.", "a b load_tools t007 t003"},
		{`["t003","x","t001"]`, `You can call the others now, but there is no tool "x" in the list.`, "a b load_tools t007 t003 t001"},
		{`["a"]`, `error: there is no tool "a" in the list`, "a b load_tools t007 t003 t001"},
	} {
		says := load(step.names)
		if got, _ := described(t, set); says != step.says || got != step.described {
			t.Errorf("%s: %s; the model sees %s", step.names, says, got)
		}
	}
	// Requests go on beginning with the same bytes.
	if after, err := json.Marshal(set.Specs()); err != nil || !strings.HasPrefix(string(after), strings.TrimSuffix(string(before), "]")) {
		t.Errorf("%v: %s", err, after)
	}
	// A model that remembers a tool need not load it.
	if _, _, err := set.Find(model.Call{Name: "t050", Arguments: `{"n":1}`}); err != nil {
		t.Error(err)
	}
	_, _, err = set.Find(model.Call{Name: "t051", Arguments: `{}`})
	if err == nil || !strings.HasSuffix(err.Error(), "missing properties: 'n'; the tool is loaded now, so look at its schema") {
		t.Error(err)
	}
	if _, _, err = set.Find(model.Call{Name: "t051", Arguments: `{}`}); err == nil || strings.Contains(err.Error(), "loaded") {
		t.Error(err)
	}
	if got, _ := described(t, set); got != "a b load_tools t007 t003 t001 t050 t051" {
		t.Error(got)
	}
	if got, _ := described(t, base); got != "a b" {
		t.Error(got)
	}
	// The list has a bound, too, as far as the names allow it.
	huge, err := base.With(large(500, 400))
	if _, size := described(t, huge); err != nil || size > mostDescribed || !strings.Contains(huge.Specs()[2].Description, "t000, t001, ") {
		t.Errorf("%d bytes, %v", size, err)
	}
}
