package validate

import "encoding/json"

// A plain validator explains a failed union with the failures of every branch. The
// functions here rewrite a schema so that the tag selects a branch first. The set of
// valid values stays the same, except that addLimits narrows it to the meaning of the
// integer formats.

// integerLimits is the smallest and the largest value of an integer format.
var integerLimits = map[any][2]json.Number{
	"int32":  {"-2147483648", "2147483647"},
	"int64":  {"-9223372036854775808", "9223372036854775807"},
	"uint16": {"0", "65535"},
	"uint32": {"0", "4294967295"},
	"uint64": {"0", "18446744073709551615"},
}

// eachSchema calls f with every object schema below s and s itself, inner ones
// first.
func eachSchema(s any, f func(map[string]any)) {
	m, ok := s.(map[string]any)
	if !ok {
		return
	}
	for k, c := range m {
		switch k {
		case "items", "not", "additionalProperties", "unevaluatedProperties":
			eachSchema(c, f)
		case "properties", "$defs":
			members, _ := c.(map[string]any)
			for _, e := range members {
				eachSchema(e, f)
			}
		case "allOf", "anyOf", "oneOf":
			list, _ := c.([]any)
			for _, e := range list {
				eachSchema(e, f)
			}
		}
	}
	f(m)
}

// addLimits turns the integer formats, which JSON Schema does not know, into rules.
func addLimits(doc map[string]any) {
	eachSchema(doc, func(s map[string]any) {
		limits, ok := integerLimits[s["format"]]
		if !ok {
			return
		}
		if s["minimum"] == nil {
			s["minimum"] = limits[0]
		}
		if s["maximum"] == nil {
			s["maximum"] = limits[1]
		}
	})
}

// rewrite changes a schema in place.
func rewrite(doc map[string]any, tolerant bool) {
	eachSchema(doc, func(s map[string]any) {
		// Go cannot judge the regular expressions of other languages.
		if s["format"] == "regex" {
			delete(s, "format")
		}
		if s["format"] == "date-time" && s["pattern"] == nil {
			s["pattern"] = dateTime
		}
		inlineRef(s)
		if tolerant {
			tolerate(s)
		}
		for _, keyword := range []string{"oneOf", "anyOf"} {
			if branches, ok := s[keyword].([]any); ok {
				rewriteBranches(s, keyword, branches)
			}
		}
	})
}

// inlineRef writes an allOf of one reference as the reference.
func inlineRef(s map[string]any) {
	all, ok := s["allOf"].([]any)
	if !ok || len(all) != 1 || s["$ref"] != nil {
		return
	}
	if only, ok := all[0].(map[string]any); ok && len(only) == 1 && only["$ref"] != nil {
		s["$ref"] = only["$ref"]
		delete(s, "allOf")
	}
}

// tolerate drops from the members of an object what a reader repairs.
func tolerate(s map[string]any) {
	members, _ := s["properties"].(map[string]any)
	for name, c := range members {
		m, ok := c.(map[string]any)
		switch {
		case !ok:
		case m["x-deserialize-default-on-error"] == true:
			members[name] = true
		default:
			if m["x-deserialize-skip-invalid-items"] == true {
				delete(m, "items")
			}
			if m["x-deserialize-default-on-null"] == true {
				members[name] = unlessNull(m)
			}
		}
	}
}

func unlessNull(s any) map[string]any {
	return map[string]any{"if": object{"not": object{"type": "null"}}, "then": s}
}

// dateTime is the grammar of RFC 3339, section 5.6. The validator we build on
// knows the ranges of the numbers, but accepts a sign as a digit.
const dateTime = `^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$`

type object = map[string]any
