package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const changelogTitle = "# Changelog\n\nWhat changed for users, by release. Commits that change only tests and tools are left out.\n"

// part is a list of commits in a section: those that change its folders and
// none of the part before.
type part struct {
	title   string
	folders []string
}

var parts = []part{
	{"Neovim", []string{"lua/", "plugin/", "doc/", "examples/chat"}},
	{"The program `hermes`", []string{"tools/hermes/"}},
	{"The agent `hermes-agent`", []string{"tools/hermes-agent/"}},
	{"The Go library", []string{"acp/", "runtime/"}},
}

// addSection begins the section of the version at the top of the changelog, with
// the commits since the last tag. A section that is there stays as it is.
func (r release) addSection(ctx context.Context) error {
	path := filepath.Join(r.root, changelogFile)
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if _, found := section(string(old), r.version); found {
		return nil
	}
	text, err := r.newSection(ctx)
	if err != nil {
		return err
	}
	rest := strings.TrimPrefix(string(old), changelogTitle)
	return os.WriteFile(path, []byte(changelogTitle+"\n"+text+rest), 0o644)
}

func (r release) newSection(ctx context.Context) (string, error) {
	date, err := r.git(ctx, "log", "-1", "--format=%cs")
	if err != nil {
		return "", err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "## %s (%s)\n", r.version, strings.TrimSpace(date))
	tags, err := r.git(ctx, "tag", "--merged", "HEAD", "--sort=-creatordate", "--list", "v*")
	if err != nil {
		return "", err
	}
	last, _, _ := strings.Cut(tags, "\n")
	if last == "" {
		text.WriteString("\nThe first release.\n")
		return text.String(), nil
	}
	log, err := r.git(ctx, "log", "--no-merges", "--format=%x00%s", "--name-only", "-z", last+"..HEAD")
	if err != nil {
		return "", err
	}
	subjects := make([][]string, len(parts))
	for _, commit := range strings.Split(log, "\x00\x00") {
		fields := strings.FieldsFunc(commit, func(c rune) bool { return c == 0 || c == '\n' })
		if len(fields) == 0 {
			continue
		}
		if i := partOf(fields[1:]); i >= 0 {
			subjects[i] = append(subjects[i], fields[0])
		}
	}
	for i, part := range parts {
		if len(subjects[i]) > 0 {
			fmt.Fprintf(&text, "\n### %s\n\n- %s\n", part.title, strings.Join(subjects[i], "\n- "))
		}
	}
	return text.String(), nil
}

// partOf is the index of the part that a commit belongs to, or -1.
func partOf(files []string) int {
	return slices.IndexFunc(parts, func(p part) bool {
		return slices.ContainsFunc(files, func(file string) bool {
			return !strings.HasSuffix(file, "_test.go") && !strings.Contains(file, "/testdata/") &&
				slices.ContainsFunc(p.folders, func(folder string) bool { return strings.HasPrefix(file, folder) })
		})
	})
}

func (r release) printNotes() error {
	text, err := os.ReadFile(filepath.Join(r.root, changelogFile))
	if err != nil {
		return err
	}
	notes, ok := section(string(text), r.version)
	if !ok {
		return fmt.Errorf("%s has no section %s", changelogFile, r.version)
	}
	_, err = io.WriteString(r.out, notes)
	return err
}

// section returns what is below the heading of a version.
func section(changelog, version string) (string, bool) {
	_, rest, ok := strings.Cut("\n"+changelog, "\n## "+version+" ")
	if !ok {
		return "", false
	}
	_, rest, _ = strings.Cut(rest, "\n")
	text, _, _ := strings.Cut(rest, "\n## ")
	return strings.TrimSpace(text) + "\n", true
}
