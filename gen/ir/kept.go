package ir

// keep marks closed enums that nevertheless keep values the schema does not
// define: those that only occur where a bad value is repaired. Repairing would
// silently drop the value, or the list element that it is in, and a program that
// passes messages on would lose what a newer peer has sent. In every other place
// a closed enum refuses the message, so that nothing is lost silently.
func (s *Spec) keep() {
	met, refuses := s.reach(false), s.reach(true)
	for _, t := range s.Types {
		t.Kept = t.Kind == EnumStr && !t.Open && met[t.Name] && !refuses[t.Name]
	}
}

// reach lists the definitions that messages hold or, if failing is set, only
// those where a bad value fails the message.
func (s *Spec) reach(failing bool) map[string]bool {
	reached := map[string]bool{}
	var visit func(name string)
	fields := func(list []*Field) {
		for _, f := range list {
			for r, repaired := &f.Type, f.OnError; r != nil && !(failing && repaired); r = r.Elem {
				visit(r.Ref)
				repaired = f.SkipInvalid
			}
		}
	}
	var union func(u *Union)
	union = func(u *Union) {
		if u == nil {
			return
		}
		for _, v := range append([]*Variant{u.Other, u.Default, u.Absent}, u.Variants...) {
			if v == nil {
				continue
			}
			visit(v.Ref)
			fields(v.Fields)
			union(v.Nested)
			for r := v.Type; r != nil; r = r.Elem {
				visit(r.Ref)
			}
		}
	}
	visit = func(name string) {
		t := s.Resolve(name)
		if t == nil || reached[t.Name] {
			return
		}
		reached[t.Name] = true
		fields(t.Fields)
		union(t.Union)
	}
	for _, t := range s.Types {
		if t.Method != "" {
			visit(t.Name)
		}
	}
	return reached
}
