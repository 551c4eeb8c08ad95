package lint

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestMarksAreFoundLikeWords(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	const letters = "elIdn_-"
	for range 20_000 {
		text := make([]byte, random.IntN(12))
		for i := range text {
			text[i] = letters[random.IntN(len(letters))]
		}
		for _, m := range []mark{{"e", 'I', "d"}, {"", 'I', "d"}, {"e", 'I', ""}, {"", '_', ""}, {"d-", '-', "-"}} {
			word := []byte(m.before + string(m.rare) + m.after)
			if got, want := marked(text, m), bytes.Contains(text, word); got != want {
				t.Fatalf("%q in %q: %v", word, text, got)
			}
		}
		two := []mark{{"e", '-', ""}, {"", '-', "n"}}
		if got, want := marked(text, two...), bytes.Contains(text, []byte("e-")) || bytes.Contains(text, []byte("-n")); got != want {
			t.Fatalf("one of two in %q: %v", text, got)
		}
	}
}

// Each word that the expression may match has a mark, so looking for the marks first
// misses nothing.
func TestEachCredentialHasAMark(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"-----BEGIN RSA PRIVATE KEY-----", "ghp_x", "gho_x", "ghs_x", "github_pat_x", "glpat-x", "sk-ant-x", "sk-proj-x", "xoxb-x", "xoxp-x", "AKIAx", "AIzax", "npm_x",
	} {
		if !hasCredentialMark([]byte("before " + text)) {
			t.Errorf("no mark for %s", text)
		}
	}
	if hasCredentialMark([]byte(`{"sessionUpdate":"agent_message_chunk","toolCallId":"a-b","path":"/A/github_x/sk-x"}`)) {
		t.Error("every message has a mark")
	}
}
