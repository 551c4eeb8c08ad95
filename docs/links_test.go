package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	link, seen := regexp.MustCompile(`\]\(([^)\s]+)\)`), 0
	for _, page := range append(pages, "../README.md", "../CONTRIBUTING.md") {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			seen++
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", page, err)
			} else if anchor != "" && !anchors(read(t, target))[anchor] {
				t.Errorf("%s: %s has no section %q", page, target, anchor)
			}
		}
	}
	if seen < 100 {
		t.Errorf("found %d links, there must be more", seen)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// anchors are the names that forges give to the headings of a page.
func anchors(page string) map[string]bool {
	names, dropped := map[string]bool{}, regexp.MustCompile(`[^\w -]`)
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		names[strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return names
}
