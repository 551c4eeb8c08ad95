package sinks

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// requires are the modules that each module of Hermes in Lua names, wherever in it that stands.
func requires(t *testing.T) map[string][]string {
	t.Helper()
	call := regexp.MustCompile(`require,?\s*\(?\s*["'](hermes[\w.]*)["']`)
	modules := make(map[string]string) // their text by name
	for file, text := range sources(t) {
		if name, ok := strings.CutPrefix(file, "lua/"); ok {
			name = strings.ReplaceAll(strings.TrimSuffix(name, ".lua"), "/", ".")
			modules[strings.TrimSuffix(name, ".init")] = text
		}
	}
	needs := make(map[string][]string)
	for name, text := range modules {
		needs[name] = nil
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "--") {
				continue
			}
			for _, m := range call.FindAllStringSubmatch(line, -1) {
				if _, ours := modules[m[1]]; ours && m[1] != name && !slices.Contains(needs[name], m[1]) {
					needs[name] = append(needs[name], m[1])
				}
			}
		}
	}
	return needs
}

// circles returns the groups of names of which each needs each other, directly or not.
func circles(needs map[string][]string) (groups [][]string) {
	number, low := make(map[string]int), make(map[string]int)
	var stack []string
	var visit func(string)
	visit = func(name string) {
		number[name] = len(number) + 1
		low[name] = number[name]
		stack = append(stack, name)
		for _, to := range needs[name] {
			switch {
			case number[to] == 0:
				visit(to)
				low[name] = min(low[name], low[to])
			case slices.Contains(stack, to):
				low[name] = min(low[name], number[to])
			}
		}
		if low[name] == number[name] {
			at := slices.Index(stack, name)
			if group := slices.Clone(stack[at:]); len(group) > 1 {
				groups = append(groups, slices.Sorted(slices.Values(group)))
			}
			stack = stack[:at]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		if number[name] == 0 {
			visit(name)
		}
	}
	return groups
}

// maxCircle is how many modules may need each other. Those in a circle can only be read, and
// tested, together.
const maxCircle = 3

func TestNoMoreThanThreeModulesOfLuaNeedEachOther(t *testing.T) {
	t.Parallel()
	needs := requires(t)
	if len(needs) < 100 {
		t.Fatalf("only %d modules were read", len(needs))
	}
	for _, group := range circles(needs) {
		if len(group) > maxCircle {
			t.Errorf("%d modules require each other; lua/hermes/wiring.lua is for what a lower one calls of a higher one:\n%s",
				len(group), strings.Join(group, " "))
		}
	}
}

// floors are the rooms of lua/hermes, the lowest first. The files at its top are what users
// require, on the public API, and what joins the rooms.
var floors = []string{"core", "session", "doc", "ask", "program", "api", "view", "command"}

// tops are the floors of the files at the top.
var tops = map[string]string{
	"hermes.wiring": "core", "hermes.api_gen": "session", "hermes.chat": "view", "hermes.complete": "view", "hermes.terminals": "view", "hermes.traffic": "view",
	"hermes.command": "command", "hermes.health": "command", "hermes.maps": "command",
}

func floorOf(module string) int {
	room, _, inside := strings.Cut(strings.TrimPrefix(module, "hermes."), ".")
	switch {
	case tops[module] != "":
		room = tops[module]
	case room == "complete":
		room = "view"
	case room == "review": // the parts of the public module
		room = "api"
	case !inside && !slices.Contains(floors, room):
		room = "api"
	}
	return slices.Index(floors, room)
}

func TestRoomsOfLuaRequireOnlyThoseBelow(t *testing.T) {
	t.Parallel()
	joined := []string{ // what lua/hermes/init.lua and the functions of users hand on
		"hermes hermes.view.chat.options", "hermes hermes.view.review.signs", "hermes.review hermes.view.review.mini_diff",
		"hermes.program.claude hermes.api", "hermes.program.claude hermes.connect", // it opens sessions as users do
	}
	used := make(map[string]bool)
	for module, needs := range requires(t) {
		if floorOf(module) < 0 {
			t.Errorf("%s is in no room: %s", module, strings.Join(floors, ", "))
		}
		for _, need := range needs {
			if arrow := module + " " + need; slices.Contains(joined, arrow) {
				used[arrow] = true
			} else if floorOf(need) > floorOf(module) {
				t.Errorf("%s requires %s, which is above it", module, need)
			}
		}
	}
	for _, arrow := range joined {
		if !used[arrow] {
			t.Errorf("nothing is excused by %q", arrow)
		}
	}
}

func TestTheTopOfLuaHasFewFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../lua/hermes/*.lua")
	if err != nil || len(files) < 5 || len(files) > 15 {
		t.Errorf("%d files, %v: %s", len(files), err, files)
	}
}

// maxLines is how long a file may be that is written by hand. A longer one holds two ideas.
const maxLines = 500

func TestModulesOfLuaAreShort(t *testing.T) {
	t.Parallel()
	short := 0
	for file, text := range sources(t) {
		if !strings.HasPrefix(file, "lua/") || strings.HasSuffix(file, "_gen.lua") {
			continue
		}
		if lines := strings.Count(text, "\n"); lines > maxLines {
			t.Errorf("%s has %d lines, more than %d; split it by idea", file, lines, maxLines)
		} else {
			short++
		}
	}
	if short < 100 {
		t.Errorf("only %d files were read", short)
	}
}

func TestCirclesAreFound(t *testing.T) {
	t.Parallel()
	needs := map[string][]string{"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": {"d", "f"}, "f": nil}
	want := [][]string{{"d", "e"}, {"a", "b", "c"}}
	if got := circles(needs); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
}
