package jx

import (
	"strings"
	"testing"
)

func TestPrintHidesSecretsAndCutsLongText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 1000)
	text := `{"env":[{"name":"A","value":"hunter2"}],"value":"shown","headers":{"x":"hunter2"},"deep":{"env":{"value":"hunter2"}},"text":"` + long + `","list":[` + strings.Repeat(`"0123456789",`, 10000) + `1]}`
	got := Print("T", []byte(text), []Secret{{"env", "value"}}, "headers")
	switch {
	case strings.Contains(got, "hunter2"):
		t.Errorf("a secret is printed: %.300s", got)
	case !strings.Contains(got, `"value":"shown"`):
		t.Errorf("a member that is not a secret is hidden: %.300s", got)
	case !strings.Contains(got, "... (2000 bytes)"):
		t.Errorf("a long string is not cut: %.300s", got)
	case len(got) > 2*maxPrint:
		t.Errorf("%d bytes are printed", len(got))
	case !strings.HasSuffix(got, " more]}"):
		t.Errorf("ends with %q", got[len(got)-40:])
	}
	for url, want := range map[string]string{
		"https://user:hunter2@host/mcp?key=hunter2#x": "https://[redacted]@host/mcp?[redacted]",
		"wss://host?token=hunter2":                    "wss://host?[redacted]",
		"https://hunter2@host and more?":              "https://[redacted]@host and more?",
		"file:///a@b/c":                               "file:///a@b/c",
		"see https://a@b/?c":                          "see https://a@b/?c", // a text, no URL
		"a://":                                        "a://",
		"://":                                         "://",
	} {
		if got := Print("T", []byte(`{"url":"`+url+`"}`), nil); got != `T {"url":"`+want+`"}` {
			t.Errorf("%s prints as %s", url, got)
		}
	}
	many := `{` + strings.Repeat(`"k":1,`, 10000) + `"z":1}`
	if got := Print("T", []byte(many), nil); len(got) > 2*maxPrint {
		t.Errorf("%d bytes are printed of an object with many members", len(got))
	}
	if got := Print("T", []byte(`{"env":`), nil); !strings.Contains(got, "not valid JSON") {
		t.Errorf("broken text prints as %q", got)
	}
}
