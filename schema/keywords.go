package schema

// Policy says what the generator does with a keyword.
type Policy uint8

// The policies.
const (
	Shape      Policy = iota + 1 // decides the Go type
	Constraint                   // becomes a check
	Codec                        // changes how a value is decoded
	Method                       // feeds the method table
	Annotation                   // documentation, or nothing
)

// Keywords lists every keyword the generator understands. One that is missing
// here stops the load: decide what it means for the Go types and the codecs,
// teach gen/ir, then add it.
var Keywords = map[string]Policy{
	"$ref":                  Shape,
	"$defs":                 Shape,
	"type":                  Shape,
	"format":                Shape,
	"properties":            Shape,
	"required":              Shape,
	"items":                 Shape,
	"additionalProperties":  Shape,
	"unevaluatedProperties": Shape,
	"allOf":                 Shape,
	"anyOf":                 Shape,
	"oneOf":                 Shape,
	"not":                   Shape,
	"const":                 Shape,
	"enum":                  Shape,
	"discriminator":         Shape,

	"minimum":         Constraint,
	"maximum":         Constraint,
	"minLength":       Constraint,
	"minItems":        Constraint,
	"pattern":         Constraint,
	"contentEncoding": Constraint,

	"default":                          Codec,
	"x-deserialize-default-on-error":   Codec,
	"x-deserialize-default-on-null":    Codec,
	"x-deserialize-skip-invalid-items": Codec,

	"x-side":   Method,
	"x-method": Method,

	"$schema":       Annotation,
	"title":         Annotation,
	"description":   Annotation,
	"x-docs-ignore": Annotation,
}

// Formats lists every format the generator understands, with the JSON type it
// belongs to. One that is missing here stops the load, because the Go type, the
// decoder and Check all depend on it: an unknown integer width would silently
// become int64, an unknown text format would never be checked.
var Formats = map[string]string{
	"int32":  "integer",
	"int64":  "integer",
	"uint16": "integer",
	"uint32": "integer",
	"uint64": "integer",

	"double": "number",

	"date-time": "string",
	"regex":     "string",
	"uri":       "string",
}

// position is where the schemas of a keyword's value are.
type position uint8

const (
	inValue    position = iota + 1 // the value is a schema
	inMembers                      // each member of the value is a schema
	inElements                     // each element of the value is a schema
)

var subschemas = map[string]position{
	"items":                 inValue,
	"not":                   inValue,
	"additionalProperties":  inValue,
	"unevaluatedProperties": inValue,
	"properties":            inMembers,
	"$defs":                 inMembers,
	"allOf":                 inElements,
	"anyOf":                 inElements,
	"oneOf":                 inElements,
}

// EachSubschema calls f with every schema that stands directly in n, and with
// the keyword it belongs to.
func (n *Node) EachSubschema(f func(keyword string, sub *Node)) {
	for _, k := range n.Keys {
		c := n.Obj[k]
		switch subschemas[k] {
		case inValue:
			f(k, c)
		case inMembers:
			for _, m := range c.Keys {
				f(k, c.Obj[m])
			}
		case inElements:
			for _, e := range c.Arr {
				f(k, e)
			}
		}
	}
}
