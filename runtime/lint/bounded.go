package lint

import "iter"

// Bounded is a map that holds a limited number of entries and drops the oldest
// ones. Rules that have to remember something per session, request or id use it, so
// that no capture makes them grow without end.
type Bounded[K comparable, V any] struct {
	limit       int
	entries     map[K]*entry[K, V]
	first, last *entry[K, V] // in the order of insertion
	lost        int
}

type entry[K comparable, V any] struct {
	key        K
	value      V
	prev, next *entry[K, V]
}

// NewBounded returns a map of at most limit entries.
func NewBounded[K comparable, V any](limit int) *Bounded[K, V] {
	return &Bounded[K, V]{limit: limit} // most stay empty, so the map is made by the first Put
}

// Get returns the value of a key, and whether there is one.
func (b *Bounded[K, V]) Get(key K) (v V, ok bool) {
	if e := b.entries[key]; e != nil {
		return e.value, true
	}
	return v, false
}

// Put sets the value of a key. A new key may drop the oldest one.
func (b *Bounded[K, V]) Put(key K, v V) {
	if e := b.entries[key]; e != nil {
		e.value = v
		return
	}
	if len(b.entries) >= b.limit {
		b.Delete(b.first.key)
		b.lost++
	}
	e := &entry[K, V]{key: key, value: v, prev: b.last}
	if b.last != nil {
		b.last.next = e
	} else {
		b.first = e
	}
	b.last = e
	if b.entries == nil {
		b.entries = map[K]*entry[K, V]{}
	}
	b.entries[key] = e
}

// Delete removes a key.
func (b *Bounded[K, V]) Delete(key K) {
	e := b.entries[key]
	if e == nil {
		return
	}
	delete(b.entries, key)
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		b.first = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else {
		b.last = e.prev
	}
}

// Len returns how many entries there are.
func (b *Bounded[K, V]) Len() int { return len(b.entries) }

// Lost reports whether entries were dropped. Then a key that is not found may have
// been there.
func (b *Bounded[K, V]) Lost() bool { return b.lost > 0 }

// All ranges over the entries, oldest first. The loop may delete the entry it is at.
func (b *Bounded[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for e := b.first; e != nil; {
			next := e.next
			if !yield(e.key, e.value) {
				return
			}
			e = next
		}
	}
}

// evictLook is how many of the oldest entries Evict looks at.
const evictLook = 64

// Evict makes room for one more entry if there is none, preferably by dropping one of
// the oldest entries that is over.
func (b *Bounded[K, V]) Evict(over func(V) bool) {
	if len(b.entries) < b.limit {
		return
	}
	drop, looked := b.first, 0
	for e := b.first; e != nil && looked < evictLook; e = e.next {
		if over(e.value) {
			drop = e
			break
		}
		looked++
	}
	b.Delete(drop.key)
	b.lost++
}
