package schema

import "bytes"

// formatWidth is the column up to which a value stays on one line.
const formatWidth = 100

// Format writes the value the one way the files of this folder are written: a
// value that fits stays on its line, a longer one gets a line for each member,
// indented by two spaces. Order is kept, so a change of the protocol changes
// few lines.
func (n *Node) Format() []byte {
	var b bytes.Buffer
	n.format(&b, 0, 0)
	b.WriteByte('\n')
	return b.Bytes()
}

// format writes n at the given depth. column is where its line stands,
// including a comma that may follow.
func (n *Node) format(b *bytes.Buffer, depth, column int) {
	line, fits := n.appendLine(nil, formatWidth-column)
	if depth > 0 && fits || len(n.Keys)+len(n.Arr) == 0 {
		b.Write(line)
		return
	}
	indent := bytes.Repeat([]byte("  "), depth+1)
	b.WriteByte(n.Kind)
	sep := "\n"
	for _, k := range n.Keys {
		b.WriteString(sep)
		b.Write(indent)
		name := appendQuoted(nil, k)
		b.Write(name)
		b.WriteString(": ")
		n.Obj[k].format(b, depth+1, len(indent)+len(name)+3)
		sep = ",\n"
	}
	for _, e := range n.Arr {
		b.WriteString(sep)
		b.Write(indent)
		e.format(b, depth+1, len(indent)+1)
		sep = ",\n"
	}
	b.WriteByte('\n')
	b.Write(indent[2:])
	b.WriteByte(n.Kind + 2) // the closing bracket stands two after the opening one
}

// appendLine writes n on one line and reports whether it takes at most width
// bytes. It stops early when it does not.
func (n *Node) appendLine(b []byte, width int) ([]byte, bool) {
	switch n.Kind {
	case '{':
		if len(n.Keys) == 0 {
			return append(b, "{}"...), len(b)+2 <= width
		}
		b = append(b, '{')
		for i, k := range n.Keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendQuoted(append(b, ' '), k), ": "...)
			var ok bool
			if b, ok = n.Obj[k].appendLine(b, width); !ok {
				return b, false
			}
		}
		b = append(b, " }"...)
	case '[':
		b = append(b, '[')
		for i, e := range n.Arr {
			if i > 0 {
				b = append(b, ", "...)
			}
			var ok bool
			if b, ok = e.appendLine(b, width); !ok {
				return b, false
			}
		}
		b = append(b, ']')
	default:
		b = n.appendScalar(b)
	}
	return b, len(b) <= width
}
