package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
)

// SourcesFile is the name of the record below.
const SourcesFile = "SOURCES.json"

// Sources says where the schemas come from.
type Sources struct {
	Package string   `json:"package"` // npm package
	Version string   `json:"version"`
	License string   `json:"license"` // SPDX identifier
	Author  string   `json:"author"`
	Schemas []Source `json:"schemas"` // one for each edition, in order of Editions

	// Prose has the sha256 of each overlay file that holds what specupdate
	// found in the prose of the originals.
	Prose map[string]string `json:"prose"`
}

// ProseFiles are the overlay files that specupdate finds in the prose. Their
// content is not in any schema, so only these sums show that something is
// missing.
var ProseFiles = []string{PatchesFile, DefaultsFile, PagesFile}

// Source is one schema.
type Source struct {
	Edition  Edition `json:"edition"`
	Path     string  `json:"path"`     // in this folder
	Origin   string  `json:"origin"`   // in the package
	Original string  `json:"original"` // sha256 of the file in the package
	Reduced  string  `json:"reduced"`  // sha256 of the file in this folder
}

// Of is the record of one edition.
func (s *Sources) Of(e Edition) (Source, error) {
	for _, f := range s.Schemas {
		if f.Edition == e {
			return f, nil
		}
	}
	return Source{}, fmt.Errorf("schema/%s: no record of edition %s: run specupdate", SourcesFile, e)
}

// Verify reports files of a schema folder that differ from the record: schemas
// that were changed, and overlay files that differ from what specupdate found
// in the prose.
func (s *Sources) Verify(fsys fs.FS) error {
	var errs []error
	sum := func(name string) string {
		b, err := fs.ReadFile(fsys, name)
		if err != nil {
			errs = append(errs, fmt.Errorf("schema/%w", err))
			return ""
		}
		return Sum(b)
	}
	for _, e := range Editions {
		f, err := s.Of(e)
		if err != nil {
			return err
		}
		if got := sum(e.File()); got != "" && got != f.Reduced {
			errs = append(errs, fmt.Errorf("schema/%s: was changed by hand (sha256 %s, %s says %s): run specupdate", f.Path, got, SourcesFile, f.Reduced))
		}
	}
	for _, name := range ProseFiles {
		if got := sum(name); got != "" && got != s.Prose[name] {
			errs = append(errs, fmt.Errorf("schema/%s: lacks or adds something to what the prose of %s %s says (sha256 %s, %s says %s): undo the edit, or run go run ./tools/specupdate %s to write it anew; what it does not find needs a rule in tools/specupdate/prose.go",
				name, s.Package, s.Version, got, SourcesFile, s.Prose[name], s.Version))
		}
	}
	return errors.Join(errs...)
}

// Sum is the sha256 of b in hexadecimal.
func Sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
