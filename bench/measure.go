package bench

import (
	"math"
	"runtime"
	"runtime/debug"
	"time"
)

// Result is the cost of an operation for one message.
type Result struct {
	Op
	Nanoseconds float64
	Allocs      float64
	AllocBytes  float64
}

// Measure runs the operations in turns, each for about slice, and does so again
// and again for rounds. The time of an operation is that of its fastest turn:
// whatever else the machine does can only add to it. Garbage is collected
// between the turns; otherwise the length of a turn would decide who pays.
func Measure(ops []Op, rounds int, slice time.Duration) ([]Result, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	out := make([]Result, len(ops))
	times := make([]int, len(ops))
	for i, op := range ops {
		out[i] = Result{Op: op, Nanoseconds: math.Inf(1)}
		times[i] = 1
		for {
			d, err := turn(op, times[i])
			if err != nil {
				return nil, err
			}
			if d >= slice/2 {
				times[i] = max(1, int(float64(times[i])*float64(slice)/float64(d)))
				break
			}
			times[i] *= 2
		}
		if err := out[i].allocations(); err != nil {
			return nil, err
		}
	}
	for range rounds {
		for i, op := range ops {
			d, err := turn(op, times[i])
			if err != nil {
				return nil, err
			}
			out[i].Nanoseconds = min(out[i].Nanoseconds, float64(d)/float64(times[i]*op.Messages))
		}
	}
	return out, nil
}

func turn(op Op, times int) (time.Duration, error) {
	runtime.GC()
	start := time.Now()
	for range times {
		if err := op.Run(); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

// allocations counts over many runs, since tiny objects share allocations.
func (r *Result) allocations() error {
	const times = 200
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := turn(r.Op, times)
	runtime.ReadMemStats(&after)
	n := float64(times * r.Messages)
	r.Allocs = float64(after.Mallocs-before.Mallocs) / n
	r.AllocBytes = float64(after.TotalAlloc-before.TotalAlloc) / n
	return err
}
