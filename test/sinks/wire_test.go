package sinks

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What is said to Neovim is text by the time it gets there: only the appender of a message is known.
func TestWireKnowsNoMessageOfTheProtocol(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../plugin/wire/*.go")
	if err != nil || len(paths) < 5 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	used := regexp.MustCompile(`\bacp\.(\w+)`)
	appender := false
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range used.FindAllSubmatch(text, -1) {
			if string(m[1]) == "Appender" {
				appender = true
				continue
			}
			t.Errorf("%s: acp.%s", path, m[1])
		}
	}
	if !appender {
		t.Error("the appender was not found either")
	}
}
