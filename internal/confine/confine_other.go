//go:build !linux

package confine

import "runtime"

func missing(Rules) []string {
	return []string{"there is no way to confine a program on " + runtime.GOOS}
}

func bind(Rules) error { return nil }
