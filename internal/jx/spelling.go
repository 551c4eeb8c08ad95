package jx

import "strings"

// Near returns the word of a list that was probably meant, empty if none is close:
// one with the same letters in another case or with other separators (sessionID,
// session_id), or a longer one with a typo or two.
func Near(meant string, words []string) string {
	const longest = 64 // of names in the protocol; anything longer is not a typo
	best, least := "", 3
	a := fold(meant)
	for _, w := range words {
		if w == meant || len(w) > longest || len(meant) > longest {
			continue
		}
		b := fold(w)
		d := slips(a, b)
		if d > 0 && min(len(a), len(b)) < 4 || d > 1 && min(len(a), len(b)) < 7 {
			continue
		}
		if d < least {
			best, least = w, d
		}
	}
	return best
}

// fold removes from a name what people mix up.
func fold(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(name))
}

// slips counts the letters that are missing, added, changed or swapped with their
// neighbour. 3 means more than 2.
func slips(a, b string) int {
	if len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return 3
	}
	var rows [3][]int // the row, the one before it, and that before it
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := range len(a) {
		rows[0], rows[1], rows[2] = rows[2], rows[0], rows[1]
		row, above, twoUp := rows[0], rows[1], rows[2]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j]+cost, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], twoUp[j-1]+1)
			}
		}
	}
	return min(rows[0][len(b)], 3)
}

// didYouMean is the hint of an error about an absent word.
func didYouMean(word string) string {
	if word == "" {
		return ""
	}
	return `; did you mean "` + word + `"?`
}

// foundInstead is the hint of an error about a member that has another name in the text.
func foundInstead(name string) string {
	if name == "" {
		return ""
	}
	return `; found "` + name + `"`
}

// neighbour is the member that was probably meant to be called name, in the object
// at a place of b.
func neighbour(b []byte, at int, name string) string {
	const most = 256 // members that are compared
	d := Dec{b: b, p: at}
	var names []string
	if d.Peek() == '{' && d.Obj() {
		for k, more := d.Next(); more && len(names) < most; k, more = d.Next() {
			names = append(names, string(k))
			d.Skip()
		}
	}
	return Near(name, names)
}
