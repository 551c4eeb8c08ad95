package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/gobuild"
)

// The numbers of messages that the agents of the memory tests send.
const (
	largeChunks = 160 // of 1 MiB
	shortChunks = 300_000
)

// floods are the lines that the agents send, and how often.
var floods = map[string]string{
	"sends large chunks":    fmt.Sprint(largeChunks, " ", chunkIn("mine", "", "$x1048576")),
	"sends many chunks":     fmt.Sprint(shortChunks, " ", chunkIn("mine", `"messageId":"m$N",`, "x")),
	"sends many tool calls": fmt.Sprint(shortChunks/20, ` {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"mine","update":{"sessionUpdate":"tool_call","toolCallId":"c$N","title":"$x10000"}}}`),
	"sends foreign chunks":  fmt.Sprint(shortChunks/20, " ", chunkIn("$N$x1000", "", "$x5000")),
}

func chunkIn(session, member, text string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + session + `","update":{"sessionUpdate":"agent_message_chunk",` +
		member + `"content":{"type":"text","text":"` + text + `"}}}}`
}

// The peak is measured on the program as it is built for users: the race
// detector needs several times as much.
func TestPeakMemoryOfARunDoesNotGrowWithItsTurn(t *testing.T) {
	t.Parallel()
	if goruntime.GOOS != "linux" {
		t.Skip("the peak of another process is read from /proc")
	}
	program, err := gobuild.Program(t.TempDir(), "tools/hermes")
	if err != nil {
		t.Fatal(err)
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
		agent := turnOf("FLOOD "+floods[c.agent],
			ask("session/request_permission", fmt.Sprintf(permissionFor, "mine")), // answered after all of it
			"COPY /proc/$PPID/status "+peaks)
		cmd := hermes(t, t.TempDir(), scenarioArgs(t, agent, "--approve", "all", "--format", c.format)...)
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
