// Package leak fails a test binary that leaves goroutines, file descriptors or
// child processes behind.
package leak

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// rounds is how often is looked for things that end on their own: for three seconds, and for
// longer when the machine is busy.
const rounds = 600

// Main runs the tests and then checks that they left nothing. It is meant to be
// all of a TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }
func Main(m *testing.M) int {
	files := descriptors()
	code := m.Run()
	if code != 0 {
		return code
	}
	if left := settle(files); left != "" {
		fmt.Fprintln(os.Stderr, "leak: "+left)
		return 1
	}
	return 0
}

// Check fails t when it ends with more goroutines, descriptors or children than
// it began with. Tests that use it must not run in parallel with others.
func Check(t *testing.T) {
	t.Helper()
	files := descriptors()
	if left := settle(files); left != "" {
		t.Log("not checked for leaks: an earlier test left something")
		return
	}
	t.Cleanup(func() {
		if left := settle(files); left != "" {
			t.Error("leak: " + left)
		}
	})
}

// settle waits until nothing is left. It says what is left if the time runs out.
func settle(files int) string {
	var left string
	stacks := make([]byte, 4<<20)
	for round := 1; ; round++ {
		time.Sleep(time.Duration(min(round-1, 5)) * time.Millisecond)
		left = goroutines(stacks)
		if n := descriptors(); left == "" && n > files {
			left = fmt.Sprintf("%d file descriptors, %d before: %s", n, files, names())
		}
		if c := children(); left == "" && len(c) > 0 {
			left = "child processes: " + strings.Join(c, ", ")
		}
		if left == "" || round == rounds {
			return left
		}
	}
}

// goroutines returns the stacks of those that run code of this module.
func goroutines(buf []byte) string {
	var left []string
	for i, stack := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if i == 0 || strings.Contains(stack, "testing.") || !strings.Contains(stack, "hermes-nvim/hermes/") {
			continue
		}
		left = append(left, stack)
	}
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf("%d goroutines:\n%s", len(left), strings.Join(left[:min(len(left), 10)], "\n\n"))
}

const ownFiles = "/proc/self/fd"

// descriptors counts the open files that are not the runtime's own; 0 where the
// system does not say.
func descriptors() int { return len(open()) }

func open() []string {
	entries, err := os.ReadDir(ownFiles)
	if err != nil {
		return nil
	}
	var links []string
	for _, e := range entries {
		link, err := os.Readlink(ownFiles + "/" + e.Name())
		if err != nil || strings.Contains(link, "eventpoll") || strings.Contains(link, "eventfd") {
			continue
		}
		links = append(links, e.Name()+" "+link)
	}
	return links
}

func names() string { return strings.Join(open(), ", ") }

// children lists the processes whose parent is this one, zombies too.
func children() []string {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	me := strconv.Itoa(os.Getpid())
	var found []string
	for _, e := range entries {
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		_, rest, ok := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); ok && len(f) > 1 && f[1] == me {
			found = append(found, string(stat[:min(len(stat), 60)]))
		}
	}
	return found
}
