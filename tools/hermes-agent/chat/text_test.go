package chat

import "testing"

func TestOnlyASymbolKeepsTheSelectorOfItsPicture(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"⚠\uFE0F x":     "⚠\uFE0F x",
		"x\uFE0F":       "x<U+FE0F>",
		"⚠\uFE0F\uFE0F": "⚠\uFE0F<U+FE0F>",
		"⚠\uFE00":       "⚠<U+FE00>",
		"a\U000E0100":   "a<U+E0100>",
	} {
		if got := Clean(text); got != want {
			t.Errorf("%+q: %+q, want %+q", text, got, want)
		}
	}
}
