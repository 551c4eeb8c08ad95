//go:build unix

package hostile

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// F8: system calls that are interrupted change nothing of what arrives.
func TestInterruptedSystemCallsChangeNothing(t *testing.T) {
	strace, err := exec.LookPath(cmp.Or(os.Getenv("HERMES_STRACE"), "strace"))
	if err != nil {
		t.Skip("needs strace: run 'make test', or set HERMES_STRACE")
	}
	if out, err := exec.Command(strace, "-f", "-o", "/dev/null", "true").CombinedOutput(); err != nil {
		t.Skipf("%s is not allowed to trace here: %v: %s", strace, err, out)
	}
	turns := 100
	if soak.Duration(t) > 0 {
		turns = 1000
	}
	for _, call := range []string{"read", "write"} {
		log := filepath.Join(t.TempDir(), "log")
		cmd := launch.Command{
			Path: strace, Args: []string{"-f", "-qq", "-e", "trace=" + call, "-e", "inject=" + call + ":error=EINTR:when=2+3", "-o", log, program},
			Env: []string{testagent.Env + "=SERVE echo"},
		}
		p, err := launch.Start(t.Context(), cmd)
		if err != nil {
			t.Fatal(err)
		}
		c := rpc.NewConn(p.Transport(), nil, rpc.Options{})
		for i := range turns {
			want := `{"text":"` + strings.Repeat("é\\n", i%300) + `"}`
			var got acp.Raw
			if err := c.Call(t.Context(), "_echo", acp.Raw(want), &got); err != nil || string(got) != want {
				t.Fatalf("%s, turn %d: %v: %s", call, i, err, got)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		seen, err := os.ReadFile(log)
		if n := bytes.Count(seen, []byte("(INJECTED)")); err != nil || n < turns/4 {
			t.Errorf("%d calls of %s were interrupted in %d turns (%v)", n, call, turns, err)
		}
	}
}
