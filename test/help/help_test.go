// Package help checks the help files as Neovim reads them.
package help

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/test/editors"
)

var (
	tag  = regexp.MustCompile(`(?:^|\s)\*([^*\s|]+)\*`)
	link = regexp.MustCompile(`\|(hermes[^|\s]*)\|`)
)

func TestLinksLeadSomewhereAndLinesFit(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../doc/*.txt")
	if err != nil || len(files) < 2 {
		t.Fatalf("help files: %v %v", files, err)
	}
	tags, links := map[string]string{}, map[string]string{}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			if utf8.RuneCountInString(s.Text()) > 78 {
				t.Errorf("%s: longer than 78 columns: %s", file, s.Text())
			}
			for _, m := range tag.FindAllStringSubmatch(s.Text(), -1) {
				if other := tags[m[1]]; other != "" {
					t.Errorf("%s: tag %s is also in %s", file, m[1], other)
				}
				tags[m[1]] = file
			}
			for _, m := range link.FindAllStringSubmatch(s.Text(), -1) {
				links[m[1]] = file
			}
		}
	}
	for name, file := range links {
		if tags[name] == "" {
			t.Errorf("%s: |%s| leads nowhere", file, name)
		}
	}
}

var (
	entry   = regexp.MustCompile(`(?m)^ +(\d+\. .+?) \.+ \|(hermes-[\w-]+)\|$`)
	chapter = regexp.MustCompile(`(?m)^={78}\n(\d+\. .+?) +\*(hermes-[\w-]+)\*$`)
)

func TestTheTableOfContentsListsTheChapters(t *testing.T) {
	t.Parallel()
	help := read(t, "../../doc/hermes.txt")
	list := func(pattern *regexp.Regexp) (titles []string) {
		for _, m := range pattern.FindAllStringSubmatch(help, -1) {
			titles = append(titles, m[1]+" |"+m[2]+"|")
		}
		return titles
	}
	contents, chapters := list(entry), list(chapter)
	if strings.Count(help, "\n"+strings.Repeat("=", 78)+"\n") != len(chapters) {
		t.Errorf("not every chapter has a number, a title and a tag: %q", chapters)
	}
	if !slices.Equal(contents, chapters) {
		t.Errorf("the table of contents has\n%s\nthe chapters are\n%s", strings.Join(contents, "\n"), strings.Join(chapters, "\n"))
	}
	for i, title := range chapters {
		if !strings.HasPrefix(title, strconv.Itoa(i+1)+". ") {
			t.Errorf("chapter %d is %q", i+1, title)
		}
	}
}

func TestTheReadmeNamesEventsThatExistAndLinksToTheRest(t *testing.T) {
	t.Parallel()
	readme, help, page := read(t, "../../README.md"), read(t, "../../doc/hermes-events.txt"), read(t, "../../docs/events.md")
	events := map[string]bool{}
	for _, m := range regexp.MustCompile(`\*hermes-event-(\w+)\*`).FindAllStringSubmatch(help, -1) {
		events[m[1]] = true
		if !strings.Contains(page, "\n| `"+m[1]+"`") {
			t.Errorf("docs/events.md does not list the event %s", m[1])
		}
	}
	if len(events) < 70 {
		t.Fatalf("the help has only %d events", len(events))
	}
	_, section, _ := strings.Cut(readme, "\n## Events\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if !strings.Contains(section, "](docs/events.md)") {
		t.Error("the events of README.md do not link to docs/events.md")
	}
	named := regexp.MustCompile("`([A-Z]\\w+)`").FindAllStringSubmatch(section, -1)
	if len(named) < 10 {
		t.Errorf("README.md names only %d events", len(named))
	}
	for _, m := range named {
		if !events[m[1]] && m[1] != "User" {
			t.Errorf("there is no event %s, which README.md names", m[1])
		}
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

func TestNeovimMakesTheTags(t *testing.T) {
	t.Parallel()
	for _, program := range editors.All(t) {
		dir := t.TempDir()
		if err := os.CopyFS(filepath.Join(dir, "doc"), os.DirFS("../../doc")); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program.Path, "--clean", "--headless", "--cmd", "helptags doc", "-c", "qa!")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir, "NVIM_LOG_FILE="+filepath.Join(dir, "log"))
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("Neovim %s: %v %s", program.Version, err, out)
		}
	}
}
