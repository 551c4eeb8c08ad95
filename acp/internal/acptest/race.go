//go:build race

package acptest

// raceEnabled makes the long tests short, as the race detector is slow.
const raceEnabled = true
