//go:build linux && !amd64 && !arm64

package confine

const (
	arch      = 0 // not known: there is no filter
	maxNumber = 0
)

var refusedHere []uint32
