package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/gen"
	"github.com/hermes-nvim/hermes/gen/compat"
	"github.com/hermes-nvim/hermes/schema"
)

// tree is the schema folder of a working copy.
type tree struct {
	root, dir string
	sources   schema.Sources
}

func openTree(root string) (*tree, error) {
	t := &tree{root: root, dir: filepath.Join(root, "schema")}
	var err error
	t.sources, err = schema.ReadOverlay[schema.Sources](os.DirFS(t.dir), schema.SourcesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: run this at the root of the repository, or name the root with -root", err)
	}
	return t, err
}

// compare fails if the tree differs from the release.
func (t *tree) compare(r *release, out io.Writer) error {
	var stale []string
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		have, err := os.ReadFile(filepath.Join(t.dir, filepath.FromSlash(name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			stale = append(stale, "schema/"+name+": missing")
		case err != nil:
			return err
		case !bytes.Equal(have, r.files[name]):
			stale = append(stale, "schema/"+name+": differs "+firstDifference(have, r.files[name]))
		}
	}
	if len(stale) > 0 {
		return fmt.Errorf("the tree does not match %s@%s; run specupdate %s, or undo the change:\n  %s",
			packageName, r.version, r.version, strings.Join(stale, "\n  "))
	}
	fmt.Fprintf(out, "schema/ matches %s@%s: %d files\n", packageName, r.version, len(r.files))
	return nil
}

func firstDifference(have, want []byte) string {
	h, w := strings.Split(string(have), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(h), len(w)) {
		if h[i] != w[i] {
			return fmt.Sprintf("at line %d: have %q, want %q", i+1, strings.TrimSpace(h[i]), strings.TrimSpace(w[i]))
		}
	}
	return fmt.Sprintf("in length: have %d lines, want %d", len(h), len(w))
}

// update writes the release and its report, all or nothing. A release that cannot
// be generated is not written.
func (t *tree) update(r *release, out io.Writer) error {
	if r.files[schema.SourcesFile] == nil {
		return fmt.Errorf("%s: an update needs a published package: give a version or the folder of an unpacked package", r.version)
	}
	prev, err := t.release()
	if err != nil {
		return fmt.Errorf("the tree as it is: %w", err)
	}
	words, pruned, err := schema.PruneDocs(os.DirFS(t.dir), r.docs, renamed(prev, r))
	if err != nil {
		return err
	}
	next := maps.Clone(r.files)
	next[schema.DocsFile] = words
	folder := schema.With(os.DirFS(t.dir), next)
	if _, err := gen.From(t.root, folder); err != nil {
		return fmt.Errorf("%s@%s cannot be generated, so nothing was written. Edit what these lines name, then run this again (specupdate -report shows what changes):\n%w", packageName, r.version, err)
	}
	docs, err := schema.ReadDocs(folder)
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	for name, b := range next {
		files[filepath.Join("schema", filepath.FromSlash(name))] = b
	}
	if t.sources.Version != r.version {
		text := report(prev, r, docs)
		files[reportPath(prev.version, r.version)] = text
		fmt.Fprint(out, summary(text))
	}
	changed, err := replace(t.root, files)
	if err != nil {
		return err
	}
	if len(changed) == 0 {
		fmt.Fprintf(out, "schema/ already matches %s@%s\n", packageName, r.version)
		return nil
	}
	for _, what := range pruned {
		fmt.Fprintf(out, "schema/%s: %s\n", schema.DocsFile, what)
	}
	for _, name := range changed {
		fmt.Fprintln(out, "wrote", name)
	}
	fmt.Fprintln(out, "now run: go generate ./...")
	return nil
}

// renamed collects the new names of definitions of all editions.
func renamed(prev, next *release) map[string]string {
	names := map[string]string{}
	for _, e := range schema.Editions {
		maps.Copy(names, compat.Renamed(prev.specs[e], next.specs[e]))
	}
	return names
}

// report writes the report between two releases, or from one to the tree.
func (t *tree) report(r []*release, out io.Writer) error {
	if len(r) == 1 {
		tree, err := t.release()
		if err != nil {
			return err
		}
		r = append(r, tree)
	}
	docs, err := schema.ReadDocs(os.DirFS(t.dir))
	if err != nil {
		return err
	}
	text := report(r[0], r[1], docs)
	name := reportPath(r[0].version, r[1].version)
	if _, err := replace(t.root, map[string][]byte{name: text}); err != nil {
		return err
	}
	fmt.Fprintf(out, "%swrote %s\n", summary(text), name)
	return nil
}

// release is the version in the tree.
func (t *tree) release() (*release, error) {
	fsys := os.DirFS(t.dir)
	r := &release{version: t.sources.Version}
	var err error
	if r.docs, err = schema.LoadFrom(fsys); err != nil {
		return nil, err
	}
	patches, err := schema.ReadPatches(fsys)
	if err != nil {
		return nil, err
	}
	defaults, err := schema.ReadDefaults(fsys)
	if err != nil {
		return nil, err
	}
	if r.prose, err = schema.ReadProse(fsys); err != nil {
		return nil, err
	}
	return r, r.lower(patches, defaults)
}
