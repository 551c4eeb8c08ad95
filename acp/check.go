package acp

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/internal/jx"
)

// Violation is a rule of the protocol that a value breaks.
type Violation struct {
	Pointer string // JSON pointer of the value
	Rule    string // schema keyword: minItems, minimum, format, enum, ...
	Message string // what was expected
}

// String returns the violation in one line.
func (v Violation) String() string {
	if v.Pointer == "" {
		return v.Message
	}
	return v.Pointer + ": " + v.Message
}

// Check lists the rules that a value of the protocol breaks although it can be
// decoded: a list that must not be empty, a number out of its range, text that is
// not a URI, an undefined enum value. It also finds values that a program can build
// but not send, such as a union without a variant. It accepts messages, unions and
// everything in them, of all versions.
//
// The rules are in the tags of the fields, so a check costs reflection. Nothing
// calls it for you.
func Check(v any) []Violation {
	var c checker
	c.value(reflect.ValueOf(v), nil)
	if a, ok := v.(Appender); ok && len(c.found) == 0 && !isNil(v) {
		if err := jx.Fault(a.AppendJSON(nil)); err != nil {
			at, _ := Pointer(err)
			c.found = append(c.found, Violation{at, "encoding", strings.TrimPrefix(err.Error(), at+": ")})
		}
	}
	return c.found
}

func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// checker collects violations and knows where it is.
type checker struct {
	path  []string
	found []Violation
}

func (c *checker) add(rule, format string, args ...any) {
	var at strings.Builder
	for _, name := range c.path {
		at.WriteByte('/')
		at.WriteString(escapePointer.Replace(name))
	}
	c.found = append(c.found, Violation{at.String(), rule, fmt.Sprintf(format, args...)})
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// in checks the value one level further down.
func (c *checker) in(name string, v reflect.Value, rules []string) {
	c.path = append(c.path, name)
	c.value(v, rules)
	c.path = c.path[:len(c.path)-1]
}

// optional is implemented by Opt and Patch.
type optional interface{ value() (any, bool) }

func (o Opt[T]) value() (any, bool)   { return &o.V, o.OK }
func (p Patch[T]) value() (any, bool) { return &p.V, p.State == PatchValue }

// value checks v, which is present, against the rules of its member.
func (c *checker) value(v reflect.Value, rules []string) {
	if !v.IsValid() {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c.value(v.Elem(), rules)
		}
		return
	case reflect.Interface:
		if v.IsNil() {
			c.add("required", "want %s", v.Type().Name())
			return
		}
		c.value(v.Elem(), rules)
		return
	case reflect.Struct:
		if id, ok := v.Interface().(RequestID); ok {
			if slices.Contains(rules, "id") && id.IsNull() {
				c.add("type", "must not be null")
			}
			return
		}
		c.members(v)
		return
	}
	for _, rule := range rules {
		c.limit(v, rule)
	}
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			c.add("encoding", "want UTF-8")
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return // raw JSON, which encoding checks
		}
		for i := range v.Len() {
			c.in(strconv.Itoa(i), v.Index(i), elements(rules))
		}
	case reflect.Map:
		for _, k := range slices.Sorted(maps.Keys(keys(v))) {
			c.in(k, v.MapIndex(keys(v)[k]), elements(rules))
		}
	}
}

func keys(v reflect.Value) map[string]reflect.Value {
	m := map[string]reflect.Value{}
	for _, k := range v.MapKeys() {
		m[k.String()] = k
	}
	return m
}

// elements are the rules of a list that its elements follow.
func elements(rules []string) []string {
	return slices.DeleteFunc(slices.Clone(rules), func(r string) bool { return strings.HasPrefix(r, "minItems=") })
}

func (c *checker) members(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		member := v.Field(i)
		if o, ok := member.Interface().(optional); ok {
			x, present := o.value()
			if !present {
				continue
			}
			member = reflect.ValueOf(x).Elem()
		} else if options != "" && member.IsZero() {
			continue
		}
		rules := strings.Fields(f.Tag.Get("check"))
		if name == "" { // the variant of a union, or the tag of one that is not known
			if len(rules) == 1 {
				if tag, ok := strings.CutPrefix(rules[0], "tag="); ok {
					c.path = append(c.path, tag)
					c.add("enum", "unknown %s %q", tag, member.String())
					c.path = c.path[:len(c.path)-1]
					continue
				}
			}
			c.value(member, rules)
			continue
		}
		c.in(name, member, rules)
	}
}

// limit checks v, which is neither a struct nor a union, against one rule.
func (c *checker) limit(v reflect.Value, rule string) {
	name, want, _ := strings.Cut(rule, "=")
	switch name {
	case "enum":
		if e, ok := v.Interface().(interface{ Known() bool }); ok && !e.Known() {
			c.add("enum", "want a value of %s", v.Type().Name())
		}
	case "minimum", "maximum":
		n, _ := strconv.ParseFloat(want, 64) // the generator wrote it
		x := number(v)
		if name == "minimum" && x < n {
			c.add(name, "want at least %s", want)
		} else if name == "maximum" && x > n {
			c.add(name, "want at most %s", want)
		}
	case "minLength":
		if n, _ := strconv.Atoi(want); jx.Len(v.String()) < n {
			c.add(name, "want at least %s", count(n, "character"))
		}
	case "minItems":
		if n, _ := strconv.Atoi(want); v.Kind() == reflect.Slice && v.Len() < n {
			c.add(name, "want at least %s", count(n, "item"))
		}
	case "uri":
		if !jx.IsURI(v.String()) {
			c.add("format", "want a URI")
		}
	case "date-time":
		if !jx.IsDateTime(v.String()) {
			c.add("format", "want an RFC 3339 date and time")
		}
	case "base64":
		if !jx.IsBase64(v.String()) {
			c.add("contentEncoding", "want base64")
		}
	}
}

func number(v reflect.Value) float64 {
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	}
	return v.Float()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
