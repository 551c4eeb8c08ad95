package main

import (
	"path/filepath"
	"strings"

	"github.com/hermes-nvim/hermes/gen/compat"
	"github.com/hermes-nvim/hermes/gen/ir"
	"github.com/hermes-nvim/hermes/schema"
)

// reportPath is where the report of a change goes, below the root.
func reportPath(from, to string) string {
	return filepath.Join("docs", "spec-changes", from+"-to-"+to+".md")
}

// report compares two releases.
func report(prev, next *release, docs *schema.Docs) []byte {
	var sections []compat.Section
	for _, e := range schema.Editions {
		changes := compat.Compare(prev.specs[e], next.specs[e])
		for _, name := range next.docs[e].Defs {
			was, is := prev.prose[e][name], next.prose[e][name]
			if was != "" && was != is {
				changes = append(changes, compat.Change{Level: compat.Doc, Where: name, What: "worded differently"})
			}
		}
		compat.Sort(changes)
		sections = append(sections, compat.Section{Title: e.Title(), Changes: changes, Wordless: wordless(prev.specs[e], next.specs[e], docs.For(e))})
	}
	return compat.Markdown(prev.version, next.version, sections)
}

// wordless lists entries for the new definitions that our documentation does
// not explain.
func wordless(prev, next *ir.Spec, words schema.Words) []string {
	var entries []string
	for _, t := range next.Types {
		if t.Kind != ir.Envelope && prev.ByName[t.Name] == nil && words.Definition(t.Name) == "" {
			entries = append(entries, compat.Skeleton(t))
		}
	}
	return entries
}

// summary is the table at the top of a report.
func summary(report []byte) string {
	var lines []string
	for line := range strings.Lines(string(report)) {
		if strings.HasPrefix(line, "|") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
