package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
)

// A signal that is ignored, as by nohup or in the background of a script, stays
// ignored, in this program and in the one that it runs.
func TestIgnoredSignalsStayIgnored(t *testing.T) {
	t.Parallel()
	const want = 1<<(syscall.SIGHUP-1) | 1<<(syscall.SIGINT-1) // Go keeps no others
	ignored := func(status string) uint64 {
		n := regexp.MustCompile(`SigIgn:\t(\w+)`).FindStringSubmatch(status)
		if n == nil {
			return 0
		}
		mask, err := strconv.ParseUint(n[1], 16, 64)
		if err != nil {
			t.Error(err)
		}
		return mask
	}
	for _, args := range []string{"run x", "lint run", "record --out recording", "shim --state state"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(args, "shim") {
				shimHere(t)
			}
			dir := t.TempDir()
			cmd := hermes(t, dir, append(strings.Fields(args), "--", "sh", "-c", "cat /proc/self/status >new; mv new status; exec cat >/dev/null")...)
			cmd.Args = append([]string{"sh", "-c", `trap "" HUP INT; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
			cmd.Path = "/bin/sh"
			begin(t, cmd)
			var agent []byte
			patience.True(t, "the program runs", func() bool {
				agent, _ = os.ReadFile(filepath.Join(dir, "status"))
				return len(agent) > 0
			})
			own, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/status")
			if err != nil {
				t.Fatal(err)
			}
			for who, status := range map[string][]byte{"hermes": own, "its program": agent} {
				if got := ignored(string(status)); got&want != want {
					t.Errorf("%s ignores %x, want %x", who, got, want)
				}
			}
			cmd.Process.Kill()
			cmd.Wait()
		})
	}
}
