package history

import (
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

// A turn of many chunks with a snapshot for each batch of 64, as an editor
// would take them.
func BenchmarkChunks(b *testing.B) {
	u, err := acp.DecodeSessionUpdate([]byte(chunk("agent_message", "m", "some words of an answer ")))
	if err != nil {
		b.Fatal(err)
	}
	s := New("s", Limits{})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Apply(u)
		if i%64 == 0 {
			s.Snapshot()
		}
	}
}
