// Package help checks the help files as Neovim reads them.
package help

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
					t.Errorf("%s: tag %s stands in %s, too", file, m[1], other)
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

func TestTheReadmeListsEveryEvent(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	help, err := os.ReadFile("../../doc/hermes-events.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`\*hermes-event-(\w+)\*`).FindAllSubmatch(help, -1)
	if len(names) < 70 {
		t.Fatalf("the help has only %d events", len(names))
	}
	for _, m := range names {
		if !bytes.Contains(readme, []byte("`"+string(m[1])+"`")) {
			t.Errorf("README.md does not list the event %s", m[1])
		}
	}
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
