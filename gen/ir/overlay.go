package ir

// Overlay is what the project knows about a schema beyond its text.
type Overlay struct {
	Patches  map[string]bool   // "Definition.member": members with three states
	Strict   Marks             // members that are never repaired
	Secrets  Marks             // members that are never printed
	Hand     map[string]string // definition -> hand-written Go type
	UseHand  func(def string)  // called when an entry of Hand applies
	Defaults map[string]string // enum -> value that replaces an absent or unusable one
	Pages    map[string]string // definition -> page of the specification
	Words    Words             // nil: no words
}

// Marks is a set of "Definition.member" that remembers which were met.
type Marks interface {
	Has(member string) bool
}

// Words explains a schema to readers. Each method gives an empty text when
// there are no words.
type Words interface {
	Definition(name string) string
	Member(def, member string) string
	Value(def, value string) string
	Variant(def, tag string) string
	Method(method string) (text, page string)
}

type noWords struct{}

func (noWords) Definition(string) string       { return "" }
func (noWords) Member(string, string) string   { return "" }
func (noWords) Value(string, string) string    { return "" }
func (noWords) Variant(string, string) string  { return "" }
func (noWords) Method(string) (string, string) { return "", "" }

type noMarks struct{}

func (noMarks) Has(string) bool { return false }
