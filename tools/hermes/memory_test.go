package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"strconv"
	"strings"
	"testing"
)

// The numbers of messages that the agents of the memory tests send.
const (
	largeChunks = 160 // of 1 MiB
	shortChunks = 300_000
)

// peakFile names the file in which they leave the memory use of their parent.
const peakFile = "HERMES_TEST_PEAK"

func init() {
	flood := func(send func(*agentWire)) func(*agentWire) {
		return func(w *agentWire) {
			w.serve(during(func() {
				send(w)
				w.ask("session/request_permission", fmt.Sprintf(permissionFor, "mine")) // answered after all of it
				status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", os.Getppid()))
				os.WriteFile(os.Getenv(peakFile), status, 0o600)
			}))
		}
	}
	// Lines are put together here, without the helpers of agentWire: under the
	// race detector they would take most of the time.
	const begin, text = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"`, `{"type":"text","text":"`
	lines := func(n int, before, after string) func(*agentWire) {
		return flood(func(w *agentWire) {
			var number []byte
			for i := range n {
				w.out.WriteString(before)
				number = strconv.AppendInt(number[:0], int64(i), 10)
				w.out.Write(number)
				w.out.WriteString(after)
			}
		})
	}
	testAgents["sends large chunks"] = func(w *agentWire) {
		lines(largeChunks, begin+`mine","update":{"sessionUpdate":"agent_message_chunk","content":`+text, strings.Repeat("x", 1<<20)+"\"}}}}\n")(w)
	}
	testAgents["sends many chunks"] = lines(shortChunks, begin+`mine","update":{"sessionUpdate":"agent_message_chunk","messageId":"m`, `","content":`+text+"x\"}}}}\n")
	testAgents["sends many tool calls"] = lines(shortChunks/20, begin+`mine","update":{"sessionUpdate":"tool_call","toolCallId":"c`, `","title":"`+strings.Repeat("t", 10_000)+"\"}}}\n")
	testAgents["sends foreign chunks"] = lines(shortChunks/20, begin, strings.Repeat("s", 1000)+`","update":{"sessionUpdate":"agent_message_chunk","content":`+text+strings.Repeat("x", 5_000)+"\"}}}}\n")
}

// The peak is that of the program as it is built for users: the race detector
// needs several times as much.
func TestPeakMemoryOfARunDoesNotGrowWithItsTurn(t *testing.T) {
	t.Parallel()
	if goruntime.GOOS != "linux" {
		t.Skip("the peak of another process is read from /proc")
	}
	program := filepath.Join(t.TempDir(), "hermes")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const limit = 200 << 20
	for _, c := range []struct {
		agent, format string
		bytes         int // of standard output, at least
		status        int
	}{
		{"sends large chunks", "text", largeChunks << 20, 0},
		{"sends large chunks", "quiet", maxQuiet, statusIncomplete},
		{"sends large chunks", "json", largeChunks << 20, 0},
		{"sends many chunks", "text", shortChunks, 0},
		{"sends many chunks", "quiet", 1, 0},
		{"sends many chunks", "json", shortChunks * 100, 0},
		{"sends many tool calls", "text", 0, 0},
		{"sends foreign chunks", "text", 0, statusIncomplete},
	} {
		peaks := filepath.Join(t.TempDir(), "peak")
		cmd := hermes(t, t.TempDir(), agentArgs(t, c.agent, "--env", peakFile+"="+peaks, "--approve", "all", "--format", c.format)...)
		cmd.Path = program
		var errs strings.Builder
		var out byteCounter
		cmd.Stdout, cmd.Stderr = &out, &errs
		cmd.Run()
		peak := 0 // KiB
		if m := peakLine.FindStringSubmatch(readFile(t, peaks)); m != nil {
			peak, _ = strconv.Atoi(m[1])
		}
		t.Logf("%s, %s: %d MiB at the peak, %d MiB printed", c.agent, c.format, peak>>10, out>>20)
		if peak == 0 || peak<<10 > limit {
			t.Errorf("%s, %s: %d MiB at the peak, the limit is %d", c.agent, c.format, peak>>10, limit>>20)
		}
		if status := cmd.ProcessState.ExitCode(); status != c.status || int(out) < c.bytes {
			t.Errorf("%s, %s: status %d, %d bytes printed, want %d and %d\n%.400s", c.agent, c.format, status, out, c.status, c.bytes, errs.String())
		}
	}
}

var peakLine = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)

// byteCounter counts what is written to it.
type byteCounter int

func (c *byteCounter) Write(b []byte) (int, error) {
	*c += byteCounter(len(b))
	return len(b), nil
}
