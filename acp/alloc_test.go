package acp

import (
	"os"
	"testing"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The small chunk is what streams: it is decoded once for every few words.
func TestTheSmallChunkCostsFewAllocations(t *testing.T) {
	text := read(t, "chunk.json")
	n := testing.AllocsPerRun(200, func() {
		v := new(SessionNotification)
		if err := v.UnmarshalJSON(text); err != nil {
			t.Fatal(err)
		}
	})
	if n > 5 {
		t.Errorf("decoding %d bytes allocates %.0f times, want at most 5", len(text), n)
	}
}

func TestEncodingIntoABufferDoesNotAllocate(t *testing.T) {
	for _, name := range []string{"chunk.json", "tool_call.json"} {
		var v SessionNotification
		if err := v.UnmarshalJSON(read(t, name)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 0, 64<<10)
		if n := testing.AllocsPerRun(200, func() { buf = v.AppendJSON(buf[:0]) }); n > 0 {
			t.Errorf("encoding %s allocates %.0f times, want 0", name, n)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"chunk.json", "tool_call.json"} {
		text := read(b, name)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				v := new(SessionNotification)
				if err := v.UnmarshalJSON(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, name := range []string{"chunk.json", "tool_call.json"} {
		var v SessionNotification
		if err := v.UnmarshalJSON(read(b, name)); err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				buf = v.AppendJSON(buf[:0])
			}
		})
	}
}
