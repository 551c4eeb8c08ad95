// Package soak lets tests run for longer than a run of the suite has time for, and try every
// case in place of a fixed sample: with HERMES_SOAK set to a duration, for that long each (make
// soak).
package soak

import (
	"os"
	"testing"
	"time"
)

// Duration is how long a test runs; zero means once.
func Duration(t testing.TB) time.Duration {
	t.Helper()
	text := os.Getenv("HERMES_SOAK")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("HERMES_SOAK: %v", err)
	}
	return d
}

// Of returns how many cases a test tries that could try all: a sample, or all while soaking.
func Of(t testing.TB, all, sample int) int {
	t.Helper()
	if Duration(t) > 0 {
		return all
	}
	return sample
}

// Repeat runs a test once, or while soaking again and again, until it fails. It
// logs how often.
func Repeat(t *testing.T, test func(t *testing.T, round int)) {
	t.Helper()
	d := Duration(t)
	end := time.Now().Add(d)
	for round := 0; ; round++ {
		test(t, round)
		if t.Failed() || !time.Now().Before(end) {
			if d > 0 {
				t.Logf("%d rounds", round+1)
			}
			return
		}
	}
}
