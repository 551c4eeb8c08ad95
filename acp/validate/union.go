package validate

// rewriteBranches replaces the branches of s, if their shape is known, with a schema
// that fails in one place.
func rewriteBranches(s object, keyword string, branches []any) {
	switch {
	case rewriteNullable(s, keyword, branches):
	case rewriteEnum(s, keyword, branches):
	default:
		if tag := tagOf(branches); tag != "" {
			rewriteTagged(s, keyword, tag, branches)
		}
	}
}

// rewriteNullable handles a value that may also be null.
func rewriteNullable(s object, keyword string, branches []any) bool {
	if len(branches) != 2 {
		return false
	}
	for i, b := range branches {
		if m, ok := b.(object); ok && m["type"] == "null" && len(m) == 1 {
			delete(s, keyword)
			also(s, unlessNull(branches[1-i]))
			return true
		}
	}
	return false
}

// rewriteEnum handles a list of constants of one type, perhaps with a branch
// for all other values of it.
func rewriteEnum(s object, keyword string, branches []any) bool {
	var values []any
	var kind any
	var open object
	for i, b := range branches {
		m, ok := b.(object)
		if !ok || m["properties"] != nil || m["type"] == nil || i > 0 && m["type"] != kind {
			return false
		}
		kind = m["type"]
		if c, ok := m["const"]; ok {
			values = append(values, c)
		} else if open == nil {
			open = m
		} else {
			return false
		}
	}
	if len(values) == 0 {
		return false
	}
	delete(s, keyword)
	if open != nil {
		also(s, open)
	} else {
		also(s, object{"type": kind, "enum": values})
	}
	return true
}

// tagOf finds the member whose constant selects a branch.
func tagOf(branches []any) string {
	for _, b := range branches {
		m, _ := b.(object)
		members, _ := m["properties"].(object)
		for name, c := range members {
			if p, _ := c.(object); p["const"] != nil {
				return name
			}
		}
	}
	return ""
}

// rewriteTagged handles a union of objects with a tag.
func rewriteTagged(s object, keyword, tag string, branches []any) {
	var known []any
	var cases []object
	var open, untagged object
	for _, b := range branches {
		m := b.(object)
		members, _ := m["properties"].(object)
		p, _ := members[tag].(object)
		switch {
		case p["const"] != nil:
			known = append(known, p["const"])
			cases = append(cases, object{"if": hasTag(tag, object{"const": p["const"]}), "then": m})
		case m["not"] != nil:
			delete(m, "not") // says that the tag is not a known one; the condition below does
			open = m
		default:
			untagged = m
		}
	}
	delete(s, keyword)
	also(s, object{"type": "object"})
	if shared, _ := s["properties"].(object); shared[tag] == true {
		// A repaired tag counts as absent, whatever its value.
		members, _ := untagged["properties"].(object)
		delete(members, tag)
	}
	if untagged != nil {
		// A value with a known tag may also be one of the variant without.
		for _, c := range cases {
			c["then"] = object{"anyOf": []any{c["then"], untagged}, preferred: "first"}
		}
	}
	for _, c := range cases {
		also(s, c)
	}
	isKnown := hasTag(tag, object{"enum": known})
	switch {
	case open != nil && untagged != nil:
		named := object{"if": hasTag(tag, object{"type": "string"}), "then": object{"anyOf": []any{open, untagged}, preferred: "first"}, "else": untagged}
		also(s, object{"if": isKnown, "else": named})
	case open != nil:
		also(s, object{"if": isKnown, "else": open})
	case untagged != nil:
		also(s, object{"if": isKnown, "else": untagged})
	default:
		also(s, object{"required": []any{tag}, "properties": object{tag: object{"enum": known}}})
	}
}

// hasTag is the condition that a value is an object with such a tag.
func hasTag(tag string, s object) object {
	return object{"type": "object", "required": []any{tag}, "properties": object{tag: s}}
}

// preferred marks an anyOf where only the first branch is worth explaining.
const preferred = "x-preferred"

// also adds a condition to a schema.
func also(s object, condition object) {
	all, _ := s["allOf"].([]any)
	s["allOf"] = append(all, condition)
}
