package tool

import (
	"errors"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// simple is a tool that only has a name.
func simple(name, toolset string) *Tool {
	return &Tool{Name: name, Toolset: toolset, Schema: []byte(`{"type":"object"}`)}
}

func TestToolsetsAreMadeOfOthers(t *testing.T) {
	t.Parallel()
	tools := []*Tool{simple("a", "one"), simple("b", "two"), simple("c", "three"), simple("d", "one")}
	groups := map[string][]string{"both": {"one", "two"}, "all": {"both", "three", "one"}, "self": {"self"}, "left": {"right"}, "right": {"one", "left"}, "bad": {"one", "none"}}
	for wanted, want := range map[string]string{
		"":          "",
		"one":       "a d",
		"both":      "a b d",
		"all":       "a b c d",
		"three one": "a c d",
		"one one":   "a d",
		"four":      `there is no toolset "four"`,
		"bad":       `there is no toolset "none"`,
		"self":      "toolset self contains itself: self > self",
		"left":      "toolset left contains itself: left > right > left",
		"one right": "toolset right contains itself: right > left > right",
	} {
		set, err := NewSet(tools, groups, strings.Fields(wanted)...)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = strings.Join(set.Names(), " ")
		}
		if got != want {
			t.Errorf("%q: %s, want %s", wanted, got, want)
		}
	}
}

func TestAToolThatCannotWorkIsAbsentAndSaysWhy(t *testing.T) {
	t.Parallel()
	locked, broken, fine := simple("locked", "s"), simple("broken", "s"), simple("fine", "s")
	locked.Env = []string{"HERMES_AGENT_TEST_NO_SUCH_VARIABLE"}
	broken.Check = func() error { return errors.New("the disk is full") }
	fine.Check = func() error { return nil }
	set, err := NewSet([]*Tool{locked, broken, fine, simple("other", "t")}, nil, "s")
	if err != nil {
		t.Fatal(err)
	}
	if names := strings.Join(set.Names(), " "); names != "fine" || len(set.Specs()) != 1 {
		t.Errorf("the tools are %s", names)
	}
	for name, want := range map[string]string{
		"locked": `the tool "locked" is not available here: HERMES_AGENT_TEST_NO_SUCH_VARIABLE is not set`,
		"broken": `the tool "broken" is not available here: the disk is full`,
		"other":  `there is no tool "other"; the tools are fine`,
		"fine":   "",
	} {
		_, _, err := set.Find(model.Call{Name: name})
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestToolsThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	bad := simple("bad", "s")
	bad.Schema = []byte(`{"type":"nothing"}`)
	half := simple("half", "s")
	half.Schema = []byte(`{"type":`)
	for want, tools := range map[string][]*Tool{
		"tool bad: schema":                      {bad},
		"tool half: schema":                     {half},
		"tool same: there are two of this name": {simple("same", "s"), simple("same", "s")},
	} {
		if _, err := NewSet(tools, nil, "s"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	set, err := NewSet([]*Tool{simple("a", "s")}, nil, "s")
	if err != nil {
		t.Fatal(err)
	}
	more, err := set.With([]*Tool{simple("b", "mcp"), simple("a", "mcp"), half, simple("c", "mcp")})
	if got := strings.Join(more.Names(), " "); got != "a b c" || err == nil || !strings.Contains(err.Error(), "tool a:") || !strings.Contains(err.Error(), "tool half:") {
		t.Errorf("%s, %v", got, err)
	}
	if got := strings.Join(set.Names(), " "); got != "a" {
		t.Errorf("the first set has %s now", got)
	}
}
