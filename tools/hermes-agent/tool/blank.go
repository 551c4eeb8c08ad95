package tool

import (
	"errors"
	"slices"
	"strings"
)

// spread lists the places, as the first line and the one behind the last, that have the lines
// of wanted one after the other when blank lines are left out on both sides, and white space
// at the ends of lines and typography are ignored. A place begins and ends with such a line.
func spread(lines, wanted []string) (places [][2]int) {
	seek, _ := filled(wanted)
	have, at := filled(lines)
	for i := 0; len(seek) > 0 && i+len(seek) <= len(have); i++ {
		if slices.Equal(have[i:i+len(seek)], seek) {
			places = append(places, [2]int{at[i], at[i+len(seek)-1] + 1})
		}
	}
	return places
}

// filled returns the lines that are not blank, without their white space and typography, and
// where they are.
func filled(lines []string) (texts []string, at []int) {
	for i, line := range lines {
		if text := strings.TrimSpace(plain.Replace(line)); text != "" {
			texts, at = append(texts, text), append(at, i)
		}
	}
	return texts, at
}

// exchangeSpread replaces a place of spread. Blank lines stay, except those between lines that
// are replaced: the model has not seen them, but nobody would miss them.
func exchangeSpread(text string, lines []string, place [2]int, wanted []string, fresh string, withEnd bool) (string, error) {
	if withEnd {
		fresh = strings.TrimSuffix(fresh, "\n")
	}
	written := strings.Split(fresh, "\n")
	if fresh == "" && withEnd {
		written = nil
	}
	_, mine := filled(wanted)
	_, theirs := filled(lines[place[0]:place[1]])
	asThere := make([]string, place[1]-place[0]) // wanted, with the blank lines of the file
	for i, at := range mine {
		asThere[theirs[i]] = wanted[at]
	}
	before, after := common(written, wanted)
	first, _ := slices.BinarySearch(mine, before)
	behind, _ := slices.BinarySearch(mine, len(wanted)-after)
	from := len(asThere)
	if first < len(theirs) {
		from = theirs[first]
	}
	to := from
	if behind > first {
		to = theirs[behind-1] + 1
	}
	middle := written[before : len(written)-after]
	if behind == first && isBlank(middle) {
		return "", errors.New("old is not in the file, and new and old differ only in blank lines, which the file has elsewhere; repeat the lines as they are in the file")
	}
	// The file may have the blank lines that new brings.
	for from > 0 && len(middle) > 0 && isBlank(asThere[from-1:from]) && isBlank(middle[:1]) {
		middle = middle[1:]
	}
	for to < len(asThere) && len(middle) > 0 && isBlank(asThere[to:to+1]) && isBlank(middle[len(middle)-1:]) {
		middle = middle[:len(middle)-1]
	}
	now := strings.Join(slices.Concat(asThere[:from], middle, asThere[to:]), "\n")
	if withEnd && now != "" {
		now += "\n"
	}
	return exchangeLines(text, place[0], asThere, now, withEnd)
}

func isBlank(lines []string) bool { return strings.TrimSpace(strings.Join(lines, "")) == "" }
