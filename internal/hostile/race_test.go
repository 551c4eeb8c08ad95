//go:build unix && race

package hostile

// peakLimit is in bytes. It is higher because the race detector frees memory later.
const peakLimit = 4 * 160 * mib
