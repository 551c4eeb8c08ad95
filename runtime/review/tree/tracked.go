package tree

import (
	"encoding/hex"
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

// readTracked reads the index in the folder of a repository.
func readTracked(at string, hash int) *tracked {
	names, shared := indexNames(readUpTo(filepath.Join(at, "index"), maxIndex), hash)
	if shared != "" {
		// The other half of a split index. Names that were removed from it since count
		// as tracked, too.
		more, _ := indexNames(readUpTo(filepath.Join(at, "sharedindex."+shared), maxIndex), hash)
		names = append(names, more...)
		slices.Sort(names)
	}
	if len(names) == 0 {
		return nil
	}
	return &tracked{names: names}
}

// maxIndex bounds the index of a repository, in bytes: about two million files.
const maxIndex = 256 << 20

// indexNames returns the names in an index of git whose hashes have that many bytes,
// and the name of the shared index that the rest is in. Of a damaged index, it returns
// what comes before the damage.
func indexNames(data string, hash int) (names []string, shared string) {
	const (
		header, stat, flagsSize = 12, 40, 2
		extended                = 0x4000 // more flags follow
	)
	if len(data) < header+hash || data[:4] != "DIRC" {
		return nil, ""
	}
	number := func(at, size int) int {
		n := 0
		for _, b := range []byte(data[at : at+size]) {
			n = n<<8 | int(b)
		}
		return n
	}
	version, count := number(4, 4), number(8, 4)
	if version < 2 || version > 4 {
		return nil, ""
	}
	end := len(data) - hash
	at, last := header, ""
	names = make([]string, 0, min(count, end/(stat+hash)))
	for range count {
		start := at
		if at+stat+hash+flagsSize > end {
			return names, ""
		}
		flags := number(at+stat+hash, flagsSize)
		at += stat + hash + flagsSize
		if flags&extended != 0 && version > 2 {
			at += 2
		}
		name := ""
		if version == 4 { // it continues the name before
			drop, size := offsetNumber(data[at:min(at+5, end)])
			at += size
			rest := strings.IndexByte(data[min(at, end):end], 0)
			if size == 0 || rest < 0 || drop > len(last) {
				return names, ""
			}
			name = last[:len(last)-drop] + data[at:at+rest]
			at += rest + 1
		} else {
			size := -1
			if at < end {
				size = strings.IndexByte(data[at:end], 0)
			}
			if size < 0 {
				return names, ""
			}
			name = data[at : at+size]
			at = start + (at+size-start+8)&^7
		}
		if last = name; name != "" { // a name is empty if it is in the shared index
			names = append(names, name)
		}
	}
	slices.Sort(names) // as they mostly are
	for at+8 <= end {
		size := number(at+4, 4)
		if data[at:at+4] == "link" && size >= hash && at+8+hash <= end {
			return names, hex.EncodeToString([]byte(data[at+8 : at+8+hash]))
		}
		at += 8 + size
	}
	return names, ""
}

// offsetNumber decodes a number as git writes the distances in its files. size is 0 if
// there is none.
func offsetNumber(data string) (n, size int) {
	for i, b := range []byte(data) {
		if n = n<<7 | int(b&127); b&128 == 0 {
			return n, i + 1
		}
		n++
	}
	return 0, 0
}
