package schema

import "io/fs"

// DefaultsFile holds [Defaults].
const DefaultsFile = "overlay/defaults.json"

// Defaults names, for each edition and enum, the value that a reader assumes if
// the value is absent or unusable. Only the prose of the specification says so,
// and specupdate finds them there.
type Defaults map[Edition]map[string]string

// ReadDefaults reads overlay/defaults.json.
func ReadDefaults(fsys fs.FS) (Defaults, error) {
	return ReadOverlay[Defaults](fsys, DefaultsFile)
}

// Check reports entries that no schema has.
func (d Defaults) Check(docs map[Edition]*Document) error {
	l := NewLedger(DefaultsFile)
	for e, enums := range d {
		for enum, value := range enums {
			if doc := docs[e]; doc == nil || !doc.HasValue(enum, value) {
				l.unused[string(e)+": "+enum+": "+value] = true
			}
		}
	}
	return l.Err()
}
