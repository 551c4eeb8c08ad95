package wire

import (
	"encoding/json"
	"reflect"
	"strings"
)

// Message is a message of the host to Neovim, apart from events: a struct with the
// members of the JSON object.
type Message interface{ Kind() string }

// ItemOf makes an item of m.
func ItemOf(m Message) Item { return ObjectOf(m).Item(m.Kind()) }

// ObjectOf makes an object of a struct of the host. A member may also be an *Object, or JSON
// of an agent (json.RawMessage); see appendLua.
func ObjectOf(v any) *Object {
	o := new(Object)
	o.members(reflect.ValueOf(v))
	return o
}

// members adds the members of a struct.
func (o *Object) members(v reflect.Value) {
	for i := range v.NumField() {
		field, f := v.Type().Field(i), v.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous:
			o.members(f)
		case options == "" || !f.IsZero():
			o.member(name, f)
		}
	}
}

func (o *Object) member(name string, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		o.Str(name, v.String())
		return
	case reflect.Int, reflect.Int64:
		o.Num(name, v.Int())
		return
	case reflect.Bool:
		o.Flag(name, v.Bool())
		return
	}
	switch m := v.Interface().(type) {
	case *string:
		o.Str(name, *m)
	case []string:
		o.Strs(name, m)
	case *Object:
		o.Object(name, m)
	case json.RawMessage:
		o.Raw(name, m)
	default:
		o.Raw(name, Encode(m))
	}
}
