package terminal

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain looks once, after all tests, for what they left behind: goroutines,
// open files and children.
func TestMain(m *testing.M) {
	before := openFiles()
	code := m.Run()
	if code == 0 {
		for deadline := time.Now().Add(2 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			left := leaks(before)
			if left == "" {
				break
			}
			if time.Now().After(deadline) {
				fmt.Println("left behind:", left)
				code = 1
				break
			}
		}
	}
	os.Exit(code)
}

func leaks(files int) string {
	var left []string
	stacks := make([]byte, 1<<20)
	for g := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if strings.Contains(g, "runtime/terminal.") && !strings.Contains(g, "terminal.TestMain") {
			left = append(left, g)
		}
	}
	if n := openFiles(); n > files {
		left = append(left, fmt.Sprintf("%d files, were %d", n, files))
	}
	if kids := children(); kids != "" {
		left = append(left, "children "+kids)
	}
	return strings.Join(left, "\n")
}

func openFiles() int {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	n := 0
	for _, fd := range fds {
		// The runtime keeps its poller and its handle on the process for good.
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && !strings.HasPrefix(to, "anon_inode:") {
			n++
		}
	}
	return n
}

func children() string {
	var all strings.Builder
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		kids, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		all.Write(kids)
	}
	return all.String()
}
