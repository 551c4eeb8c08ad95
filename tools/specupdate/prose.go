package main

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/hermes-nvim/hermes/schema"
)

// Facts that only the prose of the originals states. The rules match the wording of
// upstream. If the wording changes, the reader of the compatibility report notices
// it, because the report lists every change of the result.
var (
	// Said of a definition: all of its optional members have three states.
	patchDefinition = regexp.MustCompile(`(?i)patch semantics|omitted\s+fields\s+leave`)
	// Said of one member.
	patchMember = regexp.MustCompile(`(?i)set\s+to\s+null\s+to\s+clear|omi(tted|ssion)\s+(leaves|means\s+(no\s+change|unchanged))`)
	// Said of an enum value.
	defaultValue = regexp.MustCompile(`(?i)\(default\)|\bthis is the default\.`)
	// A link to a page of the specification, except the one about _meta.
	pageLink = regexp.MustCompile(`https://agentclientprotocol\.com/((?:protocol|rfds)/[a-z0-9/#_-]+)`)
)

// threeStates lists the members of a schema, in file order and as
// "Definition.member", where absent, null and a value have three meanings.
func threeStates(d *schema.Document) []string {
	found := []string{}
	for _, name := range d.Defs {
		def := d.Def(name)
		props := def.Get("properties")
		if props == nil {
			continue
		}
		// A request is not state that could be patched.
		whole := patchDefinition.MatchString(def.Get("description").Text()) && !def.Has("x-method")
		for _, k := range props.Keys {
			m := props.Obj[k]
			if required(def, k) || !takesNull(m) {
				continue
			}
			if whole || patchMember.MatchString(m.Get("description").Text()) {
				found = append(found, name+"."+k)
			}
		}
	}
	sort.Strings(found)
	return found
}

func required(def *schema.Node, member string) bool {
	r := def.Get("required")
	return r != nil && slices.ContainsFunc(r.Arr, func(e *schema.Node) bool { return e.Text() == member })
}

// takesNull reports whether null is a valid value of a member.
func takesNull(m *schema.Node) bool {
	if slices.Contains(m.Types(), "null") || m.Kind == 't' {
		return true
	}
	if slices.ContainsFunc(m.Branches(), takesNull) {
		return true
	}
	return m.Kind == '{' && m.Types() == nil && m.Ref() == "" && m.Branches() == nil && !m.Has("const") && !m.Has("enum")
}

// defaultValues finds the value of each enum that replaces an absent one.
func defaultValues(d *schema.Document) (map[string]string, error) {
	found := map[string]string{}
	for _, name := range d.Defs {
		for _, b := range d.Def(name).Branches() {
			c := b.Get("const")
			if c == nil || c.Text() == "" || !defaultValue.MatchString(b.Get("description").Text()) {
				continue
			}
			if found[name] != "" {
				return nil, fmt.Errorf("%s: %s: the prose calls two values the default, %q and %q: correct the rule in tools/specupdate/prose.go", d.Name, name, found[name], c.Text())
			}
			found[name] = c.Text()
		}
	}
	return found, nil
}

// pagesOf finds the page that the prose of each definition names first.
func pagesOf(d *schema.Document) map[string]string {
	found := map[string]string{}
	for _, name := range d.Defs {
		for _, link := range pageLink.FindAllStringSubmatch(d.Def(name).Get("description").Text(), -1) {
			if !strings.Contains(link[1], "/extensibility") {
				found[name] = link[1]
				break
			}
		}
	}
	return found
}
