package schema

import (
	"io/fs"
	"regexp"
	"strings"
)

// ProseFile holds [Prose].
const ProseFile = "prose.json"

// Prose has, for each edition and definition, a short hash of what upstream
// writes about it. The text itself is not kept; the hash shows when our words
// may need another look.
type Prose map[Edition]map[string]string

// ReadProse reads prose.json.
func ReadProse(fsys fs.FS) (Prose, error) {
	return ReadOverlay[Prose](fsys, ProseFile)
}

// Links move and lines are rewrapped without a change of meaning.
var links = regexp.MustCompile(`https?://[^\s)]*`)

// HashProse makes the hashes of an original.
func HashProse(d *Document) map[string]string {
	hashes := map[string]string{}
	for _, name := range d.Defs {
		var text strings.Builder
		writeProse(&text, d.Def(name))
		hashes[name] = Sum([]byte(text.String()))[:8]
	}
	return hashes
}

func writeProse(b *strings.Builder, n *Node) {
	text := links.ReplaceAllString(n.Get("description").Text(), "")
	b.WriteString(strings.Join(strings.Fields(text), " "))
	b.WriteByte(0)
	n.EachSubschema(func(_ string, sub *Node) { writeProse(b, sub) })
}
