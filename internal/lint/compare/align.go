package compare

// maxCells bounds the table of an alignment.
const maxCells = 4 << 20

// pair is an element of both lists, or of one: then the other index is -1.
type pair struct{ old, new int }

// align pairs the elements of two lists in order, so that the sum of the scores of the
// pairs is highest. Elements with a score of 0 are not paired.
func align(old, new int, score func(i, j int) int, key func(list, i int) string) []pair {
	var head, tail []pair
	from := 0
	for from < old && from < new && score(from, from) == best {
		head = append(head, pair{from, from})
		from++
	}
	for old > from && new > from && score(old-1, new-1) == best {
		old, new = old-1, new-1
		tail = append(tail, pair{old, new})
	}
	n, m := old-from, new-from
	if (n+1)*(m+1) > maxCells {
		head = append(head, byOccurrence(from, old, new, key)...)
	} else {
		head = append(head, byTable(from, n, m, score)...)
	}
	for i := len(tail) - 1; i >= 0; i-- {
		head = append(head, tail[i])
	}
	return head
}

// best is the score of elements that are equal.
const best = 3

// byTable finds the best alignment.
func byTable(from, n, m int, score func(i, j int) int) []pair {
	table := make([]int32, (n+1)*(m+1)) // of what follows
	at := func(i, j int) *int32 { return &table[i*(m+1)+j] }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			most := max(*at(i+1, j), *at(i, j+1))
			if s := score(from+i, from+j); s > 0 {
				most = max(most, *at(i+1, j+1)+int32(s))
			}
			*at(i, j) = most
		}
	}
	var pairs []pair
	i, j := 0, 0
	for i < n && j < m {
		s := score(from+i, from+j)
		switch {
		case s > 0 && *at(i, j) == *at(i+1, j+1)+int32(s):
			pairs = append(pairs, pair{from + i, from + j})
			i, j = i+1, j+1
		case *at(i, j) == *at(i+1, j):
			pairs = append(pairs, pair{from + i, -1})
			i++
		default:
			pairs = append(pairs, pair{-1, from + j})
			j++
		}
	}
	for ; i < n; i++ {
		pairs = append(pairs, pair{from + i, -1})
	}
	for ; j < m; j++ {
		pairs = append(pairs, pair{-1, from + j})
	}
	return pairs
}

// byOccurrence pairs the first of a key with the first, the second with the second. It is
// for lists that are too long for a table.
func byOccurrence(from, old, new int, key func(list, i int) string) []pair {
	waiting := map[string][]int{}
	for j := from; j < new; j++ {
		k := key(1, j)
		waiting[k] = append(waiting[k], j)
	}
	var pairs []pair
	for i := from; i < old; i++ {
		k := key(0, i)
		if w := waiting[k]; len(w) > 0 {
			pairs = append(pairs, pair{i, w[0]})
			waiting[k] = w[1:]
		} else {
			pairs = append(pairs, pair{i, -1})
		}
	}
	for j := from; j < new; j++ {
		k := key(1, j)
		if w := waiting[k]; len(w) > 0 && w[0] == j {
			pairs = append(pairs, pair{-1, j})
			waiting[k] = w[1:]
		}
	}
	return pairs
}
