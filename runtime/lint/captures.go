package lint

import "embed"

//go:embed testdata/*/*.jsonl testdata/*/*.zst
var testdata embed.FS

// Example returns a small capture in which a rule fails, or passes. It is empty if the
// rule has none.
func Example(id string, pass bool) []byte {
	name := "fail"
	if pass {
		name = "pass"
	}
	text, err := testdata.ReadFile("testdata/" + id + "/" + name + ".jsonl")
	if err != nil { // a giant one is compressed
		text, _ = testdata.ReadFile("testdata/" + id + "/" + name + ".jsonl.zst")
	}
	return text
}
