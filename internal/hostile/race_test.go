//go:build unix && race

package hostile

// peakLimit is in bytes: the race detector holds memory back for longer.
const peakLimit = 4 * 160 * mib
