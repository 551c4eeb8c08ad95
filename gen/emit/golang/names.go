package golang

import (
	"go/token"
	"strings"
	"unicode"
)

var initialisms = map[string]string{
	"acp": "ACP", "api": "API", "http": "HTTP", "id": "ID", "json": "JSON", "llm": "LLM",
	"mcp": "MCP", "sse": "SSE", "ui": "UI", "uri": "URI", "url": "URL",
}

// goName turns a wire or schema name into an exported Go name. The result is
// empty if no character of the name can be used.
func goName(s string) string {
	var b strings.Builder
	for _, w := range words(s) {
		if x, ok := initialisms[strings.ToLower(w)]; ok {
			b.WriteString(x)
			continue
		}
		r := []rune(w)
		b.WriteRune(unicode.ToUpper(r[0]))
		b.WriteString(string(r[1:]))
	}
	n := b.String()
	if n != "" && !unicode.IsUpper([]rune(n)[0]) {
		n = "X" + n // a digit, or a letter without case
	}
	return n
}

// words splits a name at everything that is not a letter or digit, and where
// the case changes.
func words(s string) []string {
	var out []string
	var cur []rune
	flush := func() {
		if len(cur) > 0 {
			out = append(out, string(cur))
			cur = nil
		}
	}
	rs := []rune(s)
	for i, r := range rs {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			continue
		}
		if unicode.IsUpper(r) && i > 0 {
			endsAcronym := i+1 < len(rs) && unicode.IsLower(rs[i+1]) && unicode.IsUpper(rs[i-1])
			if unicode.IsLower(rs[i-1]) || unicode.IsDigit(rs[i-1]) || endsAcronym {
				flush()
			}
		}
		cur = append(cur, r)
	}
	flush()
	return out
}

// used holds the names in the types of parameters.
var used = map[string]bool{
	"acp": true, "any": true, "bool": true, "error": true, "float64": true, "int32": true, "int64": true, "jx": true,
	"json": true, "string": true, "uint16": true, "uint32": true, "uint64": true,
}

// paramName is goName for a parameter: lower case at the front.
func paramName(s string) string {
	n := goName(s)
	i := 0
	for i < len(n) && n[i] >= 'A' && n[i] <= 'Z' {
		i++
	}
	if i > 1 && i < len(n) {
		i-- // the last capital starts the next word
	}
	n = strings.ToLower(n[:i]) + n[i:]
	if token.IsKeyword(n) || n == "v" || used[n] {
		n += "_"
	}
	return strings.Replace(n, "type_", "kind", 1)
}

// methodNames are the methods that structs have; a field cannot share their names.
var methodNames = map[string]bool{
	"AppendJSON": true, "Bytes": true, "LogValue": true,
	"MarshalJSON": true, "String": true, "UnmarshalJSON": true,
}

// fieldName is the Go name of a member.
func fieldName(wire string) string {
	n := goName(wire)
	if methodNames[n] {
		n += "Value"
	}
	return n
}
