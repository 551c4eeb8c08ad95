//go:build unix

package hostile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

const echoEnv = "HERMES_HOSTILE_ECHO"

// echo makes this program an agent on the runtime that answers with what it
// was asked.
func echo() {
	c := rpc.NewConn(transport.Stdio(), new(echoer), rpc.Options{Server: true})
	<-c.Done()
}

type echoer struct{ reported }

func (*echoer) HandleRequest(_ context.Context, _ string, params json.RawMessage) (acp.Appender, error) {
	return acp.Raw(append([]byte(nil), params...)), nil
}

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
			Path: strace, Args: []string{"-f", "-qq", "-e", "trace=" + call, "-e", "inject=" + call + ":error=EINTR:when=2+3", "-o", log, os.Args[0]},
			Env: []string{echoEnv + "=1", "GORACE=atexit_sleep_ms=0"},
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
