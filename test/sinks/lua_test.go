package sinks

import (
	"regexp"
	"slices"
	"strings"
)

// token is a word of Lua. Comments are left out.
type token struct {
	kind byte // 'n' name, 's' string, '0' number, '+' anything else
	text string
	line int // 1-based
}

func (t token) is(text string) bool { return t.kind != 's' && t.text == text }

var words = regexp.MustCompile(`^(?:([A-Za-z_]\w*)|(\d[\w.]*)|(\.\.\.|\.\.|[=~<>]=|\S))`)

var opening = regexp.MustCompile(`^\[=*\[`)

// long is the text of a long bracket at the start of code, with the brackets.
func long(code string) string {
	open := opening.FindString(code)
	if open == "" {
		return ""
	}
	end := strings.Index(code, strings.ReplaceAll(open, "[", "]"))
	if end < 0 {
		return code
	}
	return code[:end+len(open)]
}

// scan splits Lua code into tokens.
func scan(code string) []token {
	var list []token
	line := 1
	for code != "" {
		skip := 1
		bracket := long(code)
		switch {
		case strings.HasPrefix(code, "--"):
			if bracket = long(code[2:]); bracket != "" {
				skip = 2 + len(bracket)
			} else {
				skip = strings.IndexByte(code+"\n", '\n')
			}
		case bracket != "":
			skip = len(bracket)
			list = append(list, token{'s', bracket, line})
		case code[0] == '"' || code[0] == '\'':
			for skip < len(code) && code[skip] != code[0] && code[skip] != '\n' {
				if code[skip] == '\\' {
					skip++
				}
				skip++
			}
			skip = min(skip+1, len(code))
			list = append(list, token{'s', strings.Trim(code[:skip], code[:1]), line})
		case strings.TrimSpace(code[:1]) != "":
			m := words.FindStringSubmatch(code)
			skip = len(m[0])
			kind := byte('+')
			if m[1] != "" {
				kind = 'n'
			} else if m[2] != "" {
				kind = '0'
			}
			list = append(list, token{kind, m[0], line})
		}
		line += strings.Count(code[:skip], "\n")
		code = code[skip:]
	}
	return list
}

// at is the token i, or an empty one.
func at(code []token, i int) token {
	if i < 0 || i >= len(code) {
		return token{kind: '+'}
	}
	return code[i]
}

// closing is the index of the bracket that closes the one at i.
func closing(code []token, i int) int {
	depth := 0
	for ; i < len(code); i++ {
		switch {
		case code[i].kind != '+':
		case strings.Contains("([{", code[i].text):
			depth++
		case strings.Contains(")]}", code[i].text):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(code)
}

// arguments are those of the call whose name ends before i; called is false
// where nothing is called.
func arguments(code []token, i int) (list [][]token, called bool) {
	switch next := at(code, i); {
	case next.kind == 's':
		return [][]token{{next}}, true
	case next.is("{"):
		return [][]token{code[i:min(closing(code, i)+1, len(code))]}, true
	case !next.is("("):
		return nil, false
	}
	end := closing(code, i)
	start := i + 1
	for k := start; k < end; k++ {
		switch {
		case code[k].is("function"):
			k = functionEnd(code, k)
		case code[k].is("(") || code[k].is("{") || code[k].is("["):
			k = closing(code, k)
		case code[k].is(","):
			list = append(list, code[start:k])
			start = k + 1
		}
	}
	if start < end {
		list = append(list, code[start:end])
	}
	return list, true
}

// functionEnd is the index of the end of the function that begins at i.
func functionEnd(code []token, i int) int {
	depth := 0
	for ; i < len(code); i++ {
		if code[i].kind != 'n' {
			continue
		}
		switch code[i].text {
		case "function", "if", "do", "repeat":
			depth++
		case "end", "until":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(code) - 1
}

// constant reports whether code holds nothing that is known only when it runs.
// The functions in it are looked at on their own.
func constant(code []token) bool {
	for i := 0; i < len(code); i++ {
		switch t := code[i]; {
		case t.kind == 's' || t.kind == '0':
		case t.is("function"):
			i = functionEnd(code, i)
		case t.kind == 'n':
			if !slices.Contains([]string{"true", "false", "nil"}, t.text) && !at(code, i+1).is("=") {
				return false
			}
		case !slices.Contains([]string{"{", "}", ",", "=", "-", "[", "]"}, t.text):
			return false
		}
	}
	return true
}
