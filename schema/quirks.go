package schema

// Quirks is overlay/quirks.json: decisions that the schemas leave open.
type Quirks struct {
	Hand    map[string]string `json:"hand"`    // definition -> hand-written Go type of package acp
	Calls   map[string]string `json:"calls"`   // method -> Go name of its handler and caller
	Names   map[string]string `json:"names"`   // definition or definition/variant -> Go name
	Strict  []string          `json:"strict"`  // members that are never repaired: a bad one fails the message
	Secrets []string          `json:"secrets"` // members that are never printed
}
