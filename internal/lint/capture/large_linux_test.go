package capture

import (
	"bufio"
	"context"
	"encoding/json"
	flags "flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

var largeSize = flags.Int("capture-size", 8<<20, "size in bytes of the capture of TestALargeCaptureNeedsLittleMemory")

// largeLimit is the memory that linting may need, in bytes, however large the capture is.
const largeLimit = 256 << 20

// The environment of a process that reads a capture.
const (
	largeFile = "HERMES_LARGE_CAPTURE"
	largeMode = "HERMES_LARGE_MODE" // a profile, or json.Valid
)

// With -capture-size 1073741824 this is the benchmark of the linter: how fast it is beside
// json.Valid over the same bytes, and what it needs at most.
func TestALargeCaptureNeedsLittleMemory(t *testing.T) {
	if name := os.Getenv(largeFile); name != "" {
		if err := readLarge(name, os.Getenv(largeMode)); err != nil {
			t.Fatal(err)
		}
		return
	}
	for kind, write := range traffic {
		t.Run(kind, func(t *testing.T) { measureLarge(t, write) })
	}
}

func measureLarge(t *testing.T, write func(io.Writer, int) (int, error)) {
	name := filepath.Join(t.TempDir(), "large.jsonl")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	size, err := write(file, *largeSize)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"json.Valid", string(lint.Recommended), string(lint.Strict)} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestALargeCaptureNeedsLittleMemory$")
		cmd.Env = append(os.Environ(), largeFile+"="+name, largeMode+"="+mode)
		start := time.Now()
		out, err := cmd.CombinedOutput()
		took := time.Since(start)
		peak := 0
		for line := range strings.Lines(string(out)) {
			fmt.Sscanf(line, "peak %d kB", &peak)
		}
		if err != nil || peak == 0 {
			t.Fatalf("%s: %v\n%s", mode, err, out)
		}
		used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		cpu := time.Duration(used.Utime.Nano() + used.Stime.Nano())
		speed := func(d time.Duration) float64 { return float64(size) / d.Seconds() / (1 << 20) }
		t.Logf("%-11s %4d MiB: %3.0f MiB/s, %3.0f MiB for each second of a processor, %d MiB of memory", mode, size>>20, speed(took), speed(cpu), peak>>10)
		if peak<<10 > largeLimit {
			t.Errorf("%s: %d MiB of memory, more than %d", mode, peak>>10, largeLimit>>20)
		}
	}
}

// readLarge reads a capture and prints the most memory that the process had.
func readLarge(name, mode string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if mode == "json.Valid" {
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if !json.Valid(lines.Bytes()) {
				return fmt.Errorf("not JSON: %s", lines.Bytes())
			}
		}
		if err := lines.Err(); err != nil {
			return err
		}
	} else {
		r, err := NewReader(name, file)
		if err != nil {
			return err
		}
		l := lint.New(lint.Options{Profile: lint.Profile(mode)})
		if err := Each(context.Background(), r, l.Add); err != nil {
			return err
		}
		if r := l.Report(); r.Count(lint.Info) > 0 || r.Messages < 1000 {
			return fmt.Errorf("%d messages, %d findings", r.Messages, r.Count(lint.Info))
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ = strings.Cut(peak, "\n")
	_, err = fmt.Printf("peak %s\n", strings.TrimSpace(peak))
	return err
}
