// Package ir is what the emitters see of a schema: every definition classified
// by shape, with its members, variants, decoding rules and words, and the table
// of methods. Lower makes it from a loaded schema, completely or not at all.
//
// The package is the contract between the schema and everything generated from
// it (Go, Lua, help); emitters read nothing else, words included.
package ir

import "github.com/hermes-nvim/hermes/schema"

// Spec is one schema.
type Spec struct {
	Types   []*Type          // in the order of the file
	ByName  map[string]*Type `json:"-"`
	Methods []*Method        // by handler, then name
}

// Kind is the shape of a definition.
type Kind string

// The shapes.
const (
	Object   Kind = "object"              // members only
	String   Kind = "string newtype"      // a named string
	Integer  Kind = "integer newtype"     // a named integer
	EnumStr  Kind = "string enum"         // closed or open
	EnumInt  Kind = "integer enum"        // closed or open
	Tagged   Kind = "tagged union"        // a member with a constant selects the variant
	ByKeys   Kind = "key-selected union"  // required members select the variant
	ByType   Kind = "type-selected union" // the JSON type, or the first element, selects it
	Any      Kind = "any"                 // every JSON value
	Alias    Kind = "alias"               // the same payload as another definition
	Envelope Kind = "envelope"            // JSON-RPC frame; it gets no type
)

// Type is one definition.
type Type struct {
	Name         string
	Kind         Kind
	Doc          string   `json:"-"` // our words
	Format       string   `json:",omitempty"`
	Open         bool     `json:",omitempty"` // an enum or union that allows unknown values
	Kept         bool     `json:",omitempty"` // a closed enum that keeps unknown values; see keep
	Values       []Value  `json:",omitempty"`
	Fields       []*Field `json:",omitempty"` // of an object; shared by all variants of a union
	Union        *Union   `json:",omitempty"`
	Side, Method string   `json:",omitempty"`
	Target       string   `json:",omitempty"` // of an alias
	Default      string   `json:",omitempty"` // of an enum: replaces an absent or unusable value
	Hand         string   `json:",omitempty"` // name of the hand-written Go type that stands for it
	Page         string   `json:"-"`          // of the specification, below agentclientprotocol.com; may be empty
	node         *schema.Node
}

// Value is one value of an enum.
type Value struct {
	Wire  string
	Title string `json:",omitempty"`
	Doc   string `json:"-"`
}

// Union is a set of alternatives. The Fields of the type are the members that
// all of them share.
type Union struct {
	Keyword    string     // oneOf or anyOf
	Tag        string     `json:",omitempty"` // member that selects the variant
	TagOnError bool       `json:",omitempty"` // a tag of a wrong type counts as absent
	Declared   bool       `json:",omitempty"` // has a discriminator
	Variants   []*Variant `json:",omitempty"`
	Other      *Variant   `json:",omitempty"` // open branch, nil when closed
	Default    *Variant   `json:",omitempty"` // branch without the tag
	Absent     *Variant   `json:",omitempty"` // branch for a tag that is null or absent
}

// Variant is one alternative.
type Variant struct {
	Wire   string   `json:",omitempty"` // value of the tag
	Title  string   `json:",omitempty"`
	Doc    string   `json:"-"`
	Ref    string   `json:",omitempty"` // definition whose members are merged in
	Fields []*Field `json:",omitempty"` // inline members
	Nested *Union   `json:",omitempty"` // union inside the variant
	Keys   []string `json:",omitempty"` // members required inline, of a key-selected union
	Type   *TypeRef `json:",omitempty"` // payload in a type-selected union
	node   *schema.Node

	MinItems string `json:",omitempty"` // of a payload that is a list
}

// TypeRef is the type of a member, element or payload.
type TypeRef struct {
	Ref    string   `json:",omitempty"` // a definition
	Prim   string   `json:",omitempty"` // string integer number boolean null any, or meta: any object
	Format string   `json:",omitempty"`
	Elem   *TypeRef `json:",omitempty"` // of a list or map
	Map    bool     `json:",omitempty"`
}

// Presence says what absence and null mean for a member.
type Presence string

// The presences.
const (
	Required Presence = "required"
	Optional Presence = "optional"                    // may be absent, never null
	Nullable Presence = "optional nullable"           // null means absent
	Patch    Presence = "patch (absent, null, value)" // null clears, absent keeps
)

// Field is one member of an object.
type Field struct {
	Wire        string
	Doc         string `json:"-"`
	Type        TypeRef
	Presence    Presence
	HasDefault  bool   `json:",omitempty"`
	Default     string `json:",omitempty"` // JSON text
	OnError     bool   `json:",omitempty"` // a bad value becomes the default
	OnNull      bool   `json:",omitempty"` // null becomes the empty value
	SkipInvalid bool   `json:",omitempty"` // bad elements are dropped
	Strict      bool   `json:",omitempty"` // the two above are switched off to protect the user
	Secret      bool   `json:",omitempty"` // never printed
	Min         string `json:",omitempty"`
	Max         string `json:",omitempty"`
	MinLen      string `json:",omitempty"`
	MinItems    string `json:",omitempty"`
	Encoding    string `json:",omitempty"` // base64
	Const       string `json:",omitempty"`
}

// Method is one row of the method table. A method can be a request and a
// notification at the same time.
type Method struct {
	Wire         string
	Handler      string // side that handles it: agent, client, proxy or protocol (both)
	Request      string `json:",omitempty"` // definition of the params
	Response     string `json:",omitempty"` // definition of the result
	Notification string `json:",omitempty"` // definition of the params
	Session      bool   `json:",omitempty"` // the params carry a sessionId
	Doc          string `json:"-"`
	Page         string `json:"-"` // of the specification, below agentclientprotocol.com
}

// Kind is "request", "notification" or "request+notification".
func (m *Method) Kind() string {
	switch {
	case m.Request != "" && m.Notification != "":
		return "request+notification"
	case m.Request != "":
		return "request"
	}
	return "notification"
}

// Resolve follows aliases.
func (s *Spec) Resolve(name string) *Type {
	t := s.ByName[name]
	for t != nil && t.Kind == Alias {
		t = s.ByName[t.Target]
	}
	return t
}
