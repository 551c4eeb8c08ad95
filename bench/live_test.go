package bench

import (
	"os"
	"testing"
)

// TestAFloodTakesLittleMemory allows twice the goal of the results page, since
// other programs run beside it.
func TestAFloodTakesLittleMemory(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("this system does not tell the peak memory of a process")
	}
	peak, err := flooded("hermes")
	if err != nil {
		t.Fatal(err)
	}
	if peak > 64<<20 {
		t.Errorf("%d MiB at the peak", peak>>20)
	}
}
