package neovim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// placeholder marks the place of the given value in an answer's template.
const placeholder = "$"

// templates lists the templates of an answer by the kind of value they serve.
func (a *Answer) templates() map[string]json.RawMessage {
	list := map[string]json.RawMessage{}
	for kind, t := range map[string]json.RawMessage{"done": a.Done, "empty": a.Empty, "string": a.String, "integer": a.Integer, "table": a.Table, "any": a.Any} {
		if t != nil {
			list[kind] = t
		}
	}
	return list
}

// checkAnswer reports templates that do not make the response of the schema.
func checkAnswer(s *ir.Spec, response string, a *Answer) []error {
	var errs []error
	list := a.templates()
	if a.Takes == "" {
		errs = append(errs, fmt.Errorf("answer: \"takes\" must say what is answered with"))
	}
	if len(list) == 0 {
		errs = append(errs, fmt.Errorf("answer: no template, so nothing could be answered"))
	}
	if a.Empty != nil && a.Done != nil {
		errs = append(errs, fmt.Errorf("answer: \"empty\" and \"done\" both cover nil, remove one"))
	}
	for _, kind := range slices.Sorted(maps.Keys(list)) {
		var v any
		if err := json.Unmarshal(list[kind], &v); err != nil {
			errs = append(errs, fmt.Errorf("answer: %s: %w", kind, err))
			continue
		}
		if err := checkTemplate(s, response, v, kind == "table"); err != nil {
			errs = append(errs, fmt.Errorf("answer: %s: %w", kind, err))
		}
	}
	return errs
}

// checkTemplate compares one template with a definition. A partial template
// is filled by the user, so it may lack required members.
func checkTemplate(s *ir.Spec, def string, v any, partial bool) error {
	o, ok := v.(map[string]any)
	if !ok || s.ByName[def] == nil {
		return nil
	}
	for _, k := range slices.Sorted(maps.Keys(o)) {
		if u := unionOf(s, def); u != nil && u.Tag == k {
			continue
		}
		f := member(s, def, k)
		if f == nil {
			return fmt.Errorf("%s has no member %q", def, k)
		}
		if err := checkTemplate(s, f.Type.Ref, o[k], partial); err != nil {
			return err
		}
	}
	if partial {
		return nil
	}
	required := s.ByName[def].Fields
	if u := unionOf(s, def); u != nil && u.Tag != "" {
		tag, ok := o[u.Tag].(string)
		if !ok {
			return fmt.Errorf("%s needs %q to say which variant it is", def, u.Tag)
		}
		if tag != placeholder {
			i := slices.IndexFunc(u.Variants, func(v *ir.Variant) bool { return v.Wire == tag })
			if i < 0 {
				return fmt.Errorf("%s has no variant %q", def, tag)
			}
			required = append(append(slices.Clone(required), u.Variants[i].Fields...), members(s, u.Variants[i].Ref)...)
		}
	}
	for _, f := range required {
		if _, ok := o[f.Wire]; !ok && f.Presence == ir.Required {
			return fmt.Errorf("%s needs the member %q", def, f.Wire)
		}
	}
	return nil
}
