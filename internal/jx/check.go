package jx

import (
	"strconv"
	"strings"
)

// Check collects violations and knows where it is.
type Check struct {
	path  []string
	found []violation
}

type violation struct{ Pointer, Rule, Message string }

// Add records a violation at the current place.
func (c *Check) Add(rule, message string) {
	var p strings.Builder
	for _, s := range c.path {
		p.WriteByte('/')
		p.WriteString(escapePointer.Replace(s))
	}
	c.found = append(c.found, violation{p.String(), rule, message})
}

// In goes to a member; Up comes back.
func (c *Check) In(member string) { c.path = append(c.path, member) }

// At goes to an element; Up comes back.
func (c *Check) At(i int) { c.path = append(c.path, strconv.Itoa(i)) }

// Up leaves the member or element entered last.
func (c *Check) Up() { c.path = c.path[:len(c.path)-1] }

// Violations returns what was found.
func Violations[V ~struct{ Pointer, Rule, Message string }](c *Check) []V {
	var out []V
	for _, v := range c.found {
		out = append(out, V(v))
	}
	return out
}
