package schema

// Reduce returns a copy of a schema without its prose: every description keyword
// is removed, everything else stays as it is. A member that happens to be named
// description stays too.
func Reduce(n *Node) *Node {
	if n.Kind != '{' {
		return n
	}
	out := &Node{Ptr: n.Ptr, Kind: '{', Obj: map[string]*Node{}}
	for _, k := range n.Keys {
		if k == "description" {
			continue
		}
		c := n.Obj[k]
		switch subschemas[k] {
		case inValue:
			c = Reduce(c)
		case inMembers, inElements:
			c = reduceEach(c)
		}
		out.Keys = append(out.Keys, k)
		out.Obj[k] = c
	}
	return out
}

// reduceEach reduces the members of an object, or the elements of a list.
func reduceEach(n *Node) *Node {
	out := &Node{Ptr: n.Ptr, Kind: n.Kind, Keys: n.Keys}
	if n.Obj != nil {
		out.Obj = map[string]*Node{}
	}
	for k, c := range n.Obj {
		out.Obj[k] = Reduce(c)
	}
	for _, e := range n.Arr {
		out.Arr = append(out.Arr, Reduce(e))
	}
	return out
}
