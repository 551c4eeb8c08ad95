package lint

import (
	"bytes"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/internal/jtree"
)

// eachField calls f with the fields of forms.
func eachField(c *Checker, f func(m *Message, name string, field Value)) {
	eachQuestion(c, func(m *Message, mode string) {
		if mode != "form" {
			return
		}
		for name, field := range m.Params.Get("requestedSchema", "properties").Members() {
			f(m, string(name), field)
		}
	})
}

// eachSecret calls f with what makes a form look as if it asked for a secret. Only free
// text can be one.
func eachSecret(c *Checker, f func(m *Message, at Value)) {
	eachQuestion(c, func(m *Message, mode string) {
		if mode != "form" {
			return
		}
		c.Exercised()
		free := false
		for name, field := range m.Params.Get("requestedSchema", "properties").Members() {
			if !field.Get("type").Is("string") || field.Get("enum").Set() || field.Get("oneOf").Set() {
				continue
			}
			free = true
			if secretWords().Match(name) || secretWords().Match(field.Get("title").Bytes()) {
				f(m, field)
				return
			}
		}
		if text := m.Params.Get("message"); free && askedWords().Match(text.Bytes()) {
			f(m, text)
		}
	})
}

// misfit says why a value does not fit a field of a form.
func misfit(field, v Value) string {
	if !field.IsObject() || !v.Set() {
		return ""
	}
	below := func(name string, n float64) bool {
		limit, ok := field.Get(name).Float()
		return ok && n < limit
	}
	above := func(name string, n float64) bool {
		limit, ok := field.Get(name).Float()
		return ok && n > limit
	}
	switch typ := field.Get("type").Str(); typ {
	case "string":
		n := float64(utf8.RuneCount(v.Bytes()))
		switch {
		case !v.IsString():
			return "the field is a string, and this is a " + v.Kind().String()
		case !offers(field, v):
			return "the field does not offer this choice"
		case below("minLength", n), above("maxLength", n):
			return "the text is too short or too long"
		}
	case "number", "integer":
		n, ok := v.Float()
		switch {
		case !ok || v.Kind() != jtree.Number:
			return "the field is a number, and this is a " + v.Kind().String()
		case typ == "integer" && n != float64(int64(n)):
			return "the field is an integer"
		case below("minimum", n), above("maximum", n):
			return "the number is out of range"
		}
	case "boolean":
		if v.Kind() != jtree.True && v.Kind() != jtree.False {
			return "the field is a boolean, and this is a " + v.Kind().String()
		}
	case "array":
		n := float64(v.Len())
		if !v.IsArray() {
			return "the field is a list, and this is a " + v.Kind().String()
		}
		for _, item := range v.Items() {
			if !offers(field.Get("items"), item) {
				return "the field does not offer one of these choices"
			}
		}
		if below("minItems", n) || above("maxItems", n) {
			return "there are too few or too many choices"
		}
	}
	return ""
}

// offers reports whether a value is among the choices of a field, if it has any.
func offers(field, v Value) bool {
	choices := field.Get("enum")
	titled := orElse(field.Get("oneOf"), field.Get("anyOf"))
	if !choices.IsArray() && !titled.IsArray() {
		return true
	}
	for _, choice := range choices.Items() {
		if choice.IsString() && bytes.Equal(choice.Bytes(), v.Bytes()) {
			return true
		}
	}
	for _, choice := range titled.Items() {
		if choice.Get("const").IsString() && bytes.Equal(choice.Get("const").Bytes(), v.Bytes()) {
			return true
		}
	}
	return false
}
