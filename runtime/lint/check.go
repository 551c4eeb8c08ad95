package lint

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// T is what Check needs of a *testing.T.
type T interface {
	Helper()
	Cleanup(func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
}

// Check returns a Middleware that lints one connection of a test, on either side of it.
// When the test ends, findings of the severities warn and error fail it, and the others
// are logged. Findings are about both sides.
//
//	agent, err := rpc.Open(ctx, t, handler, nil, rpc.Options{Middleware: []rpc.Middleware{lint.Check(t, lint.Options{})}})
func Check(t T, o Options) rpc.Middleware {
	o.Whole = true
	c := &check{linter: New(o)}
	t.Cleanup(func() {
		t.Helper()
		c.end(t)
	})
	return rpc.Middleware{Tap: c.tap}
}

// check lints a connection while it is used.
type check struct {
	mu     sync.Mutex
	linter *Linter // nil after the end
}

func (c *check) tap(side acp.Side, message []byte) {
	from := Client
	if side == acp.SideAgent {
		from = Agent
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.linter != nil {
		c.linter.Add(Record{From: from, Time: time.Now(), Bytes: message})
	}
}

func (c *check) end(t T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.linter.Report()
	c.linter = nil
	for _, v := range r.Verdicts {
		more := t.Logf
		for i := range v.Findings {
			f := &v.Findings[i]
			if f.Severity > Info {
				t.Errorf("%s", f.describeInTest())
				more = t.Errorf
			} else {
				t.Logf("%s", f.describeInTest())
			}
		}
		if n := v.Failed - len(v.Findings); n > 0 {
			more("%s: and %d more", v.Rule.ID, n)
		}
	}
}

func (f *Finding) describeInTest() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s\n\t%s", f.Severity, f.Rule.ID, f.Rule.Summary, f.By)
	if f.Message > 0 {
		fmt.Fprintf(&b, ", message %d", f.Message)
	}
	if f.Pointer != "" {
		fmt.Fprintf(&b, ", %s", quote(f.Pointer))
	}
	fmt.Fprintf(&b, ": %s", quote(f.Text))
	if f.Excerpt != "" {
		fmt.Fprintf(&b, "\n\t%s", f.Excerpt)
	}
	if url := f.Rule.URL(f.Version); url != "" {
		fmt.Fprintf(&b, "\n\t%s", url)
	}
	return b.String()
}
