package tree

import "strings"

func (w What) String() string {
	var names []string
	for i, name := range []string{"created", "deleted", "content", "mode", "link"} {
		if w&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "+")
}
