package schema

import "io/fs"

// Patches lists, for each edition, the members with three states as
// "Definition.member": absent keeps what the peer has, null clears it, a value
// replaces it. A schema spells them like members where null means absent. Only
// the prose of the specification names them, and specupdate finds them there.
type Patches map[Edition][]string

// ReadPatches reads overlay/patches.json.
func ReadPatches(fsys fs.FS) (Patches, error) {
	return ReadOverlay[Patches](fsys, PatchesFile)
}

// Of is the set of one edition.
func (p Patches) Of(e Edition) map[string]bool {
	set := map[string]bool{}
	for _, m := range p[e] {
		set[m] = true
	}
	return set
}

// Check reports entries that no schema has.
func (p Patches) Check(docs map[Edition]*Document) error {
	l := NewLedger(PatchesFile)
	for e, list := range p {
		for _, m := range list {
			if d := docs[e]; d == nil || !d.HasMember(splitMember(m)) {
				l.unused[string(e)+": "+m] = true
			}
		}
	}
	return l.Err()
}
