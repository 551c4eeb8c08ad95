package jx

import (
	"bytes"
	"hash/maphash"
)

// names are the names of the members of one object. The first few are compared one
// by one. For more there is a table of 8 bytes per slot, so that an object with
// millions of members costs little more than its text.
type names struct {
	few   [8][]byte
	at    [8]int
	n     int
	table []uint64 // see put; nil while there are few names
	seed  maphash.Seed
}

// add adds a name, which is quoted in text at a place that does not change. It
// reports whether the name was already present.
func (l *names) add(name, text []byte, at int) bool {
	if l.table == nil {
		for _, o := range l.few[:l.n] {
			if bytes.Equal(o, name) {
				return true
			}
		}
		if l.n < len(l.few) {
			l.few[l.n], l.at[l.n] = name, at
			l.n++
			return false
		}
		l.seed = maphash.MakeSeed()
		l.table = make([]uint64, 4*len(l.few))
		for i, o := range l.few {
			l.put(o, text, l.at[i])
		}
	}
	if l.put(name, text, at) {
		return true
	}
	if l.n++; l.n > len(l.table)/4*3 {
		old := l.table
		l.table = make([]uint64, 2*len(old))
		for _, slot := range old {
			if slot != 0 {
				at := placeOf(slot)
				l.put(nameAt(text, at), text, at)
			}
		}
	}
	return false
}

// A slot of the table holds the upper bits of a name's hash, so that names are
// rarely compared, and the place of the name plus one. Zero is an empty slot.
const placeBits = 48

func placeOf(slot uint64) int { return int(slot<<(64-placeBits)>>(64-placeBits)) - 1 }

// put adds a name to the table and reports whether it was already present.
func (l *names) put(name, text []byte, at int) bool {
	hash := maphash.Bytes(l.seed, name)
	last := uint64(len(l.table) - 1)
	for i := hash & last; ; i = (i + 1) & last {
		switch slot := l.table[i]; {
		case slot == 0:
			l.table[i] = hash>>placeBits<<placeBits | uint64(at+1)
			return false
		case slot>>placeBits == hash>>placeBits && bytes.Equal(nameAt(text, placeOf(slot)), name):
			return true
		}
	}
}

// nameAt returns the name in text at a place, with its colon.
func nameAt(text []byte, at int) []byte {
	d := Dec{b: text, p: at}
	return d.Key()
}
