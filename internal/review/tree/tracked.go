package tree

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tracked are the names in the index of a repository: what git tracks is not
// ignored, whatever the patterns say. nil tracks nothing.
type tracked struct {
	names   []string // sorted, below the top of the repository
	skip    int      // see rules
	prepend string

	folder string // of the repository, which has the index
	hash   int    // the bytes of a hash
	index  identity
}

// has reports whether a path of the scan is tracked, or something below it is.
func (t *tracked) has(at string) bool {
	if t == nil {
		return false
	}
	name := t.prepend + at[min(t.skip, len(at)):]
	if _, ok := slices.BinarySearch(t.names, name); ok {
		return true
	}
	// Between a folder and what is in it there may be names such as "folder.c".
	i, _ := slices.BinarySearch(t.names, name+"/")
	return i < len(t.names) && strings.HasPrefix(t.names[i], name+"/")
}

// readTracked reads the index in the folder of a repository, whose hashes have that many
// bytes.
func readTracked(folder string, hash int) *tracked {
	t := &tracked{folder: folder, hash: hash}
	t.update()
	return t
}

// update reads the index if it is another one than before, and reports whether it was.
// Names that are not in it any more count as tracked, too.
func (t *tracked) update() bool {
	if t == nil {
		return false
	}
	file := filepath.Join(t.folder, "index")
	info, err := os.Stat(file)
	if err != nil || identify(info) == t.index {
		return false
	}
	t.index = identify(info)
	names, shared := indexNames(readUpTo(file, maxIndex), t.hash)
	if shared != "" {
		// The other half of a split index. Names that were removed from it since count
		// as tracked, too.
		more, _ := indexNames(readUpTo(filepath.Join(t.folder, "sharedindex."+shared), maxIndex), t.hash)
		names = append(names, more...)
	}
	t.names = append(t.names, names...)
	slices.Sort(t.names)
	t.names = slices.Compact(t.names)
	return true
}

// maxIndex bounds the index of a repository, in bytes: about two million files.
const maxIndex = 256 << 20

// indexNames returns the names in an index of git whose hashes have that many bytes,
// and the name of the shared index that the rest is in. If the index is damaged, it
// returns the names before the damage.
func indexNames(data string, hash int) (names []string, shared string) {
	const (
		header, stat, flagsSize = 12, 40, 2
		extended                = 0x4000 // more flags follow
	)
	if len(data) < header+hash || data[:4] != "DIRC" {
		return nil, ""
	}
	// take returns the next n bytes. Where there are fewer it returns none, and nothing is left.
	body := data[4 : len(data)-hash]
	take := func(n int64) (part string) {
		if n > int64(len(body)) {
			body = ""
			return ""
		}
		part, body = body[:n], body[n:]
		return part
	}
	version, count := number(take(4)), number(take(4))
	if version < 2 || version > 4 {
		return nil, ""
	}
	last := ""
	names = make([]string, 0, min(count, int64(len(body)/(stat+hash))))
	for range count {
		before := len(body)
		entry := take(int64(stat + hash + flagsSize))
		if entry == "" {
			return names, ""
		}
		if number(entry[stat+hash:])&extended != 0 && version > 2 {
			take(2)
		}
		kept := ""
		if version == 4 { // the name continues the one before
			drop, size := offsetNumber(body[:min(5, len(body))])
			if size == 0 || drop > int64(len(last)) {
				return names, ""
			}
			take(int64(size))
			kept = last[:int64(len(last))-drop]
		}
		more, _, ok := strings.Cut(body, "\x00")
		if !ok {
			return names, ""
		}
		take(int64(len(more)) + 1)
		if version < 4 { // the length of an entry is a multiple of 8
			take(int64(len(body)-before) & 7)
		}
		if last = kept + more; last != "" { // a name is empty if it is in the shared index
			names = append(names, last)
		}
	}
	slices.Sort(names) // as they mostly are
	for len(body) >= 8 {
		name, size := take(4), number(take(4))
		if content := take(size); name == "link" && len(content) >= hash {
			return names, hex.EncodeToString([]byte(content[:hash]))
		}
	}
	return names, ""
}

// number decodes a number of at most 4 bytes.
func number(bytes string) (n int64) {
	for _, b := range []byte(bytes) {
		n = n<<8 | int64(b)
	}
	return n
}

// offsetNumber decodes a number as git writes the distances in its files. size is 0 if
// there is none.
func offsetNumber(data string) (n int64, size int) {
	for i, b := range []byte(data) {
		if n = n<<7 | int64(b&127); b&128 == 0 {
			return n, i + 1
		}
		n++
	}
	return 0, 0
}
