package schema

import "io/fs"

// PagesFile holds [Pages].
const PagesFile = "overlay/pages.json"

// Pages names, for each edition and definition, the page of the specification
// that explains it, below agentclientprotocol.com. Only the prose of the
// specification says so, and specupdate finds them there.
type Pages map[Edition]map[string]string

// ReadPages reads overlay/pages.json.
func ReadPages(fsys fs.FS) (Pages, error) {
	return ReadOverlay[Pages](fsys, PagesFile)
}

// Check reports entries that no schema has.
func (p Pages) Check(docs map[Edition]*Document) error {
	l := NewLedger(PagesFile)
	for e, pages := range p {
		for def := range pages {
			if d := docs[e]; d == nil || d.Def(def) == nil {
				l.unused[string(e)+": "+def] = true
			}
		}
	}
	return l.Err()
}
