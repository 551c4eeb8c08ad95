//go:build unix && !race

package hostile

// peakLimit is three times the largest message, in bytes.
const peakLimit = 3 * 160 * mib
