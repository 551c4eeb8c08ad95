package golang

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Names decides the Go names of types for all packages, so that a definition
// has the same name in every version, and keeps them stable: a name that was
// published once may only change by an edit of the lock. Keys are definitions
// ("ToolCall") and variants ("SessionUpdate/agent_message_chunk").
type Names struct {
	Chosen map[string]string // key -> name, where the derived name is not good
	Locked map[string]string // key -> name, as generated last time

	used map[string]string
	met  map[string]bool
	errs []string
}

// name is the Go name for a key; derived is used when nothing else is said.
func (n *Names) name(key, derived string) string {
	if n.used == nil {
		n.used, n.met = map[string]string{}, map[string]bool{}
	}
	name := derived
	if c, ok := n.Chosen[key]; ok {
		name = c
		n.met[key] = true
	}
	if name == "" {
		n.fail("%s: no Go name can be made of this; choose one in schema/overlay/quirks.json, names", key)
		name = "X"
	}
	if was, ok := n.Locked[key]; ok && was != name {
		n.fail("%s: was called %s and would become %s, which breaks callers; choose %s in schema/overlay/quirks.json, names, or edit schema/overlay/names.lock.json", key, was, name, was)
	}
	n.used[key] = name
	return name
}

func (n *Names) fail(format string, a ...any) {
	if e := fmt.Sprintf(format, a...); !slices.Contains(n.errs, e) {
		n.errs = append(n.errs, e)
	}
}

// Lock returns the names in use, for the next time.
func (n *Names) Lock() map[string]string { return n.used }

// Err reports renames, names that cannot be made, and choices nobody met. Call
// it after the last package.
func (n *Names) Err() error {
	for k := range n.Chosen {
		if !n.met[k] {
			n.fail("schema/overlay/quirks.json: names: nothing is called %s; correct or delete the entry", k)
		}
	}
	if len(n.errs) == 0 {
		return nil
	}
	sort.Strings(n.errs)
	return fmt.Errorf("names in Go:\n  %s", strings.Join(n.errs, "\n  "))
}

// claims finds names that two things of one package want.
type claims struct {
	owner map[string]string
	errs  []string
}

func (c *claims) claim(name, key string) {
	if c.owner == nil {
		c.owner = map[string]string{}
	}
	if o, ok := c.owner[name]; ok && o != key {
		c.errs = append(c.errs, fmt.Sprintf("%s and %s would both be called %s; choose a name for one of them in schema/overlay/quirks.json, names", o, key, name))
		return
	}
	c.owner[name] = key
}
