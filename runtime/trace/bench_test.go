package trace

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

var samples = map[string]string{
	"chunk": `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"8265d245-96d2-48f8-8bfb-8b5018c22d1a","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a few words of text, "}}}}`,
	"file":  `{"jsonrpc":"2.0","id":7,"result":{"content":"` + strings.Repeat(`func (w *walker) replace(from, to int, text []byte) { // see above\n\tw.out = append(w.out, text...)\n}\n`, 1000) + `"}}`,
}

func BenchmarkRedact(b *testing.B) {
	for name, msg := range samples {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(msg)))
			for b.Loop() {
				if _, changed := Redact([]byte(msg)); changed {
					b.Fatal("there is no secret in it")
				}
			}
		})
	}
}

func BenchmarkWriter(b *testing.B) {
	for name, msg := range samples {
		for _, raw := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/raw=%v", name, raw), func(b *testing.B) {
				w := NewWriter(io.Discard, Options{Raw: raw})
				b.SetBytes(int64(len(msg)))
				for b.Loop() {
					w.Message(ToClient, []byte(msg))
				}
				w.Close()
			})
		}
	}
}
