package jx

import (
	"strings"
	"testing"
)

func TestBracketsInStringsAreNotLevels(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`[[[]]]`:                             true,
		`[[],[],[],[],{},{}]`:                false,
		`["[[[[[","{{{{{","\"[[[","\\",[1]]`: false,
		`["\\\"",[["[[[[["]]]`:               true,
		`["\\",[[]],"[["]`:                   true,
		`["[[[[[[[[[[[`:                      false, // not JSON
		`[]]]]]]]]]]]]`:                      false,
	} {
		if got := Deeper([]byte(text), 2); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func BenchmarkDeeper(b *testing.B) {
	code := strings.Repeat("func (c *Conn) f(x []int) {\n\tfmt.Println(\"a[0]\", x[0])\n}\n", 4000)
	for _, m := range []struct{ name, text string }{
		{"chunk", `{"sessionId":"s","update":{"content":{"type":"text","text":"Let me look at the configuration first."}}}`},
		{"code", `{"params":{"content":` + string(AppendString(nil, code)) + `}}`},
	} {
		b.Run(m.name, func(b *testing.B) {
			b.SetBytes(int64(len(m.text)))
			text := []byte(m.text)
			for b.Loop() {
				if Deeper(text, 100) {
					b.Fatal("too deep")
				}
			}
		})
	}
}
