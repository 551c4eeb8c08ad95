package codex

import "strings"

func asNode(v any) node {
	n, _ := v.(node)
	return n
}

// list is a list of schemas.
func list(v any) []node {
	var out []node
	for _, e := range elements(v) {
		out = append(out, asNode(e))
	}
	return out
}

func elements(v any) []any {
	l, _ := v.([]any)
	return l
}

// texts is a list of texts, nil for anything else.
func texts(v any) []string {
	var out []string
	for _, e := range elements(v) {
		s, ok := e.(string)
		if !ok {
			return nil
		}
		out = append(out, s)
	}
	return out
}

func ref(name string) node { return node{"$ref": "#/$defs/" + name} }

// refOf is the name that a published reference ends with.
func refOf(n node) string {
	s, _ := n["$ref"].(string)
	return s[strings.LastIndexByte(s, '/')+1:]
}

// enum is a set of words that may grow.
func enum(words []string) node {
	var out []any
	for _, w := range words {
		out = append(out, node{"type": "string", "const": w})
	}
	return node{"oneOf": append(out, node{"type": "string", "title": "Other"})}
}

// tagOf is the member that has one word in each branch, empty if there is none.
func tagOf(branches []node) string {
	tag := ""
	for _, b := range branches {
		found := ""
		for member, p := range asNode(b["properties"]) {
			if len(texts(asNode(p)["enum"])) == 1 {
				found = member
			}
		}
		if found == "" || tag != "" && tag != found {
			return ""
		}
		tag = found
	}
	return tag
}

// nullable reports whether null is a value.
func nullable(n node) bool {
	if n["type"] == "null" {
		return true
	}
	for _, t := range elements(n["type"]) {
		if t == "null" {
			return true
		}
	}
	for _, b := range list(n["anyOf"]) {
		if nullable(b) {
			return true
		}
	}
	return false
}

// format is the nearest format that the generator knows.
func format(f string) string {
	switch f {
	case "uint":
		return "uint64"
	case "uint8":
		return "uint16"
	}
	return f
}

// upper makes a member or method name the end of a definition's name.
func upper(s string) string {
	var b strings.Builder
	up := true
	for _, r := range s {
		switch {
		case r == '_' || r == '-' || r == '/':
			up = true
			continue
		case up:
			b.WriteString(strings.ToUpper(string(r)))
			up = false
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
