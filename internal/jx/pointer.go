package jx

import (
	"strconv"
	"strings"
)

// pointer returns the JSON pointer (RFC 6901) of the value of b that starts at
// offset at.
func pointer(b []byte, at int) string {
	d := Dec{b: b}
	var path []string // what was entered last at each level
	var index []int   // elements passed at each level
	for d.Peek() != 0 && d.p < at {
		if d.step(); d.depth > len(path) {
			path, index = append(path, ""), append(index, 0)
		}
		for d.depth > 0 {
			top := d.depth - 1
			if d.inObject() {
				if name, more := d.Next(); more {
					path[top] = string(name)
					break
				}
				if d.code != ok { // the fault is in place of a member
					path = path[:top]
				}
			} else if d.More(']') {
				path[top] = strconv.Itoa(index[top])
				index[top]++
				break
			}
			if d.code != ok {
				break
			}
			path, index = path[:top], index[:top]
		}
		if len(path) == 0 {
			break
		}
	}
	var s strings.Builder
	for _, p := range path {
		s.WriteByte('/')
		s.WriteString(escapePointer.Replace(p))
	}
	return s.String()
}

// escapePointer escapes a name for a JSON pointer.
var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")
