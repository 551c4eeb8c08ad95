//go:build race

package review

const raceEnabled = true
