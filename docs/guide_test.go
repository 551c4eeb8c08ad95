package docs

import (
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Blocks of go.md that name a file are in that file word for word, where they
// are compiled, and the others are formatted as gofmt does.
func TestTheGoGuideQuotesWhatIsCompiled(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("go.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)(?:<!-- from (\\S+) -->\n)?```go\n(.*?)```")
	quotes := 0
	for _, m := range block.FindAllStringSubmatch(string(guide), -1) {
		from, code := m[1], m[2]
		if formatted, err := format.Source([]byte(code)); err != nil || string(formatted) != code {
			t.Errorf("not formatted (%v):\n%s", err, code)
		}
		if from == "" {
			continue
		}
		source, err := os.ReadFile(filepath.Join("..", from))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.SplitAfter(code, "\n}\n") {
			if part = strings.TrimSpace(part); !strings.Contains(string(source), part) {
				t.Errorf("%s does not have:\n%s", from, part)
			}
		}
		quotes++
	}
	if quotes < 10 {
		t.Errorf("found %d quotes, there must be more", quotes)
	}
}
