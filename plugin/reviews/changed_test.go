package reviews

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// turns is a session whose turn ends.
type turns struct {
	root string
	over atomic.Bool
}

func (*turns) Agent() string     { return "agent" }
func (*turns) ID() acp.SessionID { return "s" }
func (s *turns) Root() string    { return s.root }
func (s *turns) Prompted() (turn, text string) {
	if s.over.Load() {
		return "", ""
	}
	return "t", "go"
}
func (s *turns) CallAbout(string) string {
	if s.over.Load() {
		return ""
	}
	return "c"
}

// A change belongs to the turn and the tool call in which Neovim reports it, also when the
// turn is over before the review gets to it.
func TestAChangeIsOfTheTurnInWhichItIsReported(t *testing.T) {
	t.Parallel()
	s := &turns{root: t.TempDir()}
	path := filepath.Join(s.root, "f")
	if err := os.WriteFile(path, []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := say.New(wire.NewQueue(1<<40, nil), slog.New(slog.DiscardHandler))
	t.Cleanup(e.Wait)
	r := New(Host{
		Editor: e, Context: t.Context(),
		Sessions: func() []Session { return []Session{s} }, Agents: func() []string { return []string{"agent"} },
	})
	r.Configure(&Config{Enabled: true, Dir: filepath.Join(t.TempDir(), "review")})
	t.Cleanup(r.Close)
	p := r.Open(s.root)
	if !p.IsOpen() {
		t.Fatal(p.err)
	}
	late := make(chan struct{})
	r.Post(func() { <-late })
	for _, op := range []struct {
		name string
		text any
	}{
		{"review.hold", holdOp{Path: path, Text: "old\n"}},
		{"review.changed", changedOp{Path: path, origin: origin{Agent: "agent", Session: "s"}, Source: "write", Text: new("new\n")}},
	} {
		if err := r.Operations()[op.name].Do("", string(wire.Encode(op.text))); err != nil {
			t.Fatal(err)
		}
	}
	s.over.Store(true)
	close(late)
	r.drain(t.Context())
	hunks := p.Review().Hunks(p.Name(path))
	if len(hunks) != 1 || len(hunks[0].Authors) != 1 {
		t.Fatalf("hunks %+v", hunks)
	}
	if a := hunks[0].Authors[0]; a.Session != "agent/s" || a.Turn != "t" || a.ToolCall != "c" || a.Inferred {
		t.Errorf("the author is %+v", a)
	}
}
