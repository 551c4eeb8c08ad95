// Package lazyregexp compiles regular expressions when they are first used. Each
// program of Hermes contains many, uses few, and would compile all of them whenever
// it starts.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns an expression. The first call compiles it, and
// panics if it is none.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
